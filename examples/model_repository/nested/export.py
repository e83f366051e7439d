"""Nested arguments and results as an AOTInductor package: two tensors, a dict of two and two keyword tensors go in, a dict with a tuple and two dicts comes out."""
import pathlib

import torch


class Nested(torch.nn.Module):
    def forward(self, a, b, options, *, kwarg1, kw_arg2):
        return {
            "AAA": a + b,
            "ZZZ": a - b,
            "BBB": (a * 2, b * 2),
            "CCC": {"keyA": options["keyA"] + kwarg1, "key2": options["key2"] + kw_arg2},
            "DDD": {"KA": kwarg1 * kw_arg2, "KB": kwarg1 - kw_arg2},
        }


def export(directory: pathlib.Path) -> None:
    def row():
        return torch.randn(1, 4)

    args = (row(), row(), {"keyA": row(), "key2": row()})
    program = torch.export.export(Nested().eval(), args, {"kwarg1": row(), "kw_arg2": row()})
    torch._inductor.aoti_compile_and_package(program, package_path=str(directory / "model.pt2"))
