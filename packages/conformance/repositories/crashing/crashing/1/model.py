"""Does what its input says: 0 answers, 1 raises, 2 ends the process, 3 reads where there is no memory."""

import ctypes
import os
import sys

import torch


def fall_over():
    ctypes.string_at(0)


class Crashing(torch.nn.Module):
    def forward(self, what):
        match int(what):
            case 1:
                raise ValueError("told to raise")
            case 2:
                print("about to leave", file=sys.stderr)
                os._exit(7)
            case 3:
                fall_over()
        return what + 1
