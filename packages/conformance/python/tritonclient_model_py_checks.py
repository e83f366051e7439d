"""Checks of what a model.py is told of its requests, with the real Python clients. Each function is one check and raises when it does not hold.

usage: python tritonclient_model_py_checks.py HTTP_HOST:PORT GRPC_HOST:PORT        (prints one JSON line per check: name, and error when it failed)
"""
import json
import queue
import sys
import traceback
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.http as http

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


CHECKS = [
    parameters_id_and_headers_over_http,
    parameters_id_and_metadata_over_grpc,
    correlation_id_over_a_stream,
    parameters_of_generate_and_generate_stream,
    each_request_of_a_batch_has_its_own,
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
