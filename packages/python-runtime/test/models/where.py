"""Says whether its input lies in the memory that is shared with the parent."""

import torch


def is_shared(address):
    with open("/proc/self/maps") as maps:
        for line in maps:
            start, end = (int(bound, 16) for bound in line.split()[0].split("-"))
            if start <= address < end:
                return "nereid-" in line
    return False


class Where(torch.nn.Module):
    def forward(self, x):
        return x, torch.tensor([is_shared(x.data_ptr())])
