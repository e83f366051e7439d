import torch


class Identity(torch.nn.Module):
    def forward(self, *inputs):
        return inputs
