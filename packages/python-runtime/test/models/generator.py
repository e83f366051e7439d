"""A forward that is a generator itself, and an option of torch.compile that would fail."""

import torch


class Countdown(torch.nn.Module):
    def forward(self, x):
        for left in range(int(x.max()), 0, -1):
            yield torch.full_like(x, left)
