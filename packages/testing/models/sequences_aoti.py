"""Compiled packages that keep a state between the requests of a sequence, one of them one that grows; and one that tells correlation IDs."""

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


class Identify(torch.nn.Module):
    """Numbers as they came, each of the datatypes that a correlation ID may have."""

    def forward(self, int32, uint32, int64, uint64):
        return int32.clone(), uint32.clone(), int64.clone(), uint64.clone()


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
    ids = tuple(torch.ones(2, 1, dtype=dtype) for dtype in (torch.int32, torch.uint32, torch.int64, torch.uint64))
    package(Identify(), ids, directory / "ids.pt2", (batch,) * 4)
