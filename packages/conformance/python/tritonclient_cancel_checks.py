"""Checks of requests that the real Python clients cancel while they wait. Each function is one check and raises when it does not hold.

usage: python tritonclient_cancel_checks.py HTTP_HOST:PORT GRPC_HOST:PORT METRICS_HOST:PORT REPOSITORY
       (prints one JSON line per check: name, and error when it failed)
"""
import asyncio
import concurrent.futures
import contextlib
import json
import os
import queue
import re
import sys
import time
import traceback
import urllib.request

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.grpc.aio as grpc_aio
import tritonclient.http as http
import tritonclient.http.aio as http_aio
from tritonclient.utils import InferenceServerException

MODEL = "batched"
PATIENCE = 10
# Long enough for a call to get into the queue.
TIMEOUT = 1.0


class Ways:
    """The places of a server, and a model whose only instance can be held."""

    def __init__(self, http_place, grpc_place, metrics_place, repository):
        self.http, self.grpc = http_place, grpc_place
        self._metrics = f"http://{metrics_place}/metrics"
        self._gate = os.path.join(repository, MODEL, "1", "closed")
        self._thread = concurrent.futures.ThreadPoolExecutor(max_workers=1)

    def metric(self, name, labels=""):
        with urllib.request.urlopen(self._metrics) as response:
            text = response.read().decode()
        return int(re.search(rf'^{name}{{model="{MODEL}",{labels}version="1"}} (\d+)$', text, re.MULTILINE)[1])

    def pending(self):
        return self.metric("nv_inference_pending_request_count")

    def executing(self):
        return self.metric("nereid_executing_request_count")

    def cancelled(self):
        return self.metric("nv_inference_request_failure", 'reason="CANCELED",')

    def successes(self):
        return self.metric("nv_inference_request_success")

    @contextlib.contextmanager
    def busy(self):
        """While one request runs, one waits to be cancelled inside, and was when it is over. Both numbers of the metrics tell so."""
        client = grpc.InferenceServerClient(self.grpc)
        before = self.cancelled(), self.successes()
        open(self._gate, "w").close()
        try:
            held = self._thread.submit(client.infer, MODEL, [tensor(grpc)])
            until(lambda: self.executing() == 1)
            yield lambda: until(lambda: self.pending() == 1)
            # The one that runs still does.
            until(lambda: self.pending() == 0 and self.cancelled() == before[0] + 1)
            assert (self.executing(), self.successes()) == (1, before[1])
        finally:
            os.remove(self._gate)
        held.result()
        client.close()
        assert (self.executing(), self.successes()) == (0, before[1] + 1)


def until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.005)


async def until_async(wait):
    await asyncio.get_running_loop().run_in_executor(None, wait)


def tensor(library):
    made = library.InferInput("x", [1, 1], "FP32")
    made.set_data_from_numpy(np.ones((1, 1), np.float32))
    return made


def the_call_of_async_infer_is_cancelled(ways):
    client = grpc.InferenceServerClient(ways.grpc)
    answers = queue.Queue()
    with ways.busy() as waits:
        call = client.async_infer(MODEL, [tensor(grpc)], lambda result, error: answers.put((result, error)))
        waits()
        call.cancel()
        result, error = answers.get(timeout=PATIENCE)
        assert result is None and "CANCELLED" in error.status(), error
    client.close()


def the_client_timeout_of_infer_passes(ways):
    client = grpc.InferenceServerClient(ways.grpc)
    with ways.busy():
        try:
            client.infer(MODEL, [tensor(grpc)], client_timeout=TIMEOUT)
        except InferenceServerException as error:
            assert "DEADLINE_EXCEEDED" in error.status(), error
        else:
            raise AssertionError("expected a deadline to pass")
    client.close()


def a_stream_is_stopped_with_its_requests(ways):
    client = grpc.InferenceServerClient(ways.grpc)
    answers = queue.Queue()
    with ways.busy() as waits:
        client.start_stream(lambda result, error: answers.put((result, error)))
        client.async_stream_infer(MODEL, [tensor(grpc)])
        waits()
        client.stop_stream(cancel_requests=True)
        _, error = answers.get(timeout=PATIENCE)
        assert "CANCELLED" in error.status(), error
    client.close()


def the_timeout_of_a_stream_passes(ways):
    client = grpc.InferenceServerClient(ways.grpc)
    answers = queue.Queue()
    with ways.busy():
        client.start_stream(lambda result, error: answers.put((result, error)), stream_timeout=TIMEOUT)
        client.async_stream_infer(MODEL, [tensor(grpc)])
        _, error = answers.get(timeout=PATIENCE)
        assert "DEADLINE_EXCEEDED" in error.status(), error
    client.close()


def the_task_of_an_asynchronous_call_is_cancelled(ways):
    async def run():
        async with grpc_aio.InferenceServerClient(ways.grpc) as client:
            with ways.busy() as waits:
                task = asyncio.create_task(client.infer(MODEL, [tensor(grpc)]))
                await until_async(waits)
                task.cancel()
                try:
                    await task
                except asyncio.CancelledError:
                    return
                raise AssertionError("expected the task to be cancelled")

    asyncio.run(run())


def an_asynchronous_stream_is_cancelled(ways):
    async def requests():
        yield {"model_name": MODEL, "inputs": [tensor(grpc)]}
        await asyncio.sleep(PATIENCE)

    async def run():
        async with grpc_aio.InferenceServerClient(ways.grpc) as client:
            with ways.busy() as waits:
                answers = client.stream_infer(requests())
                reader = asyncio.create_task(anext(aiter(answers)))
                await until_async(waits)
                answers.cancel()
                try:
                    await reader
                except (asyncio.CancelledError, InferenceServerException):
                    return
                raise AssertionError("expected the stream to be cancelled")

    asyncio.run(run())


def the_network_timeout_of_an_http_client_passes(ways):
    client = http.InferenceServerClient(ways.http, network_timeout=TIMEOUT)
    with ways.busy():
        try:
            client.infer(MODEL, [tensor(http)])
        except Exception as error:
            assert "timed out" in str(error), error
        else:
            raise AssertionError("expected a timeout")
        client.close()


def the_task_of_an_asynchronous_http_call_is_cancelled(ways):
    async def run():
        async with http_aio.InferenceServerClient(ways.http) as client:
            with ways.busy() as waits:
                task = asyncio.create_task(client.infer(MODEL, [tensor(http_aio)]))
                await until_async(waits)
                task.cancel()
                try:
                    await task
                except asyncio.CancelledError:
                    return
                raise AssertionError("expected the task to be cancelled")

    asyncio.run(run())


CHECKS = [
    the_call_of_async_infer_is_cancelled,
    the_client_timeout_of_infer_passes,
    a_stream_is_stopped_with_its_requests,
    the_timeout_of_a_stream_passes,
    the_task_of_an_asynchronous_call_is_cancelled,
    an_asynchronous_stream_is_cancelled,
    the_network_timeout_of_an_http_client_passes,
    the_task_of_an_asynchronous_http_call_is_cancelled,
]


def main(*places):
    ways = Ways(*places)
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(ways)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
