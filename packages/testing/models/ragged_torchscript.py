"""TorchScript modules whose inputs or outputs are not split by rows."""

import pathlib
from typing import List, Tuple

import torch


class BatchInput(torch.nn.Module):
    """Each vector once per request, so that every client sees all of it. The number of requests is the size of a batch input of element counts."""

    def forward(
        self, BATCH_INPUT: torch.Tensor, BATCH_AND_SIZE_INPUT: torch.Tensor, RAGGED_INPUT: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        requests = BATCH_AND_SIZE_INPUT.shape[0]
        return (
            BATCH_INPUT.flatten().unsqueeze(0).repeat(requests, 1),
            BATCH_AND_SIZE_INPUT.unsqueeze(0).repeat(requests, 1),
            RAGGED_INPUT.unsqueeze(0).repeat(requests, 1),
        )


class ItemShape(torch.nn.Module):
    def forward(self, RAGGED_INPUT: torch.Tensor, BATCH_INPUT: torch.Tensor) -> torch.Tensor:
        return BATCH_INPUT


class Identity(torch.nn.Module):
    def forward(self, INPUT: torch.Tensor) -> torch.Tensor:
        return INPUT


class Shorter(torch.nn.Module):
    """All but the last element."""

    def forward(self, INPUT: torch.Tensor) -> torch.Tensor:
        return INPUT[:-1]


class Longer(torch.nn.Module):
    """One element more."""

    def forward(self, INPUT: torch.Tensor) -> torch.Tensor:
        return torch.cat([INPUT, INPUT[:1]])


class Words(torch.nn.Module):
    """How many strings came in all."""

    def forward(self, WORDS: List[str], COUNTS: torch.Tensor) -> torch.Tensor:
        return COUNTS * 0 + len(WORDS)


MODULES = {
    "batch_input": BatchInput,
    "item_shape": ItemShape,
    "identity": Identity,
    "shorter": Shorter,
    "longer": Longer,
    "words": Words,
}


def export(directory: pathlib.Path) -> None:
    for name, module in MODULES.items():
        torch.jit.script(module().eval()).save(directory / f"{name}.pt")
