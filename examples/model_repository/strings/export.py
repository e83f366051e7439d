"""Strings in and out as TorchScript: each string comes back in upper case, with its length."""

import pathlib
from typing import List, Tuple

import torch


class Shout(torch.nn.Module):
    def forward(self, words: List[str]) -> Tuple[List[str], torch.Tensor]:
        lengths = torch.tensor([len(word) for word in words])
        return [word.upper() for word in words], lengths.unsqueeze(1)


def export(directory: pathlib.Path) -> None:
    torch.jit.script(Shout().eval()).save(str(directory / "model.pt"))
