"""AOTInductor: four models in one package, each with something that a reader of packages must get right."""

import collections
import pathlib

import torch
from torch._inductor.package import package_aoti


class BurntIn(torch.nn.Module):
    """A float between two tensors and a None after them are leaves of the call spec, but no inputs."""

    def forward(self, x, scale, y, mask=None):
        return collections.OrderedDict([("scaled", x * scale), ("next", y + 1)])


class Ambiguous(torch.nn.Module):
    """The bias is inlined by the compiler, so that the library does not tell whether x or the float is no input."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, scale):
        return self.linear(x) * scale


class KeywordOnly(torch.nn.Module):
    def forward(self, *, b, a):
        return a - b


class Layouts(torch.nn.Module):
    """A transposed input; outputs that are views, of another datatype, a scalar, and made by an operator of torch."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)

    def forward(self, image, matrix):
        flag = matrix > 0
        return image.transpose(2, 3), image.half(), self.convolution(image), matrix.sum(), (flag,)


def compiled(module, args, kwargs=None, shapes=None):
    program = torch.export.export(module.eval(), args, kwargs, dynamic_shapes=shapes)
    return torch._inductor.aot_compile(
        program.module(), args, kwargs, options={"aot_inductor.package": True, "aot_inductor.package_constants_in_so": True}
    )


def export(directory: pathlib.Path) -> None:
    torch.manual_seed(0)
    models = {
        "burnt_in": compiled(BurntIn(), (torch.randn(2, 3), 2.5, torch.randn(2, 3), None)),
        "ambiguous": compiled(Ambiguous(), (torch.randn(2, 4), 2.5)),
        "keyword_only": compiled(KeywordOnly(), (), {"a": torch.randn(2, 3), "b": torch.randn(2, 3)}),
        "layouts": compiled(Layouts(), (torch.randn(1, 3, 8, 8), torch.randn(5, 6).t())),
    }
    package_aoti(str(directory / "model.pt2"), models)
