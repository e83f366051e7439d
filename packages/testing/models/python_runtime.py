"""Version directories of PyTorch 2 models written in Python: with weights, with weights that do not fit, and TorchScript files to take their place."""

import pathlib

import torch

NEURALNET = """import torch


class NeuralNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3))

    def forward(self, x):
        return self.layers(x)
"""


class Sum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Parameter(torch.ones(1))

    def forward(self, a, b):
        return a + self.one * b, a - self.one * b


def weights() -> dict[str, torch.Tensor]:
    """The same on every machine, so that tests can state results."""
    shapes = {"layers.0.weight": (8, 4), "layers.0.bias": (8,), "layers.3.weight": (3, 8), "layers.3.bias": (3,)}
    return {
        name: (torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape) % 5 - 2) / 4
        for name, shape in shapes.items()
    }


def export(directory: pathlib.Path) -> None:
    for name, state in {
        "neuralnet": weights(),
        "misfit": {**weights(), "layers.3.bias": torch.zeros(4)},
        "pickled": torch.nn.Linear(1, 1),
    }.items():
        version = directory / name / "1"
        version.mkdir(parents=True)
        (version / "model.py").write_text(NEURALNET)
        torch.save(state, version / "model.pt")
    version = directory / "torchscript" / "1"
    version.mkdir(parents=True)
    torch.jit.script(Sum()).save(version / "model.pt")
