"""Checks of traces and their settings with the real Python clients. Each function is one check and raises when it does not hold.

usage: python tritonclient_trace_checks.py HTTP_HOST:PORT GRPC_HOST:PORT TRACE_FILE        (prints one JSON line per check: name, and error when it failed)

The server writes one file for each trace: TRACE_FILE.0, TRACE_FILE.1 …
"""
import json
import os
import queue
import sys
import threading
import traceback

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

START = {"trace_level": ["OFF"], "trace_rate": ["1000"], "trace_count": ["-1"], "log_frequency": ["1"]}
ON = {"trace_level": ["TIMESTAMPS"], "trace_rate": "1", "trace_count": "3"}
UNSET = {"trace_level": None, "trace_rate": None, "trace_count": None, "log_frequency": None}


class Server:
    def __init__(self, web_place, place, file):
        self.web = http.InferenceServerClient(web_place)
        self.client = grpc.InferenceServerClient(place)
        self.file = file
        self.read = 0

    def settings(self, model=None):
        """As both protocols tell them, which must be the same."""
        over_http = self.web.get_trace_settings(model)
        over_grpc = self.client.get_trace_settings(model, as_json=True)["settings"]
        told = {name: value if isinstance(value, list) else [value] for name, value in over_http.items()}
        assert told == {name: setting["value"] for name, setting in over_grpc.items()}, (over_http, over_grpc)
        return {name: told[name] for name in START}

    def next_trace(self):
        """Model and names of the next trace that was written, in their order."""
        path = f"{self.file}.{self.read}"
        for _ in range(200):
            if os.path.exists(path) and os.path.getsize(path) > 0:
                break
            threading.Event().wait(0.02)
        with open(path) as file:
            elements = json.load(file)
        self.read += 1
        return elements[0]["model_name"], [mark["name"] for element in elements for mark in element.get("timestamps", [])]

    @property
    def written(self):
        return sum(name.startswith(os.path.basename(self.file) + ".") for name in os.listdir(os.path.dirname(self.file)))


def inputs_of(library):
    tensors = []
    for name in "ab":
        tensor = library.InferInput(name, [1, 3], "FP32")
        tensor.set_data_from_numpy(np.ones((1, 3), np.float32))
        tensors.append(tensor)
    return tensors


def marks(received, sent):
    core = "REQUEST_START QUEUE_START COMPUTE_START COMPUTE_INPUT_END COMPUTE_OUTPUT_START COMPUTE_END INFER_RESPONSE_COMPLETE REQUEST_END"
    return [f"{received}_START", f"{received}_END", *core.split(), f"{sent}_START", f"{sent}_END"]


OVER_HTTP, OVER_GRPC = marks("HTTP_RECV", "HTTP_SEND"), marks("GRPC_WAITREAD", "GRPC_SEND")


def the_settings_of_the_start(server):
    assert server.settings() == START
    assert server.settings("addsub") == START


def a_model_has_settings_of_its_own_until_null(server):
    changed = START | {"trace_level": ["TIMESTAMPS"], "trace_rate": ["1"], "trace_count": ["3"]}
    told = server.web.update_trace_settings("addsub", ON)
    assert told["trace_count"] == "3", told
    assert (server.settings("addsub"), server.settings()) == (changed, START)
    # What it has none of its own for follows the global setting.
    server.client.update_trace_settings(settings={"log_frequency": "5"})
    assert server.settings("addsub") == changed | {"log_frequency": ["5"]}
    told = server.client.update_trace_settings("addsub", {"trace_rate": None}, as_json=True)["settings"]
    assert told["trace_rate"]["value"] == ["1000"], told
    server.web.update_trace_settings(settings={"log_frequency": None})
    server.client.update_trace_settings("addsub", UNSET)
    assert (server.settings("addsub"), server.settings()) == (START, START)


def as_many_traces_as_asked_for_over_both_protocols(server):
    server.client.update_trace_settings("addsub", ON | {"trace_count": "2"})
    server.web.infer("addsub", inputs_of(http))
    server.client.infer("addsub", inputs_of(grpc))
    for _ in range(3):
        server.client.infer("addsub", inputs_of(grpc))
    assert [server.next_trace(), server.next_trace()] == [("addsub", OVER_HTTP), ("addsub", OVER_GRPC)]
    assert server.settings("addsub")["trace_count"] == ["0"]
    assert server.written == server.read, server.written
    server.web.update_trace_settings("addsub", UNSET)


def every_request_of_a_stream(server):
    server.web.update_trace_settings("addsub", ON)
    answers = queue.Queue()
    server.client.start_stream(lambda result, error: answers.put(error))
    for _ in range(3):
        server.client.async_stream_infer("addsub", inputs_of(grpc))
    assert [answers.get(timeout=20) for _ in range(3)] == [None] * 3
    server.client.stop_stream()
    assert [server.next_trace() for _ in range(3)] == [("addsub", OVER_GRPC)] * 3
    server.client.update_trace_settings("addsub", UNSET)


def what_cannot_be_is_refused(server):
    for change in ({"trace_rate": "x"}, {"trace_count": "-2"}, {"trace_level": ["OFF", "TENSORS"]}, {"trace_file": "elsewhere"}):
        for update in (server.web.update_trace_settings, server.client.update_trace_settings):
            try:
                update(settings=change)
            except InferenceServerException as error:
                assert next(iter(change)) in error.message() or "trace level" in error.message(), error.message()
            else:
                raise AssertionError(f"{change} was taken")
    for read in (server.web.get_trace_settings, server.client.get_trace_settings):
        try:
            read("nosuch")
        except InferenceServerException as error:
            assert "nosuch" in error.message(), error.message()
        else:
            raise AssertionError("settings of a model that is not there")
    assert server.settings() == START


CHECKS = [
    the_settings_of_the_start, a_model_has_settings_of_its_own_until_null, as_many_traces_as_asked_for_over_both_protocols,
    every_request_of_a_stream, what_cannot_be_is_refused,
]


def main(web_place, place, file):
    server = Server(web_place, place, file)
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(server)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)
    server.web.close()
    server.client.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
