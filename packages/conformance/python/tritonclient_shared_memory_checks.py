"""Checks of system shared memory with the real Python client, over HTTP and over gRPC. Each function is one check and raises when it does not hold.

usage: python tritonclient_shared_memory_checks.py HTTP_HOST:PORT GRPC_HOST:PORT        (prints one JSON line per check and protocol: name, and error when it failed)
"""
import contextlib
import json
import os
import sys
import traceback

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.http as http
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

TYPES = {
    "bool": ("BOOL", np.array([True, False, True])),
    "uint8": ("UINT8", np.array([0, 1, 255], np.uint8)),
    "int8": ("INT8", np.array([-128, 0, 127], np.int8)),
    "int16": ("INT16", np.array([-32768, 1, 32767], np.int16)),
    "int32": ("INT32", np.array([-(2**31), 0, 2**31 - 1], np.int32)),
    "int64": ("INT64", np.array([-(2**63), 2**53 + 1, 2**63 - 1], np.int64)),
    "fp16": ("FP16", np.array([0.5, -2.0, 65504.0], np.float16)),
    "fp32": ("FP32", np.array([0.5, -2.25, 3e38], np.float32)),
    "fp64": ("FP64", np.array([0.1, -1e300, 5e-324], np.float64)),
}


@contextlib.contextmanager
def region(client, name, size):
    """A registered object of `size` bytes; gone afterwards."""
    handle = shm.create_shared_memory_region(name, f"/shm-checks-{os.getpid()}-{name}", size)
    try:
        client.register_system_shared_memory(name, f"/shm-checks-{os.getpid()}-{name}", size)
        yield handle
    finally:
        client.unregister_system_shared_memory(name)
        shm.destroy_shared_memory_region(handle)


def input_at(kind, tensor, name, size, offset=0):
    (label, datatype, shape) = tensor
    result = kind.InferInput(label, list(shape), datatype)
    result.set_shared_memory(name, size, offset)
    return result


def output_at(kind, label, name, size, offset=0):
    result = kind.InferRequestedOutput(label)
    result.set_shared_memory(name, size, offset)
    return result


def in_message(kind, label, values):
    result = kind.InferInput(label, list(values.shape), "FP32")
    result.set_data_from_numpy(values)
    return result


def shape_of(output):
    return [int(dim) for dim in (output["shape"] if isinstance(output, dict) else output.shape)]


def refused(run, *fragments):
    try:
        run()
    except InferenceServerException as error:
        for fragment in fragments:
            assert fragment in str(error), f"expected {fragment!r} in {error}"
        return
    raise AssertionError("expected a refusal")


def regions_are_told(client, kind):
    with region(client, "r", 64), region(client, "s", 32):
        status = client.get_system_shared_memory_status()
        names = {row["name"] for row in status} if kind is http else set(status.regions)
        assert names == {"r", "s"}, status
        refused(lambda: client.register_system_shared_memory("r", "/any", 8), "already in manager")
        refused(lambda: client.get_system_shared_memory_status("nosuch"), "Unable to find system shared memory region")
        client.unregister_system_shared_memory()
        status = client.get_system_shared_memory_status()
        assert len(status if kind is http else status.regions) == 0, status
        client.unregister_system_shared_memory("nosuch")


def keys_that_cannot_be_opened(client, kind):
    refused(lambda: client.register_system_shared_memory("r", "/nosuch-object", 8), "Unable to open shared memory region")
    refused(lambda: client.register_system_shared_memory("r", "/../etc/passwd", 8), "one name")
    with region(client, "s", 16):
        key = f"/shm-checks-{os.getpid()}-s"
        refused(lambda: client.register_system_shared_memory("r", key, 1 << 30), "invalid args")


def cuda_memory_on_a_server_without_gpus(client, kind):
    refused(lambda: client.register_cuda_shared_memory("c", b"AAAA", 0, 8), "GPUs not supported")
    client.unregister_cuda_shared_memory()


def every_datatype(client, kind):
    for suffix, (datatype, values) in TYPES.items():
        with region(client, "r", 256) as handle:
            shm.set_shared_memory_region(handle, [values], offset=8)
            result = client.infer(
                f"id_{suffix}",
                [input_at(kind, ("x", datatype, values.shape), "r", values.nbytes, 8)],
                outputs=[output_at(kind, "OUTPUT__0", "r", values.nbytes, 128)],
            )
            assert shape_of(result.get_output("OUTPUT__0")) == list(values.shape)
            np.testing.assert_array_equal(shm.get_contents_as_numpy(handle, values.dtype, values.shape, 128), values)


def strings(client, kind):
    values = np.array([b"one", b"", "zw\u00f6lf".encode()], dtype=object)
    size = len(serialize_byte_tensor(values).item())
    with region(client, "r", 256) as handle:
        shm.set_shared_memory_region(handle, [serialize_byte_tensor(values)])
        client.infer(
            "id_bytes",
            [input_at(kind, ("words", "BYTES", [3]), "r", size)],
            outputs=[output_at(kind, "OUTPUT__0", "r", 100, 100)],
        )
        np.testing.assert_array_equal(shm.get_contents_as_numpy(handle, np.object_, [3], 100), values)
        refused(
            lambda: client.infer("id_bytes", [input_at(kind, ("words", "BYTES", [3]), "r", size - 1)]), "words"
        )


def memory_and_messages_mixed(client, kind):
    values = np.arange(3, dtype=np.float32).reshape(1, 3)
    with region(client, "in", 64) as source, region(client, "out", 64) as target:
        shm.set_shared_memory_region(source, [values])
        result = client.infer(
            "addsub",
            [input_at(kind, ("a", "FP32", [1, 3]), "in", 12), in_message(kind, "b", np.ones((1, 3), np.float32))],
            outputs=[output_at(kind, "OUTPUT__0", "out", 12, 4), kind.InferRequestedOutput("OUTPUT__1")],
            request_id="7",
        )
        np.testing.assert_array_equal(shm.get_contents_as_numpy(target, np.float32, [1, 3], 4), values + 1)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__1"), values - 1)


def megabytes(client, kind):
    values = np.arange(1_000_000, dtype=np.float32)
    with region(client, "large", 2 * values.nbytes) as handle:
        shm.set_shared_memory_region(handle, [values])
        client.infer(
            "id_fp32",
            [input_at(kind, ("x", "FP32", values.shape), "large", values.nbytes)],
            outputs=[output_at(kind, "OUTPUT__0", "large", values.nbytes, values.nbytes)],
        )
        written = shm.get_contents_as_numpy(handle, np.float32, values.shape, values.nbytes)
        np.testing.assert_array_equal(written, values)


def a_model_that_works_in_place_leaves_its_input(client, kind):
    values = np.array([1, 2, 3], np.float32)
    for repeated in (1, 50_000):
        many = np.tile(values, repeated)
        with region(client, "r", 2 * many.nbytes) as handle:
            shm.set_shared_memory_region(handle, [many])
            client.infer(
                "in_place",
                [input_at(kind, ("x", "FP32", many.shape), "r", many.nbytes)],
                outputs=[output_at(kind, "OUTPUT__0", "r", many.nbytes, many.nbytes)],
            )
            np.testing.assert_array_equal(shm.get_contents_as_numpy(handle, np.float32, many.shape), many)
            written = shm.get_contents_as_numpy(handle, np.float32, many.shape, many.nbytes)
            np.testing.assert_array_equal(written, many + 1)


def wrong_sizes_and_offsets(client, kind):
    values = np.arange(3, dtype=np.float32)

    def infer(name="r", size=12, offset=0, **more):
        return lambda: client.infer("id_fp32", [input_at(kind, ("x", "FP32", [3]), name, size, offset)], **more)

    with region(client, "r", 64) as handle:
        shm.set_shared_memory_region(handle, [values])
        refused(infer("nosuch"), "Unable to find shared memory region: 'nosuch'")
        refused(infer(offset=65), "Invalid offset for shared memory region")
        refused(infer(offset=60), "Invalid offset + byte size for shared memory region")
        refused(infer(size=1 << 62), "Invalid offset + byte size for shared memory region")
        refused(infer(size=8), "byte size mismatch")
        refused(
            infer(outputs=[output_at(kind, "OUTPUT__0", "r", 8, 32)]),
            "shared memory size specified with the request for output 'OUTPUT__0' (8 bytes) should be at least 12 bytes",
        )
        infer(outputs=[output_at(kind, "OUTPUT__0", "r", 12, 32)])()
        np.testing.assert_array_equal(shm.get_contents_as_numpy(handle, np.float32, [3], 32), values)


def memory_that_its_client_shortens(client, kind):
    with region(client, "r", 4096) as handle:
        shm.set_shared_memory_region(handle, [np.arange(3, dtype=np.float32)])
        os.truncate(f"/dev/shm/shm-checks-{os.getpid()}-r", 12)
        first = input_at(kind, ("x", "FP32", [3]), "r", 12)
        beyond = input_at(kind, ("x", "FP32", [3]), "r", 12, 4)
        refused(lambda: client.infer("id_fp32", [beyond]), "has become too short")
        np.testing.assert_array_equal(client.infer("id_fp32", [first]).as_numpy("OUTPUT__0"), [0, 1, 2])


CHECKS = [
    regions_are_told, keys_that_cannot_be_opened, cuda_memory_on_a_server_without_gpus, every_datatype, strings, memory_and_messages_mixed,
    megabytes, a_model_that_works_in_place_leaves_its_input, wrong_sizes_and_offsets, memory_that_its_client_shortens,
]


def main(http_place, grpc_place):
    for kind, place in ((http, http_place), (grpc, grpc_place)):
        client = kind.InferenceServerClient(place)
        for check in CHECKS:
            line = {"name": f"{check.__name__.replace('_', ' ')}, {kind.__name__.rsplit('.', 1)[-1]}"}
            try:
                check(client, kind)
            except Exception:
                line["error"] = traceback.format_exc()
            print(json.dumps(line), flush=True)
        client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
