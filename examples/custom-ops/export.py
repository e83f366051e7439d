"""One operator library, and two models that call its operator: as TorchScript and as an AOTInductor package."""
import pathlib
import shutil

import torch
from _compile_library import compile_library

HERE = pathlib.Path(__file__).parent


class Modulo(torch.nn.Module):
    def forward(self, x, divisor):
        return torch.ops.example_ops.modulo(x, divisor)


def export_script(file: pathlib.Path) -> None:
    torch.jit.script(Modulo().eval()).save(str(file))


def export_package(file: pathlib.Path) -> None:
    batch = torch.export.Dim("batch", min=1, max=32)
    program = torch.export.export(Modulo().eval(), (torch.ones(2, 4), torch.ones(2, 4)), dynamic_shapes=({0: batch}, {0: batch}))
    torch._inductor.aoti_compile_and_package(program, package_path=str(file))


def export(repository: pathlib.Path) -> None:
    library = repository / "libmodulo.so"
    compile_library(HERE / "modulo.cc", library)
    torch.ops.load_library(library)
    for name, export_model, file in (("modulo_script", export_script, "model.pt"), ("modulo_package", export_package, "model.pt2")):
        version = repository / name / "1"
        version.mkdir(parents=True)
        export_model(version / file)
        shutil.copy(library, version.parent)
        shutil.copy(HERE / f"{name}.pbtxt", version.parent / "config.pbtxt")
    library.unlink()
