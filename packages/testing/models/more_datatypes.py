"""Identities of the datatypes that the recorded exchanges do not cover."""

import pathlib

import torch

DATATYPES = {"uint16": "TYPE_UINT16", "uint32": "TYPE_UINT32", "uint64": "TYPE_UINT64", "bf16": "TYPE_BF16"}


class Identity(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def export(directory: pathlib.Path) -> None:
    for name, datatype in DATATYPES.items():
        model = directory / f"id_{name}"
        (model / "1").mkdir(parents=True)
        torch.jit.script(Identity()).save(str(model / "1" / "model.pt"))
        tensor = f"data_type: {datatype} dims: [ -1 ]"
        (model / "config.pbtxt").write_text(
            f'backend: "pytorch"\nplatform: "pytorch_libtorch"\n'
            f'input [ {{ name: "x" {tensor} }} ]\noutput [ {{ name: "OUTPUT__0" {tensor} }} ]\n'
        )
