"""The model repository that the recorded exchanges were made against: identities of every datatype, add/sub in two versions, strings, a sum over a sequence, and a model that raises."""
import pathlib
from typing import List

import torch

DATATYPES = {
    "bool": "TYPE_BOOL", "uint8": "TYPE_UINT8", "int8": "TYPE_INT8", "int16": "TYPE_INT16", "int32": "TYPE_INT32",
    "int64": "TYPE_INT64", "fp16": "TYPE_FP16", "fp32": "TYPE_FP32", "fp64": "TYPE_FP64",
}
SEQUENCE = """sequence_batching {
  max_sequence_idle_microseconds: 60000000
  direct { }
  control_input [ { name: "INPUT__1" control [ { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } ] } ]
  state [ {
    input_name: "INPUT__2" output_name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ 1 ]
    initial_state { name: "zero" data_type: TYPE_FP32 dims: [ 1 ] zero_data: true }
  } ]
}
"""
HEAD = 'backend: "pytorch"\nplatform: "pytorch_libtorch"\ninstance_group [ { count: 1 kind: KIND_CPU } ]\n'


class Identity(torch.nn.Module):
    def forward(self, x):
        return x


class AddSub(torch.nn.Module):
    def forward(self, a, b):
        return a + b, a - b


class Words(torch.nn.Module):
    def forward(self, words: List[str]) -> List[str]:
        return words


class Classes(torch.nn.Module):
    def forward(self, x):
        return x * 1.0


class Running(torch.nn.Module):
    """Sum over a sequence, kept by the server."""

    def forward(self, x, start, state):
        total = torch.where(start.to(torch.bool), torch.zeros_like(state), state) + x
        return total, total


class Picky(torch.nn.Module):
    def forward(self, x):
        if bool((x < 0).any()):
            raise RuntimeError("negative")
        return x


def tensors(kind, *entries):
    rows = ", ".join(f'{{ name: "{name}" data_type: {datatype} dims: [ {dims} ] {more} }}' for name, datatype, dims, more in entries)
    return f"{kind} [ {rows} ]\n"


def repository():
    """(name, module, configuration, versions) of every model."""
    out = ("OUTPUT__0", "TYPE_FP32", "3", "")
    for name, datatype in DATATYPES.items():
        config = tensors("input", ("x", datatype, "-1", "")) + tensors("output", ("OUTPUT__0", datatype, "-1", ""))
        yield f"id_{name}", Identity(), config, ["1"]
    yield "id_bytes", Words(), tensors("input", ("words", "TYPE_STRING", "-1", "")) + tensors("output", ("OUTPUT__0", "TYPE_STRING", "-1", "")), ["1"]
    add_sub = tensors("input", ("a", "TYPE_FP32", "3", ""), ("b", "TYPE_FP32", "3", "")) + tensors("output", out, ("OUTPUT__1", "TYPE_FP32", "3", ""))
    yield "addsub", AddSub(), "max_batch_size: 4\n" + add_sub + "version_policy: { all { } }\n", ["1", "3"]
    image = tensors("input", ("x", "TYPE_FP32", "2, -1", "")) + tensors("output", ("OUTPUT__0", "TYPE_FP32", "2, -1", ""))
    yield "image", Identity(), "max_batch_size: 2\n" + image, ["1"]
    classes = tensors("input", ("x", "TYPE_FP32", "4", "")) + tensors("output", ("OUTPUT__0", "TYPE_FP32", "4", 'label_filename: "labels.txt"'))
    yield "classes", Classes(), "max_batch_size: 4\n" + classes, ["1"]
    picky = tensors("input", ("x", "TYPE_FP32", "2", "")) + tensors("output", ("OUTPUT__0", "TYPE_FP32", "2", ""))
    yield "picky", Picky(), "max_batch_size: 4\ndynamic_batching { }\n" + picky, ["1"]
    running = tensors("input", ("INPUT__0", "TYPE_FP32", "1", "")) + tensors("output", ("OUTPUT__0", "TYPE_FP32", "1", ""))
    yield "running", Running(), "max_batch_size: 4\n" + running + SEQUENCE, ["1"]


def export(directory: pathlib.Path) -> None:
    for name, module, config, versions in repository():
        for version in versions:
            (directory / name / version).mkdir(parents=True)
            torch.jit.script(module.eval()).save(str(directory / name / version / "model.pt"))
        (directory / name / "config.pbtxt").write_text(f'name: "{name}"\n{HEAD}{config}')
    (directory / "classes" / "labels.txt").write_text("cat\ndog\nfox\nowl\n")
