"""TorchScript: its input unchanged, after as many multiplications of small matrices as the largest value says: a run of any length."""

import pathlib

import torch


class Spinning(torch.nn.Module):
    def forward(self, rounds):
        y = torch.eye(8)
        for _ in range(int(rounds.max().item())):
            y = torch.mm(y, y)
        return rounds * y[0, 0]


def export(directory: pathlib.Path) -> None:
    torch.jit.script(Spinning()).save(str(directory / "model.pt"))
