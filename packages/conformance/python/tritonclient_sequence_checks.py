"""Checks of sequences on a running server with the real Python client. Each function is one check and raises when it does not hold.

usage: python tritonclient_sequence_checks.py HTTP_HOST:PORT GRPC_HOST:PORT PID        (prints one JSON line per check and way: name, and error when it failed)

Every check runs over HTTP, over gRPC and over streams; the last one tells the server, which has this process ID, to stop. The models keep the sum of a sequence's values; those called package_… add its correlation ID to each result.
"""
import concurrent.futures
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

SUMS = ["module_direct", "module_oldest", "package_direct", "package_oldest"]
TIMEOUT_S = 30


def cell(library, value):
    tensor = library.InferInput("INPUT__0", [1, 1], "FP32")
    tensor.set_data_from_numpy(np.array([[value]], np.float32))
    return [tensor]


class Http:
    def __init__(self, places):
        self._client = http.InferenceServerClient(places["http"], network_timeout=TIMEOUT_S)
        self.close = self._client.close

    def infer(self, model, value, output="OUTPUT__0", **flags):
        outputs = [http.InferRequestedOutput(output)]
        return self._client.infer(model, cell(http, value), outputs=outputs, **flags).as_numpy(output)


class Grpc:
    def __init__(self, places):
        self._client = grpc.InferenceServerClient(places["grpc"])
        self.close = self._client.close

    def infer(self, model, value, output="OUTPUT__0", **flags):
        outputs = [grpc.InferRequestedOutput(output)]
        return self._client.infer(model, cell(grpc, value), outputs=outputs, **flags).as_numpy(output)


class Stream:
    """One stream, whose answers come in the order of its requests."""

    def __init__(self, places):
        self._client = grpc.InferenceServerClient(places["grpc"])
        self._answers = queue.Queue()
        self._client.start_stream(callback=lambda result, error: self._answers.put((result, error)))
        self.close = self._client.close

    def send(self, model, value, output="OUTPUT__0", **flags):
        self._client.async_stream_infer(model, cell(grpc, value), outputs=[grpc.InferRequestedOutput(output)], **flags)

    def receive(self, output="OUTPUT__0"):
        result, error = self._answers.get(timeout=TIMEOUT_S)
        if error is not None:
            raise error
        return result.as_numpy(output)

    def infer(self, model, value, output="OUTPUT__0", **flags):
        self.send(model, value, output, **flags)
        return self.receive(output)


WAYS = {"HTTP": Http, "gRPC": Grpc, "streams": Stream}


def flags(sequence_id, start=False, end=False):
    return {"sequence_id": sequence_id, "sequence_start": start, "sequence_end": end}


class Sequence:
    """One sequence on a connection of its own."""

    def __init__(self, connect, model, sequence_id):
        self._client, self._model, self._id = connect(), model, sequence_id

    def step(self, value, start=False, end=False):
        return self._client.infer(self._model, value, **flags(self._id, start, end)).item()

    def run(self, values):
        return [self.step(value, index == 0, index == len(values) - 1) for index, value in enumerate(values)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._client.close()


def sums(model, sequence_id, values):
    return np.cumsum(values) + (sequence_id if model.startswith("package") else 0)


def refused(status, fragment, call):
    """The call must fail with a message that holds the fragment, and with this status where the way tells one."""
    try:
        call()
    except InferenceServerException as error:
        assert error.status() in (None, *status), f"expected {status}, got {error.status()}: {error.message()}"
        assert fragment in error.message(), f"expected {fragment!r} in {error.message()!r}"
        return
    raise AssertionError(f"expected a refusal with {fragment!r}")


INVALID = ("400", "StatusCode.INVALID_ARGUMENT")


def a_single_sequence(connect):
    for model in SUMS:
        with Sequence(connect, model, 100) as sequence:
            for _ in range(2):
                np.testing.assert_array_equal(sequence.run([2, 3, 4, 5]), sums(model, 100, [2, 3, 4, 5]))


def two_sequences_that_take_turns(connect):
    for model in SUMS:
        with Sequence(connect, model, 201) as one, Sequence(connect, model, 202) as other:
            ends = [(index == 0, index == 2) for index in range(3)]
            results = [(one.step(1, *pair), other.step(10, *pair)) for pair in ends]
            expected = zip(sums(model, 201, [1] * 3), sums(model, 202, [10] * 3))
            np.testing.assert_array_equal(results, list(expected))


def at_once(function, sequence_ids):
    """Results of the function for each ID, each in a thread of its own: connections of the HTTP client belong to the thread that opened them."""
    with concurrent.futures.ThreadPoolExecutor(len(sequence_ids)) as pool:
        return list(pool.map(function, sequence_ids))


def eight_sequences_in_lockstep(connect):
    for model in SUMS:
        tick = threading.Barrier(8, timeout=TIMEOUT_S)

        def one(sequence_id):
            results = []
            with Sequence(connect, model, sequence_id) as sequence:
                for index in range(5):
                    tick.wait()
                    results.append(sequence.step(sequence_id % 7 + 1, index == 0, index == 4))
            return results

        sequence_ids = range(300, 308)
        expected = [sums(model, sequence_id, [sequence_id % 7 + 1] * 5) for sequence_id in sequence_ids]
        np.testing.assert_array_equal(at_once(one, sequence_ids), expected)


def sequences_that_come_and_go(connect):
    lives = {400: (0, 1), 401: (0, 3), 402: (2, 4), 403: (3, 4)}
    for model in SUMS:
        client = connect()
        for tick in range(5):
            for sequence_id, (first, last) in lives.items():
                if first <= tick <= last:
                    result = client.infer(model, 1, **flags(sequence_id, tick == first, tick == last)).item()
                    assert result == sums(model, sequence_id, [1] * (tick - first + 1))[-1], (model, sequence_id, tick, result)
        client.close()


def more_sequences_than_slots(connect):
    def one(sequence_id):
        with Sequence(connect, "module_narrow", sequence_id) as sequence:
            return sequence.run([sequence_id] * 4)

    sequence_ids = range(1, 13)
    np.testing.assert_array_equal(at_once(one, sequence_ids), [np.cumsum([sequence_id] * 4) for sequence_id in sequence_ids])


def what_is_not_a_number_stays_in_its_sequence(connect):
    values = {sequence_id: [np.nan if sequence_id == 5 else sequence_id] * 6 for sequence_id in range(1, 11)}
    for model in SUMS:

        def one(sequence_id):
            with Sequence(connect, model, sequence_id) as sequence:
                return sequence.run(values[sequence_id])

        expected = [sums(model, sequence_id, of) for sequence_id, of in values.items()]
        np.testing.assert_array_equal(at_once(one, values), expected)


def ids_that_are_strings(connect):
    client = connect()
    for sequence_id in ("a", "größe 7", "x" * 100):
        for start, end in ((True, False), (False, True)):
            echo = client.infer("named", 1, "ID__1", **flags(sequence_id, start, end))
            assert echo.item().decode() == sequence_id, echo
    client.close()


def ids_that_are_large(connect):
    client = connect()
    for sequence_id in (1, 2**53 + 1, 2**63 - 1):
        client.infer("module_direct", 4, **flags(sequence_id, start=True))
        assert client.infer("module_direct", 4, **flags(sequence_id, end=True)).item() == 8
    client.close()


def refusals(connect):
    client = connect()
    refused(INVALID, "data-type is 'BYTES'", lambda: client.infer("package_direct", 1, **flags("seven", start=True)))
    refused(INVALID, "data-type is 'UINT64'", lambda: client.infer("named", 1, "ID__1", **flags(7, start=True)))
    refused(INVALID, "must specify the START flag", lambda: client.infer("module_direct", 1, **flags(77)))
    refused(INVALID, "non-zero or non-empty correlation ID", lambda: client.infer("module_direct", 1))
    hidden = lambda: client.infer("module_direct", 1, "OUTPUT_STATE__1", **flags(78, start=True, end=True))
    refused(INVALID, "unexpected inference output 'OUTPUT_STATE__1'", hidden)
    assert client.infer("module_oldest", 5, "OUTPUT_STATE__1", **flags(79, start=True, end=True)).item() == 5
    client.close()


CHECKS = [
    a_single_sequence, two_sequences_that_take_turns, eight_sequences_in_lockstep, sequences_that_come_and_go, more_sequences_than_slots,
    what_is_not_a_number_stays_in_its_sequence, ids_that_are_strings, ids_that_are_large, refusals,
]


def steps_sent_at_once_over_one_stream(places):
    stream = Stream(places)
    for model in SUMS:
        for index in range(50):
            for sequence_id in (1, 2):
                stream.send(model, sequence_id, **flags(sequence_id, index == 0, index == 49))
        results = np.reshape([stream.receive().item() for _ in range(100)], [50, 2]).T
        np.testing.assert_array_equal(results, [sums(model, sequence_id, [sequence_id] * 50) for sequence_id in (1, 2)])
    stream.close()


def one_sequence_over_every_way(places):
    clients = [connect(places) for connect in WAYS.values()]
    for model in SUMS:
        steps = [client.infer(model, 3, **flags(9, index == 0, index == 2)) for index, client in enumerate(clients)]
        np.testing.assert_array_equal([step.item() for step in steps], sums(model, 9, [3, 3, 3]))
    for client in clients:
        client.close()


def models_that_cannot_be_served(places):
    client = http.InferenceServerClient(places["http"])
    assert client.is_server_live()
    index = {model["name"]: model for model in client.get_model_repository_index()}
    for model, fragment in (("bad_corrid", "TYPE_STRING for control"), ("bad_state", "TYPE_STRING for state")):
        assert not client.is_model_ready(model)
        assert fragment in index[model]["reason"], index[model]
        refused(INVALID + ("404",), model, lambda: client.infer(model, cell(http, 1), **flags(1, start=True)))
    assert client.is_model_ready("package_direct")
    client.close()


def sequences_that_go_on_while_the_server_stops(places):
    clients = [connect(places) for connect in WAYS.values()]
    for index, client in enumerate(clients):
        client.infer("module_direct", 1, **flags(index + 1, start=True))
    os.kill(int(places["pid"]), signal.SIGTERM)
    for index, client in enumerate(clients):
        wait_until_refused(client)
        for total, end in ((2, False), (3, True)):
            assert client.infer("module_direct", 1, **flags(index + 1, end=end)).item() == total
    for client in clients:
        client.close()


def wait_until_refused(client):
    """Begins sequences until the server takes no more."""
    limit = time.monotonic() + TIMEOUT_S
    while time.monotonic() < limit:
        try:
            client.infer("module_oldest", 1, **flags(99, start=True, end=True))
        except InferenceServerException as error:
            assert "stopped accepting new inference requests" in error.message(), error
            return
    raise AssertionError("the server still begins sequences")


MIXED = [
    steps_sent_at_once_over_one_stream, one_sequence_over_every_way, models_that_cannot_be_served,
    sequences_that_go_on_while_the_server_stops,
]


def report(name, check, *args):
    line = {"name": name}
    try:
        check(*args)
    except Exception:
        line["error"] = traceback.format_exc()
    print(json.dumps(line), flush=True)


def main(http_place, grpc_place, pid):
    places = {"http": http_place, "grpc": grpc_place, "pid": pid}
    for check in CHECKS:
        for way, client in WAYS.items():
            report(f"{check.__name__.replace('_', ' ')} over {way}", check, lambda: client(places))
    for check in MIXED:
        report(check.__name__.replace("_", " "), check, places)


if __name__ == "__main__":
    main(*sys.argv[1:])
