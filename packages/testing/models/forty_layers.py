"""TorchScript: 64 to 10 values through forty small layers, a model whose cost is that of its calls and hardly grows with the batch."""

import pathlib

import torch


def export(directory: pathlib.Path) -> None:
    torch.manual_seed(0)
    layers = [module for _ in range(40) for module in (torch.nn.Linear(64, 64), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10)).eval()
    torch.jit.script(model).save(str(directory / "model.pt"))
