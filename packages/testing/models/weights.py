"""A compiled linear layer, and weights for it as files: two sets, and some that do not fit."""

import json
import pathlib
import struct
from collections import OrderedDict

import torch


class Scaled(torch.nn.Module):
    """Mean of a weight's row, scaled, and a bias. What is compiled is uneven and long: short constants and those of equal elements are built into the code."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.weight = torch.nn.Parameter(torch.rand(16, 512))
        self.bias = torch.nn.Parameter(torch.rand(16))
        self.register_buffer("scale", torch.rand(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight.t()) / 512 * self.scale + self.bias


class Folded(Scaled):
    """The same results by way of a constant that the package computes from the weight when it is loaded."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ (self.weight * 2 + 1 - 1).t()) / 1024 * self.scale + self.bias


def state(value: float) -> dict:
    return {"weight": torch.full((16, 512), value), "bias": torch.full((16,), value), "scale": torch.ones(16)}


def safetensors(path: pathlib.Path, tensors: dict) -> None:
    """The format in a few lines: length of the header, header, bytes."""
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def export(directory: pathlib.Path) -> None:
    rows = torch.export.Dim("rows", min=1, max=64)
    folding = {"aot_inductor.use_runtime_constant_folding": True}
    with torch.no_grad():
        for name, model, configs in (("scaled", Scaled(), {}), ("folded", Folded(), folding)):
            program = torch.export.export(model.eval(), (torch.zeros(2, 512),), dynamic_shapes={"x": {0: rows}})
            path = str(directory / f"{name}.pt2")
            torch._inductor.aoti_compile_and_package(program, package_path=path, inductor_configs=configs)
    torch.save(state(1.0), directory / "ones.pt")
    torch.save(OrderedDict(state(2.0)), directory / "twos.pt")
    safetensors(directory / "threes.safetensors", state(3.0))
    whole = torch.arange(24.0).reshape(4, 6)
    odd = {
        "transposed": whole.t(),
        "rows": whole[1:3],
        "column": whole[:, 2],
        "parameter": torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16)),
        "numbers": torch.tensor([1, -2], dtype=torch.int64),
        "wide": torch.tensor([1, 65535], dtype=torch.uint16),
        "nothing": torch.zeros(0, 3),
        "scalar": torch.tensor(7.0),
    }
    torch.save(odd, directory / "odd.pt")
    torch.save({"weight": torch.ones(1), "epoch": 3}, directory / "mixed.pt")
    torch.save({"weight": torch.ones(1, dtype=torch.complex64)}, directory / "complex.pt")
    torch.save({**state(1.0), "weight": torch.ones(16, 3)}, directory / "narrow.pt")
    torch.save({**state(1.0), "weight": torch.ones(16, 512, dtype=torch.float64)}, directory / "double.pt")
    torch.save({"weight": torch.ones(16, 512), "bais": torch.ones(16), "scale": torch.ones(16)}, directory / "misspelt.pt")
    torch.save({**state(2.0), "norm.num_batches_tracked": torch.tensor(3)}, directory / "extra.pt")
    torch.save({"weight": torch.full((16, 512), 2.0), "bias": torch.full((16,), 2.0)}, directory / "no_buffer.pt")
