"""Compiling operator libraries for the examples."""
import os
import pathlib
import subprocess

import torch


def compile_library(source: pathlib.Path, library: pathlib.Path) -> None:
    """Compiles C++ against the installed PyTorch. Without `libtorch_python`, which only a Python process can open."""
    home = pathlib.Path(torch.__file__).parent
    includes = [f"-isystem{home / name}" for name in ("include", "include/torch/csrc/api/include")]
    libraries = [f"-L{home / 'lib'}", "-ltorch_cpu", "-lc10"]
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-shared", "-fPIC", *includes, str(source), "-o", str(library), *libraries]
    subprocess.run(command, check=True)
