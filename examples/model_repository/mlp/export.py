"""A small classifier head as an AOTInductor package that batches: FP32 [N, 64] -> FP32 [N, 10], N from 1 to 64."""
import pathlib

import torch


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))

    def forward(self, features):
        return torch.softmax(self.layers(features), dim=-1)


def export(directory: pathlib.Path) -> None:
    torch.manual_seed(0)
    model = Mlp().eval()
    # A sample batch of 2 or more keeps the first dimension dynamic: 0 and 1 are specialised away.
    program = torch.export.export(model, (torch.randn(2, 64),), dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},))
    torch._inductor.aoti_compile_and_package(program, package_path=str(directory / "model.pt2"))
