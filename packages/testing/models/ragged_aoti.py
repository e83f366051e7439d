"""A compiled package over a ragged input: doubles it, and tells the counts that came with it."""

import pathlib

import torch


class Ragged(torch.nn.Module):
    def forward(self, ragged, counts):
        return ragged * 2, counts.unsqueeze(1) + 0


def export(directory: pathlib.Path) -> None:
    elements = torch.export.Dim("elements", min=1, max=64)
    requests = torch.export.Dim("requests", min=1, max=8)
    args = (torch.randn(10), torch.tensor([2, 4, 1, 3], dtype=torch.int32))
    program = torch.export.export(Ragged().eval(), args, dynamic_shapes=({0: elements}, {0: requests}))
    torch._inductor.aoti_compile_and_package(program, package_path=str(directory / "ragged.pt2"))
