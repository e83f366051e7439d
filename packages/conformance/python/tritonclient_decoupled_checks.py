"""Checks of decoupled models with the real Python clients. Each function is one check and raises when it does not hold.

usage: python tritonclient_decoupled_checks.py HTTP_HOST:PORT GRPC_HOST:PORT        (prints one JSON line per check: name, and error when it failed)
"""
import asyncio
import json
import queue
import sys
import threading
import traceback
import urllib.request

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.grpc.aio as grpc_aio
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

# Host and port by protocol.
PLACES = {}


def repeat_inputs(values, delay=0, library=grpc):
    tensors = []
    for name, array in (("IN", np.array(values, np.int32)), ("DELAY", np.array([delay], np.int32))):
        tensor = library.InferInput(name, list(array.shape), "INT32")
        tensor.set_data_from_numpy(array)
        tensors.append(tensor)
    return tensors


def start_input(start):
    tensor = grpc.InferInput("START", [1, 1], "INT32")
    tensor.set_data_from_numpy(np.array([[start]], np.int32))
    return [tensor]


class Stream:
    """A stream with what comes back, as (id, values by output or error text, whether it is final)."""

    def __init__(self, client):
        self.client = client
        self.answers = queue.Queue()
        client.start_stream(lambda result, error: self.answers.put((result, error)))

    def send(self, request_id, values, delay=0, wants_end=True):
        self.client.async_stream_infer(
            "repeat", repeat_inputs(values, delay), request_id=request_id, enable_empty_final_response=wants_end
        )

    def next(self):
        result, error = self.answers.get(timeout=20)
        if error is not None:
            return None, error.message(), True
        response = result.get_response()
        values = {output.name: result.as_numpy(output.name).tolist() for output in response.outputs}
        return response.id, values, response.parameters["triton_final_response"].bool_param

    def until_final(self, count):
        """Answers until so many requests are over."""
        seen = []
        while sum(final for _, _, final in seen) < count:
            seen.append(self.next())
        return seen

    def close(self):
        self.client.stop_stream()


def part(request_id, value, index):
    return request_id, {"OUT": [value], "IDX": [index]}, False


def end(request_id):
    return request_id, {}, True


def many_one_and_no_responses(client, web):
    stream = Stream(client)
    stream.send("many", [5, 6, 7])
    assert stream.until_final(1) == [part("many", 5, 0), part("many", 6, 1), part("many", 7, 2), end("many")]
    stream.send("one", [9])
    assert stream.until_final(1) == [part("one", 9, 0), end("one")]
    stream.send("none", [])
    assert stream.until_final(1) == [end("none")]
    stream.close()


def the_bare_end_only_when_it_is_wanted(client, web):
    stream = Stream(client)
    stream.send("quiet", [1, 2], wants_end=False)
    stream.send("silent", [], wants_end=False)
    assert [stream.next(), stream.next()] == [part("quiet", 1, 0), part("quiet", 2, 1)]
    stream.close()
    assert stream.answers.empty()


def responses_of_requests_interleave(client, web):
    stream = Stream(client)
    stream.send("slow", [1, 2, 3], delay=150)
    stream.send("quick", [4, 5, 6], delay=5)
    seen = stream.until_final(2)
    assert [answer for answer in seen if answer[0] == "slow"] == [part("slow", 1, 0), part("slow", 2, 1), part("slow", 3, 2), end("slow")]
    assert [answer for answer in seen if answer[0] == "quick"] == [part("quick", 4, 0), part("quick", 5, 1), part("quick", 6, 2), end("quick")]
    assert seen.index(end("quick")) < seen.index(part("slow", 2, 1)), seen
    stream.close()


def a_failure_after_some_responses(client, web):
    stream = Stream(client)
    stream.send("breaks", [1, -1, 2])
    first, (_, message, _) = stream.until_final(1)
    assert first == part("breaks", 1, 0) and "value 1 is negative" in message, message
    stream.send("next", [3])
    assert stream.until_final(1) == [part("next", 3, 0), end("next")]
    stream.close()


def calls_with_one_answer_are_refused(client, web):
    for call, status in (
        (lambda: client.infer("repeat", repeat_inputs([1])), "StatusCode.UNIMPLEMENTED"),
        (lambda: web.infer("repeat", repeat_inputs([1], library=http)), "501"),
    ):
        try:
            call()
        except InferenceServerException as error:
            assert "doesn't support models with decoupled transaction policy" in error.message(), error.message()
            assert error.status() == status, error.status()
        else:
            raise AssertionError(f"expected a refusal with {status}")


def many_streams_at_once(client, web):
    failures = []

    def one(index):
        own = grpc.InferenceServerClient(PLACES["grpc"])
        try:
            stream = Stream(own)
            values = list(range(index, index + 10))
            stream.send(str(index), values)
            assert stream.until_final(1) == [part(str(index), value, at) for at, value in enumerate(values)] + [end(str(index))]
            stream.close()
        except Exception:
            failures.append(traceback.format_exc())
        finally:
            own.close()

    threads = [threading.Thread(target=one, args=(index,)) for index in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def batches_give_each_request_its_rows(client, web):
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    for start in range(0, 80, 10):
        client.async_stream_infer("tokens", start_input(start), request_id=str(start))
    seen = {}
    for _ in range(8 * 4):
        result, error = answers.get(timeout=20)
        assert error is None, error
        seen.setdefault(result.get_response().id, []).append(result.as_numpy("TOKEN").tolist())
    client.stop_stream()
    assert seen == {str(start): [[[start + step]] for step in range(4)] for start in range(0, 80, 10)}, seen
    row = client.get_inference_statistics("tokens").model_stats[0]
    assert row.inference_count == 8 and row.execution_count < 8, row


def a_client_that_goes_away_stops_the_model(client, web):
    async def run():
        async with grpc_aio.InferenceServerClient(PLACES["grpc"]) as mine:

            async def requests():
                yield {"model_name": "repeat", "inputs": repeat_inputs([1] * 5000, delay=20), "request_id": "gone"}

            stream = mine.stream_infer(requests())
            async for result, error in stream:
                assert error is None, error
                break
            stream.cancel()

    before = failures_of(client)
    asyncio.run(run())
    for _ in range(100):
        if failures_of(client) == before + 1:
            break
        threading.Event().wait(0.05)
    assert failures_of(client) == before + 1


def failures_of(client):
    return client.get_inference_statistics("repeat").model_stats[0].inference_stats.fail.count


def statistics_by_position_over_both_protocols(client, web):
    def counts():
        stats = web.get_inference_statistics("repeat")["model_stats"][0]["response_stats"]
        return {key: {name: pair["count"] for name, pair in row.items()} for key, row in stats.items()}

    before = counts()
    stream = Stream(client)
    stream.send("a", [1, 2])
    stream.send("b", [1, -1])
    stream.until_final(2)
    stream.close()
    after = counts()
    grown = {key: {name: count - before.get(key, {}).get(name, 0) for name, count in row.items()} for key, row in after.items()}
    nothing = {"compute_infer": 0, "compute_output": 0, "success": 0, "fail": 0, "empty_response": 0, "cancel": 0}
    assert grown["0"] == nothing | {"compute_infer": 2, "compute_output": 2, "success": 2}, grown
    assert grown["1"] == nothing | {"compute_infer": 2, "compute_output": 1, "success": 1, "fail": 1}, grown
    assert grown["2"] == nothing | {"empty_response": 1}, grown
    over_grpc = client.get_inference_statistics("repeat").model_stats[0].response_stats
    assert over_grpc["0"].success.count == after["0"]["success"] and over_grpc["0"].success.ns > 0


def server_sent_events(client, web):
    body = json.dumps({"IN": [3, 4], "DELAY": 0}).encode()
    request = urllib.request.Request(f"http://{PLACES['http']}/v2/models/repeat/generate_stream", data=body, method="POST")
    with urllib.request.urlopen(request, timeout=20) as response:
        events = [json.loads(line[6:]) for line in response.read().decode().splitlines() if line.startswith("data: ")]
    assert [(event["OUT"], event["IDX"]) for event in events] == [(3, 0), (4, 1)], events


CHECKS = [
    many_one_and_no_responses, the_bare_end_only_when_it_is_wanted, responses_of_requests_interleave, a_failure_after_some_responses,
    calls_with_one_answer_are_refused, many_streams_at_once, batches_give_each_request_its_rows, a_client_that_goes_away_stops_the_model,
    statistics_by_position_over_both_protocols, server_sent_events,
]


def main(web_place, place):
    PLACES.update(http=web_place, grpc=place)
    client = grpc.InferenceServerClient(place)
    web = http.InferenceServerClient(web_place)
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(client, web)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)
    web.close()
    client.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
