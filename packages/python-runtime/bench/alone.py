"""Calls a module in Python alone: each line of standard input is a number of calls, answered with a line when they are done."""

import sys

import torch
from large import Double
from mlp import Mlp


def answer(word):
    """One write: the reader counts them."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


torch.set_num_threads(1)
model, x = {"mlp": (Mlp(), torch.rand(1, 64)), "large": (Double(), torch.rand(1, 1 << 20))}[sys.argv[1]]
model.eval()
with torch.inference_mode():
    answer("ready")
    for line in sys.stdin:
        for _ in range(int(line)):
            model(x)
        answer("done")
