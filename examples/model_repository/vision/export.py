"""A small convolutional image classifier as TorchScript: FP32 [N, 3, 32, 32] -> class scores FP32 [N, 10]."""
import pathlib

import torch


class Vision(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
        )
        self.head = torch.nn.Linear(32, 10)

    def forward(self, image):
        return self.head(self.features(image).flatten(1))


def export(directory: pathlib.Path) -> None:
    torch.manual_seed(0)
    torch.jit.script(Vision().eval()).save(str(directory / "model.pt"))
