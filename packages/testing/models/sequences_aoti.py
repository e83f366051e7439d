"""A compiled package that keeps a state between the requests of a sequence, and one whose state grows."""

import pathlib

import torch


class Accumulate(torch.nn.Module):
    def forward(self, x, state, start, ready, corrid):
        new = x + state * (1 - start)
        return (new + corrid) * ready, new


class Grow(torch.nn.Module):
    """Every value so far, at most 8 before."""

    def forward(self, x, seen):
        return seen.sum(dim=1, keepdim=True) + x, torch.cat([seen, x], dim=1)


def package(model, args, path, shapes):
    program = torch.export.export(model.eval(), args, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(program, package_path=str(path))


def export(directory: pathlib.Path) -> None:
    batch = {0: torch.export.Dim("rows", min=1, max=8)}
    # One tensor given twice would be exported as one argument.
    columns = tuple(torch.ones(2, 1) for _ in range(4))
    corrid = torch.ones(2, 1, dtype=torch.int32)
    package(Accumulate(), (*columns, corrid), directory / "sum.pt2", (batch,) * 5)
    seen = {0: batch[0], 1: torch.export.Dim("seen", min=1, max=8)}
    package(Grow(), (torch.ones(2, 1), torch.ones(2, 3)), directory / "grow.pt2", (batch, seen))
