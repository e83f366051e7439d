"""How calls go whatever their content, with tritonclient.grpc, its asynchronous half and plain grpc; prints one JSON line per check: its name, and what is wrong.

usage: python transport_checks.py HOST:PORT        model `addsub`; `id_fp32` is held for 300 ms
"""

import asyncio
import json
import sys
import threading
import time
import traceback

import grpc
import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

place = sys.argv[1]
SERVICE = "/inference.GRPCInferenceService/"


def tensor(name, values, module=triton):
    result = module.InferInput(name, list(values.shape), "FP32")
    result.set_data_from_numpy(values)
    return result


def add_sub(module=triton):
    return [tensor("a", np.array([[1, 2, 3]], np.float32), module), tensor("b", np.ones((1, 3), np.float32), module)]


def slow(size=1):
    return [tensor("x", np.ones(size, np.float32))]


def right(result):
    np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), [[2, 3, 4]])


def status_of(call):
    try:
        call()
    except InferenceServerException as error:
        return error.status()
    return "OK"


async def status_of_async(awaitable):
    try:
        await awaitable
    except InferenceServerException as error:
        return error.status()
    return "OK"


def deadline(client):
    assert status_of(lambda: client.infer("id_fp32", slow(), client_timeout=0.05)) == "StatusCode.DEADLINE_EXCEEDED"
    assert status_of(lambda: client.infer("id_fp32", slow(), client_timeout=20)) == "OK"


def cancellation(client):
    ended = threading.Event()
    seen = []
    call = client.async_infer("id_fp32", slow(), callback=lambda result, error: (seen.append(error), ended.set()))
    time.sleep(0.05)
    call.cancel()
    assert ended.wait(10) and "CANCELLED" in str(seen[0]), seen
    right(client.infer("addsub", add_sub()))


def cancelled_stream(client):
    seen = []
    with triton.InferenceServerClient(place) as mine:
        mine.start_stream(callback=lambda result, error: seen.append(error))
        mine.async_stream_infer("id_fp32", slow())
        mine.stop_stream(cancel_requests=True)
    right(client.infer("addsub", add_sub()))


def compression_both_ways(client):
    for algorithm in ("gzip", "deflate"):
        values = np.zeros((1, 3), np.float32)
        inputs = [tensor("a", values), tensor("b", values)]
        np.testing.assert_array_equal(
            client.infer("addsub", inputs, compression_algorithm=algorithm).as_numpy("OUTPUT__0"), values
        )


def metadata(client):
    headers = {"x-text": "plain", "x-more-bin": b"\x00\xff\x80", "x-long": "y" * 4000}
    right(client.infer("addsub", add_sub(), headers=headers))
    with grpc.insecure_channel(place) as channel:
        live = channel.unary_unary(
            SERVICE + "ServerLive",
            request_serializer=service_pb2.ServerLiveRequest.SerializeToString,
            response_deserializer=service_pb2.ServerLiveResponse.FromString,
        )
        twice = [("k", "a"), ("k", "b"), ("k-bin", b"\x01"), ("k-bin", b"\x02")]
        response, call = live.with_call(service_pb2.ServerLiveRequest(), metadata=twice)
        assert response.live and call.code() == grpc.StatusCode.OK and call.details() == ""
        assert dict(call.initial_metadata()).get("grpc-status") is None


def metadata_that_is_too_large(client):
    with grpc.insecure_channel(place, options=[("grpc.max_metadata_size", 2**20)]) as channel:
        live = channel.unary_unary(SERVICE + "ServerLive")
        try:
            live(b"", metadata=[("x", "y" * 80_000)])
            raise AssertionError("it was taken")
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, error
        assert live(b"", metadata=[("x", "y" * 8000)]) is not None


def failures_without_answer(client):
    with grpc.insecure_channel(place) as channel:
        for path, code in [
            (SERVICE + "Nosuch", grpc.StatusCode.UNIMPLEMENTED),
            ("/nosuch.Service/Live", grpc.StatusCode.UNIMPLEMENTED),
        ]:
            try:
                channel.unary_unary(path)(b"")
                raise AssertionError("it was answered")
            except grpc.RpcError as error:
                assert error.code() == code, error
                assert list(error.trailing_metadata()) == [], error.trailing_metadata()
        try:
            channel.unary_unary(SERVICE + "ModelReady")(b"\x0a\x7f")
            raise AssertionError("it was answered")
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error


def text_of_a_failure(client):
    try:
        client.infer("näme % \n", add_sub())
        raise AssertionError("it was answered")
    except InferenceServerException as error:
        assert "näme % \n" in error.message(), error.message()


def half_close(client):
    """Messages of a call that says that it is over long before it is answered."""
    with grpc.insecure_channel(place) as channel:
        stream = channel.stream_stream(
            SERVICE + "ModelStreamInfer",
            request_serializer=service_pb2.ModelInferRequest.SerializeToString,
            response_deserializer=service_pb2.ModelStreamInferResponse.FromString,
        )
        request = service_pb2.ModelInferRequest(model_name="id_fp32")
        request.inputs.add(name="x", datatype="FP32", shape=[1])
        request.raw_input_contents.append(np.ones(1, np.float32).tobytes())
        call = stream(iter([request, request, request]))
        answers = list(call)
        assert len(answers) == 3 and all(a.error_message == "" for a in answers), answers
        assert call.code() == grpc.StatusCode.OK


def large_messages_through_small_windows(client):
    options = [
        ("grpc.http2.lookahead_bytes", 4096),
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.max_frame_size", 16384),
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
    ]
    values = np.arange(1_000_000, dtype=np.float32)
    with triton.InferenceServerClient(place, channel_args=options) as mine:
        result = mine.infer("id_fp32", [tensor("x", values)])
        np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), values)


def slow_reader(client):
    """A stream whose answers are read late, and another client that does not wait for it."""
    with grpc.insecure_channel(place, options=[("grpc.max_receive_message_length", -1)]) as channel:
        stream = channel.stream_stream(
            SERVICE + "ModelStreamInfer",
            request_serializer=service_pb2.ModelInferRequest.SerializeToString,
            response_deserializer=service_pb2.ModelStreamInferResponse.FromString,
        )
        request = service_pb2.ModelInferRequest(model_name="id_fp32")
        request.inputs.add(name="x", datatype="FP32", shape=[500_000])
        request.raw_input_contents.append(np.ones(500_000, np.float32).tobytes())
        call = stream(iter([request] * 20))
        next(call)
        for _ in range(20):
            right(client.infer("addsub", add_sub()))
        assert sum(1 for _ in call) == 19


def many_calls_on_one_connection(client):
    ended = threading.Semaphore(0)
    results = []
    for _ in range(500):
        client.async_infer("addsub", add_sub(), callback=lambda result, error: (results.append((result, error)), ended.release()))
    for _ in range(500):
        assert ended.acquire(timeout=30)
    for result, error in results:
        assert error is None, error
        right(result)


def a_closed_channel(client):
    """Its calls end with it, and others do not."""
    mine = triton.InferenceServerClient(place)
    mine.async_infer("id_fp32", slow(), callback=lambda result, error: None)
    mine.close()
    right(client.infer("addsub", add_sub()))


def asynchronous(client):
    async def run():
        async with triton_aio.InferenceServerClient(place) as mine:
            for result in await asyncio.gather(*(mine.infer("addsub", add_sub(triton_aio)) for _ in range(100))):
                right(result)
            late = mine.infer("id_fp32", slow(), client_timeout=0.05)
            assert await status_of_async(late) == "StatusCode.DEADLINE_EXCEEDED"
            task = asyncio.ensure_future(mine.infer("id_fp32", slow()))
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            result = await mine.infer("addsub", add_sub(triton_aio), compression_algorithm="gzip", headers={"k-bin": b"\0"})
            right(result)
            assert await status_of_async(mine.infer("nosuch", slow())) == "StatusCode.NOT_FOUND"

            async def requests():
                for index in range(50):
                    yield {"model_name": "addsub", "inputs": add_sub(triton_aio), "request_id": str(index)}

            ids = []
            async for result, error in mine.stream_infer(requests()):
                assert error is None, error
                ids.append(result.get_response().id)
            assert ids == [str(index) for index in range(50)], ids

    asyncio.run(run())


CHECKS = [
    deadline,
    cancellation,
    cancelled_stream,
    compression_both_ways,
    metadata,
    metadata_that_is_too_large,
    failures_without_answer,
    text_of_a_failure,
    half_close,
    large_messages_through_small_windows,
    slow_reader,
    many_calls_on_one_connection,
    a_closed_channel,
    asynchronous,
]

with triton.InferenceServerClient(place) as shared:
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(shared)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)
