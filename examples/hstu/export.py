"""Trains a small recommender and writes it as a model repository: package, item table and operator library, each a file of its own."""
import json
import pathlib
import random
import shutil

import numpy
import torch
from _compile_library import compile_library
from _model import Served, Trained
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
SERIES, EPISODES = 50, 10
ITEMS = SERIES * EPISODES  # ids 1 to 500: item 10 * s + e is episode e of series s (s from 0, e from 1)
TABLE, WIDTH, MAX_LENGTH, COUNT = "items", 32, 64, 10


def history(length: int) -> list[int]:
    """What a made-up user watches: the next episode of a series, now and then of another one, begun before or new."""
    watched, series = [], []
    while len(watched) < length:
        series = [last for last in series if last % EPISODES != 0]
        choice = random.random()
        if not series or choice < 0.1:
            series.append(random.randrange(SERIES) * EPISODES)
        elif choice < 0.2:
            series.append(series.pop(0))
        series[-1] += 1
        watched.append(series[-1])
    return watched


def train(steps: int = 250) -> Trained:
    model = Trained(ITEMS, WIDTH, MAX_LENGTH)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.03, total_steps=steps)
    watched = torch.tensor([history(17) for _ in range(4096)])
    for _ in range(steps):
        batch = watched[torch.randint(len(watched), (64,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def register_fakes() -> None:
    """What the operators return, without computing it: all that torch.export needs to know of them."""

    @torch.library.register_fake("item_tables::lookup")
    def lookup(ids, table, width):
        return ids.new_empty([*ids.shape, width], dtype=torch.float32), torch.empty_like(ids, dtype=torch.bool)

    @torch.library.register_fake("item_tables::top")
    def top(queries, seen, table, count):
        shape = [queries.shape[0], count]
        return queries.new_empty(shape), seen.new_empty(shape)


def export_package(model: Trained, file: pathlib.Path) -> None:
    served = Served(model.encoder, table=TABLE, width=WIDTH, count=COUNT)
    sample = torch.ones(2, 3, dtype=torch.int64)
    dims = {0: torch.export.Dim("batch", min=1, max=16), 1: torch.export.Dim("length", min=1, max=MAX_LENGTH)}
    program = torch.export.export(served, (sample,), dynamic_shapes=(dims,))
    torch._inductor.aoti_compile_and_package(program, package_path=str(file))


def expected(model: Trained) -> list[dict]:
    """What PyTorch answers without any of the parts around it."""
    answers = []
    for items in ([41, 42, 43], [5], [491, 492, 15, 16, 493], list(range(1, 65))):
        scores, best = model.top(torch.tensor([items]), COUNT)
        answers.append({"items": items, "scores": scores[0].tolist(), "best": best[0].tolist()})
    return answers


def export(repository: pathlib.Path) -> None:
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # more only wait for each other on matrices this small
    model_directory = repository / "hstu"
    tables = model_directory / "1" / "tables"
    tables.mkdir(parents=True)
    library = model_directory / "libitem_tables.so"
    compile_library(HERE / "item_tables.cc", library)
    torch.ops.load_library(library)
    register_fakes()
    model = train()
    with torch.no_grad():
        export_package(model, model_directory / "1" / "model.pt2")
        numpy.save(tables / f"{TABLE}.npy", model.embeddings.weight.numpy())
        (model_directory / "expected.json").write_text(json.dumps(expected(model)))
    shutil.copy(HERE / "config.pbtxt", model_directory)
