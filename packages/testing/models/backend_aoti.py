"""AOTInductor packages that a configuration can fit well or badly."""

import pathlib

import torch


class Add(torch.nn.Module):
    """Rows of any width up to 64, 1 to 8 of them."""

    def forward(self, a, b):
        return a + b, a - b


class Complex(torch.nn.Module):
    """Nested arguments and results, batched."""

    def forward(self, a, b, options):
        return {"AAA": a + b, "ZZZ": a - b, "BBB": (a, b), "CCC": options}


class Mean(torch.nn.Module):
    """Takes a batch and returns one row."""

    def forward(self, x):
        return x.mean(0, keepdim=True)


def package(model, args, path, shapes=None):
    program = torch.export.export(model.eval(), args, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(program, package_path=str(path))


def export(directory: pathlib.Path) -> None:
    rows = torch.export.Dim("rows", min=1, max=8)
    width = torch.export.Dim("width", min=1, max=64)
    two = (torch.randn(2, 4), torch.randn(2, 4))
    package(Add(), two, directory / "add.pt2", ({0: rows, 1: width}, {0: rows, 1: width}))
    package(Add(), two, directory / "static.pt2")
    package(Mean(), two[:1], directory / "mean.pt2", ({0: rows},))

    def int8():
        return torch.zeros(2, 16, dtype=torch.int8)

    options = {"option1": int8(), "option2": int8()}
    batch = {0: rows}
    shapes = (batch, batch, {"option1": batch, "option2": batch})
    package(Complex(), (int8(), int8(), options), directory / "complex.pt2", shapes)
