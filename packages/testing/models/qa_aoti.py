"""AOTInductor packages behind single rows of the compatibility table of the PyTorch backend."""

import pathlib
import zipfile

import torch

DTYPES = [torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32]


class Sums(torch.nn.Module):
    """The sum of two tensors in each of six datatypes: six models in one, as each costs a compiler run."""

    def forward(self, *pairs):
        return tuple(pairs[i] + pairs[i + 1] for i in range(0, len(pairs), 2))


class Convolutional(torch.nn.Module):
    """A residual network in small: convolutions, a batch norm, a shortcut, a pool and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.stem = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.block = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.classifier = torch.nn.Linear(8, 10)

    def forward(self, image):
        x = torch.relu(self.norm(self.stem(image)))
        x = torch.relu(x + self.block(x))
        return self.classifier(x.mean((2, 3)))


class Hollow(torch.nn.Module):
    """Containers that are empty, in and out, and a result that is None."""

    def forward(self, x, nothing, *, y):
        return {"none": None, "empty": (), "sum": x + y, "list": []}


def package(path, module, args, kwargs=None, shapes=None) -> None:
    with torch.no_grad():
        program = torch.export.export(module.eval(), args, kwargs, dynamic_shapes=shapes)
        torch._inductor.aoti_compile_and_package(program, package_path=str(path))


def relabelled(source: pathlib.Path, target: pathlib.Path, before: bytes, after: bytes) -> None:
    """A copy of a package whose metadata say something else."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for member in old.infolist():
            data = old.read(member)
            new.writestr(member, data.replace(before, after) if member.filename.endswith("metadata.json") else data)


def export(directory: pathlib.Path) -> None:
    rows = {0: torch.export.Dim("rows", min=1, max=8)}
    pairs = tuple(torch.ones(2, 16, dtype=dtype) for dtype in DTYPES for _ in range(2))
    package(directory / "sums.pt2", Sums(), pairs, shapes=(tuple(rows for _ in pairs),))
    package(directory / "convolutional.pt2", Convolutional(), (torch.randn(2, 3, 32, 32),), shapes=(rows,))
    package(directory / "hollow.pt2", Hollow(), (torch.randn(2, 3), []), {"y": torch.randn(2, 3)})
    relabelled(directory / "hollow.pt2", directory / "for_gpu.pt2", b'"AOTI_DEVICE_KEY": "cpu"', b'"AOTI_DEVICE_KEY": "cuda"')
