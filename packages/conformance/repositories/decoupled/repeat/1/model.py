"""Each value of the input is a response of its own, so many milliseconds after the one before; a negative value is a failure."""

import asyncio

import torch


class Repeat(torch.nn.Module):
    async def forward(self, values, delay):
        pause = int(delay) / 1000
        for index, value in enumerate(values):
            await asyncio.sleep(pause)
            if value < 0:
                raise ValueError(f"value {index} is negative")
            yield value.reshape(1), torch.tensor([index], dtype=torch.int32)
