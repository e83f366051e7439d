"""TorchScript modules that a configuration can fit well or badly."""

import pathlib
from typing import Dict, List, Optional, Tuple

import torch


class AddSub(torch.nn.Module):
    """Difference first, as the names of the arguments do not give away."""

    def forward(self, INPUT0: torch.Tensor, INPUT1: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        return INPUT0 - INPUT1, INPUT0 + INPUT1


class FirstRow(torch.nn.Module):
    """Fewer rows than it was given."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:1]


class MoreRows(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x])


class Shape(torch.nn.Module):
    """The shape that arrived, in every row, and the input."""

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        shape = torch.tensor(x.shape[1:], dtype=torch.int64)
        return shape.unsqueeze(0).repeat(x.shape[0], 1), x


class Shouted(torch.nn.Module):
    def forward(self, words: List[str]) -> List[str]:
        return [word + "!" for word in words]


class Lengths(torch.nn.Module):
    """Strings in, numbers and strings out."""

    def forward(self, words: List[str], factor: torch.Tensor) -> Tuple[torch.Tensor, List[str]]:
        lengths = torch.tensor([len(word) for word in words], dtype=torch.float32)
        return lengths.unsqueeze(1) * factor, words


class TensorAndNumber(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n


class TensorAndDict(torch.nn.Module):
    def forward(self, x: torch.Tensor, options: Dict[str, torch.Tensor]) -> torch.Tensor:
        return x + options["a"]


class Words(torch.nn.Module):
    def forward(self, words: Dict[str, List[str]]) -> Dict[str, torch.Tensor]:
        return {"count": torch.tensor([len(words["a"]), len(words["b"])])}


class Heavy(torch.nn.Module):
    """16 MiB of weights."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2048, 2048), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight[0, 0]


class Products(torch.nn.Module):
    """Four products of 64 × 1024 by 1024 × 1024: enough work for several threads."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.weight = torch.nn.Parameter(torch.randn(1024, 1024) / 32, requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(4):
            x = torch.relu(x @ self.weight)
        return x[:1]


class PlusOne(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.nereid_test.plus_one(x)


class Masked(torch.nn.Module):
    """Arguments that may be left out: in the middle without a default, at the end with one."""

    def forward(
        self, x: torch.Tensor, mask: Optional[torch.Tensor], y: torch.Tensor, bias: Optional[torch.Tensor] = None
    ) -> torch.Tensor:
        total = x + y
        if mask is not None:
            total = total * mask
        if bias is not None:
            total = total + bias
        return total


class DictBias(torch.nn.Module):
    """A dictionary of which one key may be missing."""

    def forward(self, values: Dict[str, torch.Tensor]) -> torch.Tensor:
        total = values["x"]
        if "bias" in values:
            total = total + values["bias"]
        return total


MODULES = {
    "masked": Masked,
    "dict_bias": DictBias,
    "addsub": AddSub,
    "first_row": FirstRow,
    "more_rows": MoreRows,
    "shape": Shape,
    "shouted": Shouted,
    "lengths": Lengths,
    "tensor_and_number": TensorAndNumber,
    "tensor_and_dict": TensorAndDict,
    "words": Words,
    "heavy": Heavy,
    "products": Products,
}


def export(directory: pathlib.Path) -> None:
    for name, module in MODULES.items():
        torch.jit.script(module().eval()).save(directory / f"{name}.pt")
    library = torch.library.Library("nereid_test", "DEF")
    library.define("plus_one(Tensor x) -> Tensor")
    torch.jit.script(PlusOne()).save(directory / "unknown_operator.pt")
