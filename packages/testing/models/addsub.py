"""TorchScript: the sum and the difference of two FP32 tensors, row by row."""

import pathlib

import torch


class AddSub(torch.nn.Module):
    def forward(self, a, b):
        return a + b, a - b


def export(directory: pathlib.Path) -> None:
    torch.jit.script(AddSub()).save(str(directory / "model.pt"))
