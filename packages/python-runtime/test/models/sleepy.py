import ctypes
import os
import sys
import time

import torch


class Sleepy(torch.nn.Module):
    def forward(self, x):
        seconds = float(x.reshape(-1)[0])
        print(f"running {seconds:g}")
        if seconds == -2:
            ctypes.string_at(0)
        if seconds < 0:
            print("about to leave", file=sys.stderr)
            os._exit(7)
        time.sleep(seconds)
        return x
