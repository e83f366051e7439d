"""Checks of a running server with the real Python client over gRPC. Each function is one check and raises when it does not hold.

usage: python tritonclient_grpc_checks.py HOST:PORT        (prints one JSON line per check: name, and error when it failed)
"""
import asyncio
import concurrent.futures
import json
import queue
import sys
import traceback

import ml_dtypes
import numpy as np
import tritonclient.grpc as grpc
import tritonclient.grpc.aio as grpc_aio
from tritonclient.utils import InferenceServerException

TYPES = {
    "bool": ("BOOL", np.array([True, False, True])),
    "uint8": ("UINT8", np.array([0, 1, 255], np.uint8)),
    "uint16": ("UINT16", np.array([0, 1, 2**16 - 1], np.uint16)),
    "uint32": ("UINT32", np.array([0, 1, 2**32 - 1], np.uint32)),
    "uint64": ("UINT64", np.array([0, 2**53 + 1, 2**64 - 1], np.uint64)),
    "int8": ("INT8", np.array([-128, 0, 127], np.int8)),
    "int16": ("INT16", np.array([-32768, 1, 32767], np.int16)),
    "int32": ("INT32", np.array([-(2**31), 0, 2**31 - 1], np.int32)),
    "int64": ("INT64", np.array([-(2**63), 2**53 + 1, 2**63 - 1], np.int64)),
    "fp16": ("FP16", np.array([0.5, -2.0, 65504.0], np.float16)),
    "fp32": ("FP32", np.array([0.5, -2.25, 3e38], np.float32)),
    "fp64": ("FP64", np.array([0.1, -1e300, 5e-324], np.float64)),
}


def tensor(name, datatype, values):
    result = grpc.InferInput(name, list(values.shape), datatype)
    result.set_data_from_numpy(values)
    return result


def add_sub_inputs(count=1):
    rows = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    return [tensor("a", "FP32", rows), tensor("b", "FP32", np.ones((count, 3), np.float32))]


def refused(code, fragment, call):
    """The call must fail with this status and a message that holds the fragment."""
    try:
        call()
    except InferenceServerException as error:
        assert error.status() == f"StatusCode.{code}", f"expected {code}, got {error.status()}: {error.message()}"
        assert fragment in error.message(), f"expected {fragment!r} in {error.message()!r}"
        return
    raise AssertionError(f"expected a refusal with {code}")


def health_and_metadata(client, place):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("addsub") and client.is_model_ready("addsub", "1")
    assert not client.is_model_ready("nosuch")
    assert client.get_server_metadata().name == "nereid"
    metadata = client.get_model_metadata("addsub", as_json=True)
    assert metadata["inputs"][0] == {"name": "a", "datatype": "FP32", "shape": ["-1", "3"]}, metadata
    assert metadata["versions"] == ["1", "3"]


def configuration(client, place):
    config = client.get_model_config("addsub").config
    assert (config.name, config.max_batch_size, list(config.input[0].dims)) == ("addsub", 4, [3])
    assert config.instance_group[0].count == 1


def every_datatype(client, place):
    for name, (datatype, values) in TYPES.items():
        result = client.infer(f"id_{name}", [tensor("x", datatype, values)])
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)


def brain_floats(client, place):
    values = np.array([0.5, -2.0, 3e38], ml_dtypes.bfloat16)
    result = client.infer("id_bf16", [tensor("x", "BF16", values)])
    np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)


def strings(client, place):
    words = np.array(["héllo", "", "a\0b"], dtype=object)
    result = client.infer("id_bytes", [tensor("words", "BYTES", words)])
    assert [word.decode() for word in result.as_numpy("OUTPUT__0")] == list(words)


def id_outputs_and_parameters(client, place):
    outputs = [grpc.InferRequestedOutput("OUTPUT__1")]
    result = client.infer(
        "addsub", add_sub_inputs(2), outputs=outputs, request_id="r1", model_version="1", priority=1, parameters={"mine": 2}
    )
    response = result.get_response()
    assert (response.id, response.model_version, [o.name for o in response.outputs]) == ("r1", "1", ["OUTPUT__1"])
    assert result.as_numpy("OUTPUT__0") is None
    np.testing.assert_array_equal(result.as_numpy("OUTPUT__1"), np.arange(6, dtype=np.float32).reshape(2, 3) - 1)


def refusals(client, place):
    refused("NOT_FOUND", "nosuch", lambda: client.infer("nosuch", add_sub_inputs()))
    refused("NOT_FOUND", "version 2", lambda: client.infer("addsub", add_sub_inputs(), model_version="2"))
    refused("INVALID_ARGUMENT", "batch-size", lambda: client.infer("addsub", add_sub_inputs(5)))
    refused("INVALID_ARGUMENT", "expected 2 inputs", lambda: client.infer("addsub", add_sub_inputs()[:1]))
    wrong = [tensor("a", "FP32", np.ones((1, 4), np.float32)), add_sub_inputs()[1]]
    refused("INVALID_ARGUMENT", "[-1,3]", lambda: client.infer("addsub", wrong))
    integers = [tensor("a", "INT32", np.ones((1, 3), np.int32)), add_sub_inputs()[1]]
    refused("INVALID_ARGUMENT", "INT32", lambda: client.infer("addsub", integers))
    negative = [tensor("x", "FP32", np.array([[-1, 0]], np.float32))]
    refused("INTERNAL", "negative", lambda: client.infer("picky", negative))
    refused("UNAVAILABLE", "not allowed", lambda: client.load_model("addsub"))


def large_tensors(client, place):
    values = np.arange(4_000_000, dtype=np.float32)
    result = client.infer("id_fp32", [tensor("x", "FP32", values)])
    np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)


def compression(client, place):
    for algorithm in ("gzip", "deflate"):
        result = client.infer("addsub", add_sub_inputs(), compression_algorithm=algorithm)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), [[1, 2, 3]])


def asynchronous_calls(client, place):
    answers = queue.Queue()
    client.async_infer("addsub", add_sub_inputs(), callback=lambda result, error: answers.put((result, error)))
    result, error = answers.get(timeout=20)
    assert error is None and result.as_numpy("OUTPUT__0") is not None


def sixty_four_clients(client, place):
    def one(index):
        with grpc.InferenceServerClient(place) as mine:
            values = np.full((1, 3), index, np.float32)
            inputs = [tensor("a", "FP32", values), tensor("b", "FP32", np.ones((1, 3), np.float32))]
            for _ in range(5):
                np.testing.assert_array_equal(mine.infer("addsub", inputs).as_numpy("OUTPUT__0"), values + 1)

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        list(pool.map(one, range(64)))


def streams(client, place):
    answers = queue.Queue()
    with grpc.InferenceServerClient(place) as mine:
        mine.start_stream(callback=lambda result, error: answers.put((result, error)))
        for index in range(100):
            mine.async_stream_infer("addsub", add_sub_inputs(), request_id=str(index))
        mine.async_stream_infer("nosuch", add_sub_inputs(), request_id="bad")
        mine.async_stream_infer("addsub", add_sub_inputs(), request_id="last")
        ids = []
        for _ in range(100):
            result, error = answers.get(timeout=20)
            assert error is None, error
            ids.append(result.get_response().id)
            assert result.get_response().parameters["triton_final_response"].bool_param
        assert ids == [str(index) for index in range(100)], ids
        _, error = answers.get(timeout=20)
        assert "nosuch" in error.message()
        result, error = answers.get(timeout=20)
        assert error is None and result.get_response().id == "last"
        mine.stop_stream()


def streams_that_end_with_their_first_error(client, place):
    answers = queue.Queue()
    with grpc.InferenceServerClient(place) as mine:
        mine.start_stream(
            callback=lambda result, error: answers.put((result, error)), headers={"triton_grpc_error": "true"}
        )
        mine.async_stream_infer("nosuch", add_sub_inputs())
        _, error = answers.get(timeout=20)
        assert error.status() == "StatusCode.NOT_FOUND", error
        mine.stop_stream()


def classification(client, place):
    values = np.array([[0.25, 4, -1, 2], [1, 1, 3, 0]], np.float32)
    outputs = [grpc.InferRequestedOutput("OUTPUT__0", class_count=2)]
    result = client.infer("classes", [tensor("x", "FP32", values)], outputs=outputs).as_numpy("OUTPUT__0")
    assert result.tolist() == [[b"4.000000:1:dog", b"2.000000:3:owl"], [b"3.000000:2:fox", b"1.000000:0:cat"]], result
    bits = [tensor("x", "BOOL", np.array([True]))]
    refused("INVALID_ARGUMENT", "class result not available", lambda: client.infer("id_bool", bits, outputs=outputs))


def statistics_and_index(client, place):
    before = client.get_inference_statistics("addsub", "3").model_stats[0]
    client.infer("addsub", add_sub_inputs(2))
    after = client.get_inference_statistics("addsub", "3").model_stats[0]
    assert after.inference_count - before.inference_count == 2
    assert after.inference_stats.success.count - before.inference_stats.success.count == 1
    names = {model.name for model in client.get_model_repository_index().models}
    assert {"addsub", "id_fp32"} <= names


def asyncio_client(client, place):
    async def run():
        async with grpc_aio.InferenceServerClient(place) as mine:
            assert await mine.is_server_ready()
            results = await asyncio.gather(*[mine.infer("addsub", add_sub_inputs()) for _ in range(16)])
            for result in results:
                np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), [[1, 2, 3]])

            async def requests():
                for index in range(3):
                    yield {"model_name": "addsub", "inputs": add_sub_inputs(), "request_id": str(index)}

            ids = []
            async for result, error in mine.stream_infer(requests()):
                assert error is None, error
                ids.append(result.get_response().id)
            assert ids == ["0", "1", "2"], ids

    asyncio.run(run())


CHECKS = [
    health_and_metadata, configuration, every_datatype, brain_floats, strings, id_outputs_and_parameters, refusals, large_tensors, compression,
    asynchronous_calls, sixty_four_clients, streams, streams_that_end_with_their_first_error, classification, statistics_and_index, asyncio_client,
]


def main(place):
    client = grpc.InferenceServerClient(place)
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(client, place)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)
    client.close()


if __name__ == "__main__":
    main(sys.argv[1])
