"""Answers with its input, but not before the file `closed` beside it is gone; a negative value is a failure, of the whole batch."""

import os
import time

import torch

GATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "closed")


class Gated(torch.nn.Module):
    def forward(self, x):
        while os.path.exists(GATE):
            time.sleep(0.002)
        if bool((x < 0).any()):
            raise ValueError("a value is negative")
        return x.clone()
