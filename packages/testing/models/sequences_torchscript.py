"""TorchScript modules that keep a state between the requests of a sequence."""

import pathlib
from typing import Dict, List, Tuple

import torch


class RunningSum(torch.nn.Module):
    """The sum so far, set back by START; rows that are not READY leave nothing."""

    def forward(
        self, x: torch.Tensor, state: torch.Tensor, start: torch.Tensor, ready: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor]:
        total = x + state * (1 - start)
        return total * ready, total * ready


class Plain(torch.nn.Module):
    """The sum so far; fails when told to, on any of its rows."""

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        if bool((x == -1).any()):
            raise ValueError("told to fail")
        return x + state, x + state


class Controls(torch.nn.Module):
    """What arrived as controls, side by side."""

    def forward(
        self, x: torch.Tensor, start: torch.Tensor, end: torch.Tensor, ready: torch.Tensor, corrid: torch.Tensor
    ) -> torch.Tensor:
        return torch.cat([x, start.float(), end.float(), ready.float(), corrid.float()], dim=1)


class Named(torch.nn.Module):
    """Strings as correlation IDs."""

    def forward(self, x: torch.Tensor, corrid: List[str]) -> Tuple[torch.Tensor, List[str]]:
        return x, corrid


class TwoStates(torch.nn.Module):
    """Two states whose names sort the other way round; the last value and the number of values."""

    def forward(
        self, x: torch.Tensor, last: torch.Tensor, count: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        return last, count, x, count + 1


class Grow(torch.nn.Module):
    """Every value so far."""

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        seen = torch.cat([seen, x], dim=1)
        return seen.sum(dim=1, keepdim=True), seen


class Remember(torch.nn.Module):
    """The strings of the request before."""

    def forward(self, words: List[str], before: List[str]) -> Tuple[List[str], List[str]]:
        return before, words


class Before(torch.nn.Module):
    """The value of the request before, of whatever datatype."""

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        return before, x


class InPlace(torch.nn.Module):
    """Adds to its state in place and then may fail."""

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        state.add_(x)
        if bool((x == -1).any()):
            raise ValueError("told to fail")
        return state.clone(), state


class WrongState(torch.nn.Module):
    """A state of another datatype, and one of fewer rows."""

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x, state.to(torch.int32), state[:0]


class ByKey(torch.nn.Module):
    """Arguments and results in dictionaries."""

    def forward(self, values: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
        total = values["x"] + values["sum"] * (1 - values["start"])
        return {"y": total, "next": total}


class Held(torch.nn.Module):
    """A large state that is handed on as it is."""

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x + state[:, :1], state + x, state + x


MODULES = {
    "sum": RunningSum,
    "plain": Plain,
    "controls": Controls,
    "named": Named,
    "two_states": TwoStates,
    "grow": Grow,
    "remember": Remember,
    "before": Before,
    "in_place": InPlace,
    "wrong_state": WrongState,
    "by_key": ByKey,
    "held": Held,
}


def export(directory: pathlib.Path) -> None:
    for name, module in MODULES.items():
        torch.jit.script(module().eval()).save(directory / f"{name}.pt")
