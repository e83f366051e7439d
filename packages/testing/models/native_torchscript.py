"""TorchScript modules for the addon's tests, one small rule each."""

import pathlib
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch


class Identity(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Sum(torch.nn.Module):
    """Rank-0 result."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum()


class Transposed(torch.nn.Module):
    """A view that is not contiguous."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(0, 1)


class Narrowed(torch.nn.Module):
    """No rows at all."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:0]


class Imaginary(torch.nn.Module):
    """Lazily negated: the bit is set, the bytes are not yet."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.complex(x, x).conj().imag


class Complex(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.complex(x, x)


class Sparse(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to_sparse()


class Weight(torch.nn.Module):
    """Returns its own weight, which must not be handed out."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(64, 64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight


class Twice(torch.nn.Module):
    """One tensor in two places."""

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        y = x + 1
        return y, y


class Corner(torch.nn.Module):
    """A small part of something large."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.repeat(100, 1)[: x.shape[0]]


class InPlace(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1)


class Strings(torch.nn.Module):
    def forward(self, x: List[str]) -> List[str]:
        return [text + "!" for text in x]


class Lengths(torch.nn.Module):
    def forward(self, x: List[str]) -> torch.Tensor:
        return torch.tensor([len(text) for text in x])


class Keyed(torch.nn.Module):
    def forward(self, inputs: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
        return {"sum": inputs["a"] + inputs["b"], "difference": inputs["a"] - inputs["b"]}


class Mixed(torch.nn.Module):
    def forward(self, x: torch.Tensor, names: List[str]) -> Tuple[torch.Tensor, List[str]]:
        return x + 1, names


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


class Named(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Pair:
        return Pair(x + 1, x + 2)


class Tensors(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> List[torch.Tensor]:
        return [x + 1, x + 2, x + 3]


class Number(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> int:
        return x.shape[0]


class Nothing(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Optional[torch.Tensor]:
        return None


class Nested(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, List[int]]:
        return x, [1, 2]


class Defaults(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: Optional[torch.Tensor] = None, scale: int = 2) -> torch.Tensor:
        if y is not None:
            return x + y
        return x * scale


class Positive(torch.nn.Module):
    """Raises when it meets a negative number."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool((x < 0).any()):
            raise ValueError("negative input")
        return x


class Slow(torch.nn.Module):
    """Keeps its thread busy for about as many milliseconds as its input says."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.ones(64, 64)
        for _ in range(int(x.sum().item()) * 40):
            y = torch.mm(y, y) * 0.0 + 1.0
        return x + y[0, 0] * 0.0


class Dropout(torch.nn.Module):
    """Differs between training and evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(x)


class Mode(torch.nn.Module):
    """Whether inference mode is on."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([int((x + 1).is_inference())])


class NoForward(torch.nn.Module):
    @torch.jit.export
    def other(self, x: torch.Tensor) -> torch.Tensor:
        return x


MODULES = {
    "identity": Identity,
    "double": Double,
    "sum": Sum,
    "transposed": Transposed,
    "narrowed": Narrowed,
    "imaginary": Imaginary,
    "complex": Complex,
    "sparse": Sparse,
    "weight": Weight,
    "twice": Twice,
    "corner": Corner,
    "in_place": InPlace,
    "strings": Strings,
    "lengths": Lengths,
    "keyed": Keyed,
    "mixed": Mixed,
    "named": Named,
    "tensors": Tensors,
    "number": Number,
    "nothing": Nothing,
    "nested": Nested,
    "defaults": Defaults,
    "positive": Positive,
    "slow": Slow,
    "mode": Mode,
    "no_forward": NoForward,
}


def export(directory: pathlib.Path) -> None:
    for name, module in MODULES.items():
        torch.jit.script(module().eval()).save(directory / f"{name}.pt")
    torch.jit.script(Dropout()).save(directory / "training.pt")
    torch.jit.freeze(torch.jit.script(Dropout().eval())).save(directory / "frozen.pt")
