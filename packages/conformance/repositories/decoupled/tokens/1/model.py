"""Four responses to every row of a batch: its start and the three numbers after it."""

import torch


class Tokens(torch.nn.Module):
    def forward(self, start):
        for step in range(4):
            yield start + step
