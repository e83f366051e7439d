"""AOTInductor: results that operators of torch make, so that the package does not state everything about them."""

import pathlib

import torch


class Ranked(torch.nn.Module):
    """Largest two of each row with their places, and the rows sorted; any number of rows."""

    def forward(self, x, y):
        values, places = torch.topk(x, 2)
        return values, places, torch.sort(y, dim=1)[0]


def export(directory: pathlib.Path) -> None:
    rows = torch.export.Dim("rows", min=1)
    width = torch.export.Dim("width", min=2, max=64)
    shapes = ({0: rows}, {0: rows, 1: width})
    args = (torch.randn(2, 5), torch.randn(2, 3, dtype=torch.float64))
    program = torch.export.export(Ranked().eval(), args, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(program, package_path=str(directory / "model.pt2"))
