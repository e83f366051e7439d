"""AOTInductor packages for the addon's tests and benchmark."""

import pathlib

import torch

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
    torch.bfloat16,
]


class Mlp(torch.nn.Module):
    """64 → 128 → 10; rows are the batch."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Flipped(torch.nn.Module):
    """Every dtype there and back in reverse order, the input itself, a constant, and no rows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("constant", torch.arange(2048, dtype=torch.float32))

    def forward(self, *inputs: torch.Tensor):
        flipped = [torch.stack([x[3 - i] for i in range(4)]) for x in inputs]
        return flipped, inputs[0], self.constant, inputs[1][:0]


def package(model: torch.nn.Module, example: tuple, path: pathlib.Path, dynamic_shapes=None) -> None:
    with torch.no_grad():
        program = torch.export.export(model.eval(), example, dynamic_shapes=dynamic_shapes)
        torch._inductor.aoti_compile_and_package(program, package_path=str(path))


def export(directory: pathlib.Path) -> None:
    rows = torch.export.Dim("rows", min=1, max=64)
    package(Mlp(), (torch.zeros(2, 64),), directory / "mlp.pt2", {"x": {0: rows}})
    package(Flipped(), tuple(torch.zeros(4, dtype=dtype) for dtype in DTYPES), directory / "dtypes.pt2")
