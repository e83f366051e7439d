"""Checks of a running server with the real Python client. Each function is one check and raises when it does not hold.

usage: python tritonclient_checks.py HOST:PORT        (prints one JSON line per check: name, and error when it failed)
"""
import concurrent.futures
import gzip
import json
import sys
import traceback
import urllib.error
import urllib.request

import ml_dtypes
import numpy as np
import tritonclient.http as http
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


def tensor(name, datatype, values, binary=True):
    result = http.InferInput(name, list(values.shape), datatype)
    result.set_data_from_numpy(values, binary_data=binary)
    return result


def rows(count, columns=3):
    return np.arange(count * columns, dtype=np.float32).reshape(count, columns)


def add_sub_inputs(count=1, binary=True):
    return [tensor("a", "FP32", rows(count), binary), tensor("b", "FP32", np.ones((count, 3), np.float32), binary)]


def refused(client, status, *fragments, **call):
    """The call must fail with this HTTP status and a message that holds every fragment."""
    try:
        client.infer(**call)
    except InferenceServerException as error:
        message = error.message()
        assert error.status() in (None, str(status)), f"expected status {status}, got {error.status()}: {message}"
        for fragment in fragments:
            assert fragment in message, f"expected {fragment!r} in {message!r}"
        return
    raise AssertionError(f"expected a refusal with status {status}")


def post(client_url, path, body, headers):
    """A request that the client library would not send. Answers (status, JSON)."""
    request = urllib.request.Request(f"http://{client_url}{path}", data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def health_and_server_metadata(client, url):
    assert client.is_server_live() and client.is_server_ready()
    metadata = client.get_server_metadata()
    assert metadata["name"] and metadata["version"] and "binary_tensor_data" in metadata["extensions"], metadata


def model_metadata(client, url):
    metadata = client.get_model_metadata("addsub")
    assert metadata["versions"] == ["1", "3"] and metadata["platform"] == "pytorch_libtorch", metadata
    assert metadata["inputs"][0] == {"name": "a", "datatype": "FP32", "shape": [-1, 3]}, metadata
    assert client.get_model_metadata("addsub", "1")["versions"] == ["1"]
    assert client.is_model_ready("addsub") and client.is_model_ready("addsub", "3") and not client.is_model_ready("addsub", "2")


def model_config(client, url):
    config = client.get_model_config("addsub")
    assert config["max_batch_size"] == 4 and config["input"][0]["dims"] == [3], config


def repository_index(client, url):
    index = client.get_model_repository_index()
    assert {"name": "addsub", "version": "3", "state": "READY"} in [{k: row[k] for k in ("name", "version", "state")} for row in index], index


def every_datatype_binary(client, url):
    for model, (datatype, values) in TYPES.items():
        result = client.infer(f"id_{model}", [tensor("x", datatype, values)], outputs=[http.InferRequestedOutput("OUTPUT__0", binary_data=True)])
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)
        assert result.get_output("OUTPUT__0")["datatype"] == datatype


def every_datatype_json(client, url):
    for model, (datatype, values) in TYPES.items():
        if datatype == "FP16":
            continue
        result = client.infer(f"id_{model}", [tensor("x", datatype, values, binary=False)], outputs=[http.InferRequestedOutput("OUTPUT__0", binary_data=False)])
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)


def bfloat16(client, url):
    values = np.array([0.5, -2.0, 3.0e38], ml_dtypes.bfloat16)
    result = client.infer("id_bf16", [tensor("x", "BF16", values)], outputs=[http.InferRequestedOutput("OUTPUT__0", binary_data=True)])
    np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)
    assert result.get_output("OUTPUT__0")["datatype"] == "BF16"


def strings(client, url):
    values = np.array(["", "héllo", "a\0b"], dtype=object)
    for binary in (True, False):
        outputs = [http.InferRequestedOutput("OUTPUT__0", binary_data=binary)]
        result = client.infer("id_bytes", [tensor("words", "BYTES", values, binary)], outputs=outputs).as_numpy("OUTPUT__0")
        decoded = [item.decode() if isinstance(item, bytes) else item for item in result]
        assert decoded == list(values), decoded


def not_a_number_and_infinity(client, url):
    values = np.array([np.nan, np.inf, -np.inf], np.float32)
    for binary in (True, False):
        outputs = [http.InferRequestedOutput("OUTPUT__0", binary_data=binary)]
        np.testing.assert_array_equal(client.infer("id_fp32", [tensor("x", "FP32", values, binary)], outputs=outputs).as_numpy("OUTPUT__0"), values)


def batches(client, url):
    for count in (1, 2, 4):
        result = client.infer("addsub", add_sub_inputs(count))
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), rows(count) + 1)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__1"), rows(count) - 1)


def versions_ids_and_requested_outputs(client, url):
    result = client.infer("addsub", add_sub_inputs(), model_version="1", request_id="r-7", outputs=[http.InferRequestedOutput("OUTPUT__1")])
    response = result.get_response()
    assert response["id"] == "r-7" and response["model_version"] == "1" and [o["name"] for o in response["outputs"]] == ["OUTPUT__1"], response


def compression(client, url):
    for algorithm in ("gzip", "deflate"):
        result = client.infer("addsub", add_sub_inputs(2), request_compression_algorithm=algorithm, response_compression_algorithm=algorithm)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), rows(2) + 1)


def statistics(client, url):
    before = client.get_inference_statistics("image")["model_stats"][0]
    for _ in range(3):
        client.infer("image", [tensor("x", "FP32", np.zeros((2, 2, 5), np.float32))])
    after = client.get_inference_statistics("image")["model_stats"][0]
    assert after["inference_count"] - before["inference_count"] == 6, after
    assert after["execution_count"] - before["execution_count"] == 3, after
    stats, old = after["inference_stats"], before["inference_stats"]
    for kind in ("success", "queue", "compute_input", "compute_infer", "compute_output"):
        assert stats[kind]["count"] - old[kind]["count"] == 3, (kind, after)
    assert any(entry["batch_size"] == 2 for entry in after["batch_stats"]), after


def wrong_input_name(client, url):
    inputs = [add_sub_inputs()[0], tensor("z", "FP32", rows(1))]
    refused(client, 400, "'z'", "addsub", model_name="addsub", inputs=inputs)


def wrong_output_name(client, url):
    refused(client, 400, "'nosuch'", "addsub", model_name="addsub", inputs=add_sub_inputs(), outputs=[http.InferRequestedOutput("nosuch")])


def wrong_datatype(client, url):
    inputs = [add_sub_inputs()[0], tensor("b", "INT32", np.zeros((1, 3), np.int32))]
    refused(client, 400, "'b'", "INT32", "FP32", model_name="addsub", inputs=inputs)


def wrong_shape(client, url):
    inputs = [add_sub_inputs()[0], tensor("b", "FP32", rows(1, 4))]
    refused(client, 400, "'b'", "[1,4]", "[-1,3]", model_name="addsub", inputs=inputs)


def too_large_a_batch(client, url):
    refused(client, 400, "4", model_name="addsub", inputs=add_sub_inputs(5))


def missing_input(client, url):
    refused(client, 400, "2", "1", model_name="addsub", inputs=add_sub_inputs()[:1])


def unknown_model(client, url):
    refused(client, 404, "'nosuch'", model_name="nosuch", inputs=add_sub_inputs())


def unknown_version(client, url):
    refused(client, 404, "version 2", model_name="addsub", model_version="2", inputs=add_sub_inputs())


def model_failure_and_recovery(client, url):
    refused(client, 500, "negative", model_name="picky", inputs=[tensor("x", "FP32", np.full((1, 2), -1, np.float32))])
    client.infer("picky", [tensor("x", "FP32", np.ones((1, 2), np.float32))])


def empty_body(client, url):
    status, answer = post(url, "/v2/models/addsub/infer", b"", {})
    assert status == 400 and answer["error"], (status, answer)


def wrong_byte_size(client, url):
    header = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [3], "parameters": {"binary_data_size": 8}}]}
    text = json.dumps(header).encode()
    status, answer = post(url, "/v2/models/id_fp32/infer", text + bytes(8), {"Inference-Header-Content-Length": str(len(text))})
    assert status == 400 and "'x'" in answer["error"] and "12" in answer["error"] and "8" in answer["error"], (status, answer)


def lying_header_length(client, url):
    header = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "parameters": {"binary_data_size": 4}}]}).encode()
    for lie in ("100000", "-1", "5", "x", str(len(header) + 3)):
        status, answer = post(url, "/v2/models/id_fp32/infer", header + bytes(4), {"Inference-Header-Content-Length": lie})
        assert status == 400 and answer["error"], (lie, status, answer)


def broken_compression(client, url):
    status, answer = post(url, "/v2/models/addsub/infer", gzip.compress(b"{}")[:-6], {"Content-Encoding": "gzip"})
    assert status == 400 and answer["error"], (status, answer)


def classification(client, url):
    def classes(count, values, binary, model="classes"):
        output = http.InferRequestedOutput("OUTPUT__0", binary_data=binary, class_count=count)
        result = client.infer(model, [tensor("x", "FP32", values)], outputs=[output]).as_numpy("OUTPUT__0")
        return [[item.decode() if isinstance(item, bytes) else item for item in row] for row in np.atleast_2d(result)]

    values = np.array([[0.25, 4, -1, 2], [1, 1, 3, 0]], np.float32)
    for binary in (True, False):
        assert classes(2, values, binary) == [["4.000000:1:dog", "2.000000:3:owl"], ["3.000000:2:fox", "1.000000:0:cat"]]
        assert [len(row) for row in classes(100, values, binary)] == [4, 4]
        assert classes(1, np.array([7, 9], np.float32), binary, "id_fp32") == [["9.000000:1"]]
    bits = tensor("x", "BOOL", np.array([True]))
    refused(client, 400, "class result not available", model_name="id_bool", inputs=[bits], outputs=[http.InferRequestedOutput("OUTPUT__0", class_count=1)])


def sixty_four_clients_at_once(client, url):
    def one(index):
        own = http.InferenceServerClient(url)
        try:
            for step in range(5):
                values = np.full((1 + (index + step) % 4, 3), index * 10 + step, np.float32)
                inputs = [tensor("a", "FP32", values), tensor("b", "FP32", np.ones_like(values))]
                result = own.infer("addsub", inputs, request_id=str(index))
                np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values + 1)
                np.testing.assert_array_equal(result.as_numpy("OUTPUT__1"), values - 1)
                assert result.get_response()["id"] == str(index)
        finally:
            own.close()

    with concurrent.futures.ThreadPoolExecutor(max_workers=64) as pool:
        for future in [pool.submit(one, index) for index in range(64)]:
            future.result()


CHECKS = [
    health_and_server_metadata, model_metadata, model_config, repository_index, every_datatype_binary, every_datatype_json, bfloat16, strings,
    not_a_number_and_infinity, batches, versions_ids_and_requested_outputs, compression, statistics, wrong_input_name, wrong_output_name,
    wrong_datatype, wrong_shape, too_large_a_batch, missing_input, unknown_model, unknown_version, model_failure_and_recovery, empty_body,
    wrong_byte_size, lying_header_length, broken_compression, classification, sixty_four_clients_at_once,
]


def main(url):
    client = http.InferenceServerClient(url)
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(client, url)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)
    client.close()


if __name__ == "__main__":
    main(sys.argv[1])
