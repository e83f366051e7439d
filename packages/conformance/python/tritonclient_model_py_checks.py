"""Checks of what a model.py is told of its requests, and of requests that run again and again, with the real Python clients. Each function is one check and raises when it does not hold.

usage: python tritonclient_model_py_checks.py HTTP_HOST:PORT GRPC_HOST:PORT MODEL_PY        (prints one JSON line per check: name, and error when it failed)

MODEL_PY is the file of the model `generator`, which is run here by itself to know what to expect.
"""
import asyncio
import importlib.util
import json
import queue
import sys
import threading
import traceback
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import tritonclient.grpc as grpc
import tritonclient.grpc.aio as grpc_aio
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

# Host and port by protocol.
PLACES = {}


def inputs_of(library, values):
    array = np.array(values, np.int32).reshape(-1, 1)
    tensor = library.InferInput("IN", list(array.shape), "INT32")
    tensor.set_data_from_numpy(array)
    return [tensor]


def told(result):
    """ID, SEQUENCE, TOP_K, TENANT and SCALED of each row."""
    columns = [result.as_numpy(name).reshape(-1).tolist() for name in ("ID", "SEQUENCE", "TOP_K", "TENANT", "SCALED")]
    return list(zip(*columns))


def parameters_id_and_headers_over_http(client, web):
    result = web.infer(
        "told", inputs_of(http, [3, 4]), request_id="17", headers={"x-tenant": "9"}, parameters={"top_k": 50, "scale": 0.5}
    )
    assert told(result) == [(17, 0, 50, 9, 1.5), (17, 0, 50, 9, 2.0)], told(result)


def parameters_id_and_metadata_over_grpc(client, web):
    result = client.infer(
        "told", inputs_of(grpc, [3, 4]), request_id="17", headers={"x-tenant": "9"}, parameters={"top_k": 50, "scale": 0.5}
    )
    assert told(result) == [(17, 0, 50, 9, 1.5), (17, 0, 50, 9, 2.0)], told(result)


def correlation_id_over_a_stream(client, web):
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)), headers={"x-tenant": "9"})
    client.async_stream_infer("told", inputs_of(grpc, [1]), request_id="1", sequence_id=77, parameters={"top_k": 2**40})
    result, error = answers.get(timeout=20)
    client.stop_stream()
    assert error is None, error
    assert told(result) == [(1, 77, 2**40, 9, 1.0)], told(result)


def parameters_of_generate_and_generate_stream(client, web):
    body = json.dumps({"IN": 4, "id": "17", "top_k": 50, "parameters": {"scale": 0.25}}).encode()
    expected = {"ID": 17, "SEQUENCE": 0, "TOP_K": 50, "TENANT": 0, "SCALED": 1.0}
    for call in ("generate", "generate_stream"):
        # Headers are not forwarded here.
        request = urllib.request.Request(f"http://{PLACES['http']}/v2/models/told/{call}", body, {"x-tenant": "9"})
        with urllib.request.urlopen(request, timeout=20) as response:
            text = response.read().decode()
        answer = json.loads(text.removeprefix("data:"))
        assert {name: answer[name] for name in expected} == expected, (call, answer)


def each_request_of_a_batch_has_its_own(client, web):
    def one(number):
        result = client.infer("told", inputs_of(grpc, [1]), request_id=str(number), parameters={"top_k": number})
        assert told(result) == [(number, 0, number, 0, 1.0)], (number, told(result))

    before = client.get_inference_statistics("told").model_stats[0]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(1, 65)))
    after = client.get_inference_statistics("told").model_stats[0]
    assert after.inference_count - before.inference_count == 64
    assert after.execution_count - before.execution_count < 64, after.execution_count


class Alone:
    """A request of the generator that nobody else runs with."""

    def __init__(self, count):
        self.rows = slice(0, 1)
        self.parameters = {"max_tokens": count}
        self.is_over = False

    def reschedule(self):
        self.is_over = False


def generated_alone(prompt, count):
    tokens = []
    request = Alone(count)
    states = (torch.tensor([[0]]), torch.zeros(1, 32, dtype=torch.float64), torch.tensor([[0]]))
    while not request.is_over:
        request.is_over = True
        with torch.inference_mode():
            states = PLACES["generator"](torch.tensor([[prompt]]), torch.tensor([[not tokens]]), *states, requests=[request])
        tokens.append(int(states[0]))
    return tokens


def column(library, name, value):
    tensor = library.InferInput(name, [1, 1], "INT64")
    tensor.set_data_from_numpy(np.array([[value]], np.int64))
    return [tensor]


def statistics_of(client, model):
    return client.get_inference_statistics(model).model_stats[0]


def until(condition):
    for _ in range(200):
        if condition():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it did not come about")


def tokens_are_those_of_the_model_alone_whoever_runs_with_it(client, web):
    asked = [(prompt, 1 + 5 * prompt % 23) for prompt in range(1, 41)]
    expected = {str(prompt): generated_alone(prompt, count) for prompt, count in asked}
    before = statistics_of(client, "generator")
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    for prompt, count in asked:
        client.async_stream_infer("generator", column(grpc, "PROMPT", prompt), request_id=str(prompt), parameters={"max_tokens": count})
    seen = {str(prompt): [] for prompt, _ in asked}
    over = set()
    while len(over) < len(asked):
        result, error = answers.get(timeout=30)
        assert error is None, error
        response = result.get_response()
        assert response.id not in over, response
        seen[response.id].append(int(result.as_numpy("TOKEN")[0, 0]))
        if response.parameters["triton_final_response"].bool_param:
            over.add(response.id)
    client.stop_stream()
    assert seen == expected, (seen, expected)
    total = sum(map(len, expected.values()))
    after = statistics_of(client, "generator")
    assert after.inference_count - before.inference_count == len(asked)
    assert after.execution_count - before.execution_count < total, (after.execution_count, total)


def tokens_as_server_sent_events(client, web):
    body = json.dumps({"PROMPT": 4, "max_tokens": 50}).encode()
    with urllib.request.urlopen(f"http://{PLACES['http']}/v2/models/generator/generate_stream", body, timeout=20) as response:
        events = [json.loads(line[5:]) for line in response.read().decode().splitlines() if line.startswith("data:")]
    assert [event["TOKEN"] for event in events] == generated_alone(4, 50), events


def the_turns_of_a_client_that_goes_away_end(client, web):
    async def run():
        async with grpc_aio.InferenceServerClient(PLACES["grpc"]) as mine:

            async def requests():
                yield {"model_name": "generator", "inputs": column(grpc, "PROMPT", 1), "parameters": {"max_tokens": 10**9}}

            stream = mine.stream_infer(requests())
            count = 0
            async for result, error in stream:
                assert error is None, error
                count += 1
                if count == 20:
                    break
            stream.cancel()

    before = statistics_of(client, "generator").inference_stats.fail.count
    asyncio.run(run())
    until(lambda: statistics_of(client, "generator").inference_stats.fail.count == before + 1)
    settled = statistics_of(client, "generator").execution_count
    threading.Event().wait(0.2)
    assert statistics_of(client, "generator").execution_count == settled


def turns_end_when_the_time_of_their_stream_is_up(client, web):
    before = statistics_of(client, "generator").inference_stats.fail.count
    answers = queue.Queue()
    own = grpc.InferenceServerClient(PLACES["grpc"])
    own.start_stream(lambda result, error: answers.put((result, error)), stream_timeout=0.5)
    own.async_stream_infer("generator", column(grpc, "PROMPT", 1), parameters={"max_tokens": 10**9})
    error = None
    while error is None:
        _, error = answers.get(timeout=20)
    assert "DEADLINE_EXCEEDED" in str(error.status()) or "Deadline" in error.message(), error
    own.close()
    until(lambda: statistics_of(client, "generator").inference_stats.fail.count == before + 1)


def steps_of(value):
    steps = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


def one_answer_after_many_turns_over_both_protocols(client, web):
    def one(value):
        over_http = http.InferenceServerClient(PLACES["http"])
        for result in (over_http.infer("collatz", column(http, "IN", value)), client.infer("collatz", column(grpc, "IN", value))):
            assert result.as_numpy("STEPS").tolist() == [[steps_of(value)]], (value, result.as_numpy("STEPS"))
        over_http.close()

    before = statistics_of(client, "collatz")
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(one, range(1, 37)))
    after = statistics_of(client, "collatz")
    assert after.inference_count - before.inference_count == 72
    turns = 2 * sum(max(1, steps_of(value)) for value in range(1, 37))
    assert after.execution_count - before.execution_count < turns, (after.execution_count, turns)


def a_long_request_does_not_hold_short_ones_back(client, web):
    order = queue.Queue()
    # 949 turns, in one of four slots.
    client.async_infer("collatz", column(grpc, "IN", 63728127), lambda result, error: order.put((949, error)))
    for _ in range(12):
        client.async_infer("collatz", column(grpc, "IN", 8), lambda result, error: order.put((3, error)))
    seen = [order.get(timeout=30) for _ in range(13)]
    assert all(error is None for _, error in seen), seen
    assert [turns for turns, _ in seen] == [3] * 12 + [949], seen


def a_request_that_gets_no_slot_times_out(client, web):
    order = queue.Queue()
    for _ in range(4):
        client.async_infer("collatz", column(grpc, "IN", 63728127), lambda result, error: order.put(error))
    until(lambda: statistics_of(client, "collatz").batch_stats[-1].batch_size == 4)
    try:
        client.infer("collatz", column(grpc, "IN", 8), timeout=10_000)
    except InferenceServerException as error:
        assert error.status() == "StatusCode.UNAVAILABLE", error
    else:
        raise AssertionError("expected a timeout")
    assert [order.get(timeout=30) for _ in range(4)] == [None] * 4


def statistics_count_a_request_once_with_the_times_of_all_its_turns(client, web):
    def counts():
        row = statistics_of(client, "collatz")
        return (
            row.inference_count,
            row.execution_count,
            row.inference_stats.compute_infer.ns,
            sum(batch.compute_infer.ns for batch in row.batch_stats),
        )

    before = counts()
    client.infer("collatz", column(grpc, "IN", 27))
    inferences, executions, charged, ran = (after - earlier for after, earlier in zip(counts(), before))
    assert (inferences, executions) == (1, steps_of(27)), (inferences, executions)
    assert charged == ran > 0, (charged, ran)


def a_turn_that_fails_ends_its_request(client, web):
    try:
        client.infer("collatz", column(grpc, "IN", -5))
    except InferenceServerException as error:
        assert "a negative value never comes to 1" in error.message(), error.message()
    else:
        raise AssertionError("expected a failure")
    assert client.infer("collatz", column(grpc, "IN", 8)).as_numpy("STEPS").tolist() == [[3]]


def a_sequence_id_of_the_client_is_kept(client, web):
    result = client.infer("collatz", column(grpc, "IN", 6), sequence_id=99, sequence_start=True, sequence_end=True)
    assert result.as_numpy("STEPS").tolist() == [[steps_of(6)]]


CHECKS = [
    tokens_are_those_of_the_model_alone_whoever_runs_with_it,
    tokens_as_server_sent_events,
    the_turns_of_a_client_that_goes_away_end,
    turns_end_when_the_time_of_their_stream_is_up,
    one_answer_after_many_turns_over_both_protocols,
    a_long_request_does_not_hold_short_ones_back,
    a_request_that_gets_no_slot_times_out,
    statistics_count_a_request_once_with_the_times_of_all_its_turns,
    a_turn_that_fails_ends_its_request,
    a_sequence_id_of_the_client_is_kept,
    parameters_id_and_headers_over_http,
    parameters_id_and_metadata_over_grpc,
    correlation_id_over_a_stream,
    parameters_of_generate_and_generate_stream,
    each_request_of_a_batch_has_its_own,
]


def load_generator(path):
    spec = importlib.util.spec_from_file_location("generator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Generator().eval()


def main(web_place, place, generator):
    PLACES.update(http=web_place, grpc=place, generator=load_generator(generator))
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
    main(*sys.argv[1:4])
