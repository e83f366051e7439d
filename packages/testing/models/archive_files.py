"""The files that end up where a model is expected: TorchScript in several forms, and everything that torch.save writes."""

import pathlib
import pickle
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch


class Pair(NamedTuple):
    total: torch.Tensor
    names: List[str]


class Scripted(torch.nn.Module):
    """Arguments of every kind, with defaults that are hard to read."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(
        self,
        x: torch.Tensor,
        named: Dict[str, torch.Tensor],
        words: List[str],
        mask: Optional[torch.Tensor] = None,
        scale: float = 1.5,
        label: str = "a, b) -> 'c': [",
        size: Tuple[int, int] = (1, 2),
    ) -> Pair:
        y = self.linear(x) * scale
        if mask is not None:
            y = y + mask
        return Pair(y + named["a"] + size[0], words + [label])

    @torch.jit.export
    def describe(self) -> str:
        return "scripted"


class Two(torch.nn.Module):
    def forward(self, a, b):
        return a + b, a - b


def export(directory: pathlib.Path) -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(4, 2)
    torch.jit.script(Scripted().eval()).save(str(directory / "scripted.pt"))
    torch.jit.trace(Two(), (torch.ones(2), torch.ones(2))).save(str(directory / "traced.pt"))
    torch.jit.freeze(torch.jit.script(linear.eval())).save(str(directory / "frozen.pt"))
    torch.save(linear.state_dict(), directory / "state_dict.pt")
    torch.save({"epoch": 3, "model": linear.state_dict()}, directory / "checkpoint.pt")
    torch.save(linear, directory / "module.pt")
    torch.save(torch.ones(3), directory / "tensor.pt")
    torch.save({"epoch": 3}, directory / "numbers.pt")
    torch.save(linear.state_dict(), directory / "legacy_state_dict.pt", _use_new_zipfile_serialization=False)
    torch.save(linear, directory / "legacy_module.pt", _use_new_zipfile_serialization=False)
    for protocol in range(2, 6):
        (directory / f"protocol_{protocol}.pkl").write_bytes(pickle.dumps({"linear": (1, [2.0, None], {"k": b"v"})}, protocol))
    (directory / "object.pkl").write_bytes(pickle.dumps(pathlib.PurePosixPath("a/b"), 4))
