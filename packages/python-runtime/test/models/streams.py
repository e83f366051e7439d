"""Answers with several responses as the first value of its input says; the second tells how many. `counters` tells of all calls so far."""

import asyncio
import os

import torch

made = 0
closed = 0


def each(x, count):
    """x + 0, x + 1 …; without end for a negative count."""
    global made, closed
    try:
        index = 0
        while index != count:
            made += 1
            yield x + index
            index += 1
    finally:
        closed += 1


def failing(x, count):
    yield from each(x, count)
    raise ValueError("the cat sat on the keyboard")


def ending(x, count):
    yield from each(x, count)
    os._exit(3)


async def each_later(x, count):
    for result in each(x, count):
        await asyncio.sleep(0)
        yield result


async def asleep(x):
    """One response, and then a wait that only a cancellation ends."""
    global closed
    try:
        yield x
        await asyncio.sleep(3600)
    finally:
        closed += 1


async def later(x):
    await asyncio.sleep(0)
    return x


def wrong():
    yield "text"


class Streams(torch.nn.Module):
    def forward(self, x):
        code, count = (int(value) for value in x.reshape(-1)[:2])
        match code:
            case 0:
                return each(x, count)
            case 1:
                return failing(x, count)
            case 2:
                return x
            case 3:
                return None
            case 4:
                return x.new_tensor([[made, closed]])
            case 5:
                return each_later(x, count)
            case 6:
                return asleep(x)
            case 7:
                return later(x)
            case 8:
                return wrong()
            case 9:
                return ending(x, count)
