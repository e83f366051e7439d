"""Mixed load on the twelve models and the crashing one, each answer checked.

usage: python mixed_load.py HTTP_HOST:PORT GRPC_HOST:PORT SECONDS        (prints one JSON object, see `main`)

Each model has clients of its own, every other over gRPC, which ask, check and pause for a moment. The client of the crashing model makes it raise, leave and
fall over in turn, and waits each time until it answers again.
"""
import collections
import itertools
import json
import random
import sys
import threading
import time
import traceback

import numpy as np
import tritonclient.http as http
from tritonclient.utils import InferenceServerException
from twelve_models_checks import CHECKS, GrpcClient, HttpClient, aoti_batching, torchscript_names

MORE_CLIENTS = [aoti_batching] * 3 + [torchscript_names]
LONGEST_PAUSE = 0.06
CRASHES = {"raise": 1, "leave": 2, "fall over": 3}
SHOWN_FAILURES = 5


class Load:
    def __init__(self, url, grpc_url, seconds):
        self._url = url
        self._clients = itertools.cycle([lambda: HttpClient(url), lambda: GrpcClient(grpc_url)])
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self.answered = collections.Counter()
        self.failures = []
        self.crashes = collections.defaultdict(list)
        self.refusals = []
        self.slowest = 0.0

    def run(self):
        threads = [threading.Thread(target=self._ask, args=[check, next(self._clients)]) for check in CHECKS + MORE_CLIENTS]
        threads.append(threading.Thread(target=self._note_failure, args=["crashing", self._crash]))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _note_failure(self, model, ask):
        try:
            ask()
        except Exception:
            self.failures.append(f"{model}: {traceback.format_exc()}")

    def _is_over(self):
        return time.monotonic() >= self._end

    def _ask(self, check, connect):
        client = connect()
        while not self._is_over():
            start = time.monotonic()
            self._note_failure(check.__name__, lambda: check(client))
            with self._lock:
                self.answered[check.__name__] += 1
                self.slowest = max(self.slowest, time.monotonic() - start)
            time.sleep(random.uniform(0, LONGEST_PAUSE))
        client.close()

    def _crash(self):
        client = http.InferenceServerClient(self._url, network_timeout=120)
        self._answer_again(client)
        for how in itertools.cycle(CRASHES):
            if self._is_over():
                break
            for _ in range(3):
                assert self._tell(client, 0) is None
            self.crashes[how].append(self._tell(client, CRASHES[how]))
            self._answer_again(client)
        client.close()

    def _answer_again(self, client):
        """Waits until the model answers; what it says until then is noted."""
        while (refusal := self._tell(client, 0)) is not None:
            self.refusals.append(refusal)
            time.sleep(0.2)

    def _tell(self, client, what):
        """None for the right answer, else the error's message."""
        tensor = http.InferInput("what", [1], "INT64")
        tensor.set_data_from_numpy(np.array([what]))
        try:
            assert client.infer("crashing", [tensor]).as_numpy("answer").tolist() == [what + 1]
            with self._lock:
                self.answered["crashing"] += 1
            return None
        except InferenceServerException as error:
            return error.message()


def main(url, grpc_url, seconds):
    load = Load(url, grpc_url, float(seconds))
    load.run()
    report = {
        # Requests answered, by model; what nobody had told to fail.
        "answered": load.answered,
        "failed": len(load.failures),
        "failures": load.failures[:SHOWN_FAILURES],
        "slowestMs": load.slowest * 1000,
        # What the crashing model answered when it was told to crash, and while it was down.
        "crashes": load.crashes,
        "refusals": load.refusals,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
