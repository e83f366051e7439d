"""AOTInductor: nested arguments and a nested result, batch 1 to 8: two tensors, a dict of two, two keyword tensors."""

import pathlib

import torch


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, a, b, pair, *, kwarg1, kw_arg2):
        return {
            "AAA": self.linear(a),
            "ZZZ": b * 2,
            "BBB": (pair["keyA"] + 1, pair["key2"] - 1),
            "CCC": {"keyA": kwarg1.to(torch.float32), "key2": torch.cat([a, a])},
            "DDD": {"KA": a.sum(1), "KB": kw_arg2 + kw_arg2},
        }


def export(directory: pathlib.Path) -> None:
    torch.manual_seed(0)
    rows = {0: torch.export.Dim("batch", min=1, max=8)}
    program = torch.export.export(
        Nested().eval(),
        (torch.randn(2, 4), torch.randn(2, 5), {"keyA": torch.randn(2, 3), "key2": torch.randn(2, 3)}),
        {"kwarg1": torch.zeros(2, 2, dtype=torch.int64), "kw_arg2": torch.randn(7)},
        dynamic_shapes={
            "a": rows,
            "b": rows,
            "pair": {"keyA": rows, "key2": rows},
            "kwarg1": rows,
            "kw_arg2": None,
        },
    )
    torch._inductor.aoti_compile_and_package(program, package_path=str(directory / "model.pt2"))
    torch.export.save(program, directory / "exported.pt2")
