import torch


class AddSub(torch.nn.Module):
    def forward(self, a, b):
        return a + b, a - b
