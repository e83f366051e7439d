"""TorchScript modules behind single rows of the compatibility table of the PyTorch backend."""

import pathlib
from typing import List, Tuple

import torch


class Narrow(torch.nn.Module):
    """Difference and sum, as INT8 whatever the inputs are."""

    def forward(self, INPUT0: torch.Tensor, INPUT1: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        return (INPUT0 - INPUT1).to(torch.int8), (INPUT0 + INPUT1).to(torch.int8)


class Linalg(torch.nn.Module):
    """Kernels that torch leaves to a linear algebra library."""

    def forward(self, matrix: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        return torch.linalg.inv(matrix), torch.linalg.svdvals(matrix)


class FirstWord(torch.nn.Module):
    """Fewer strings than it was given."""

    def forward(self, words: List[str]) -> List[str]:
        return words[:1]


class Placed(torch.nn.Module):
    """Two halves, each with a device of its own, to which the module moves its inputs itself."""

    def __init__(self, sum_device: str, difference_device: str) -> None:
        super().__init__()
        self.one = torch.nn.Parameter(torch.ones(1, device=sum_device), requires_grad=False)
        self.other = torch.nn.Parameter(torch.ones(1, device=difference_device), requires_grad=False)

    def forward(self, INPUT0: torch.Tensor, INPUT1: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        print("INPUT0 came on", INPUT0.device, "and INPUT1 on", INPUT1.device)
        total = INPUT0.to(self.one.device) + INPUT1.to(self.one.device) * self.one
        difference = INPUT0.to(self.other.device) - INPUT1.to(self.other.device) * self.other
        return difference, total


def export(directory: pathlib.Path) -> None:
    modules = {"narrow": Narrow(), "linalg": Linalg(), "first_word": FirstWord(), "placed": Placed("cpu", "cpu")}
    for name, module in modules.items():
        torch.jit.script(module.eval()).save(directory / f"{name}.pt")
