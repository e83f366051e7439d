"""Asks the recommender what comes next after a history: client.py [--url HOST:PORT] [--top N] ITEM ..."""
import argparse

import numpy
import tritonclient.http

EPISODES = 10

parser = argparse.ArgumentParser(description="Asks the recommender what comes next after a history.")
parser.add_argument("items", nargs="+", type=int, metavar="ITEM", help="what the user watched, oldest first: 1 to 500")
parser.add_argument("--url", default="http://127.0.0.1:8000", help="address of the server")
parser.add_argument("--top", type=int, default=5, help="how many to print, at most 10")
options = parser.parse_args()

client = tritonclient.http.InferenceServerClient(options.url.removeprefix("http://"))
history = numpy.array([options.items], dtype=numpy.int64)
tensor = tritonclient.http.InferInput("INPUT__0", history.shape, "INT64")
tensor.set_data_from_numpy(history)
best = client.infer("hstu", [tensor]).as_numpy("OUTPUT__1")[0]
for rank, item in enumerate(best[: options.top], 1):
    series, episode = divmod(int(item) - 1, EPISODES)
    print(f"{rank}. item {item}: series {series}, episode {episode + 1}")
