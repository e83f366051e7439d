"""One check for each model of `repositories/twelve` with the real Python client. Each raises when an answer is not what torch or numpy computes.

usage: python twelve_models_checks.py HOST:PORT [http|grpc]        (prints one JSON line per model: name, and error when its check failed)
"""
import json
import sys
import traceback

import numpy as np
import torch
import tritonclient.grpc as grpc
import tritonclient.http as http

torch.set_num_threads(1)
torch.manual_seed(0)
NESTED = torch.nn.Linear(4, 3).eval()
torch.manual_seed(1)
MLP = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).eval()
RANDOM = np.random.default_rng(12)
NUMPY = {"FP32": np.float32, "INT64": np.int64, "BYTES": np.object_}
OUTPUTS = {}


def values(*shape):
    return RANDOM.standard_normal(shape, np.float32)


class HttpClient:
    """Every other request goes and comes as JSON."""

    def __init__(self, url):
        self._client = http.InferenceServerClient(url, network_timeout=120)
        self.close = self._client.close
        self.is_model_ready = self._client.is_model_ready

    def outputs(self, model):
        return [output["name"] for output in self._client.get_model_metadata(model)["outputs"]]

    def infer(self, model, inputs, outputs):
        binary = bool(RANDOM.integers(2))
        tensors = [http.InferInput(name, list(array.shape), datatype_of(array)) for name, array in inputs.items()]
        for tensor, array in zip(tensors, inputs.values()):
            tensor.set_data_from_numpy(array, binary_data=binary)
        return self._client.infer(model, tensors, outputs=[http.InferRequestedOutput(name, binary_data=binary) for name in outputs])


class GrpcClient:
    def __init__(self, url):
        self._client = grpc.InferenceServerClient(url)
        self.close = self._client.close
        self.is_model_ready = self._client.is_model_ready

    def outputs(self, model):
        return [output.name for output in self._client.get_model_metadata(model).outputs]

    def infer(self, model, inputs, outputs):
        tensors = [grpc.InferInput(name, list(array.shape), datatype_of(array)) for name, array in inputs.items()]
        for tensor, array in zip(tensors, inputs.values()):
            tensor.set_data_from_numpy(array)
        return self._client.infer(model, tensors, outputs=[grpc.InferRequestedOutput(name) for name in outputs])


CLIENTS = {"http": HttpClient, "grpc": GrpcClient}


def datatype_of(array):
    return next(datatype for datatype, dtype in NUMPY.items() if array.dtype == dtype)


def infer(client, model, **inputs):
    """Outputs by name."""
    if model not in OUTPUTS:
        OUTPUTS[model] = client.outputs(model)
    result = client.infer(model, inputs, OUTPUTS[model])
    return {name: result.as_numpy(name) for name in OUTPUTS[model]}


def expect(answer, **expected):
    for name, array in expected.items():
        np.testing.assert_allclose(answer[name], array, rtol=1e-4, atol=1e-5, err_msg=name)


def rows(largest):
    return int(RANDOM.integers(1, largest + 1))


def size(*choices):
    """One of few: a server keeps what requests of one shape have in common, and its memory levels off once it has seen all shapes."""
    return int(RANDOM.choice(choices))


def torchscript_names(client):
    count = rows(4)
    a, b = values(count, 5), values(count, 5)
    expect(infer(client, "torchscript_names", INPUT0=a, INPUT1=b), OUTPUT__0=a - b, OUTPUT__1=a + b)


def torchscript_dictionary(client):
    count = rows(8)
    a, b = values(count, 3), values(count, 3)
    expect(infer(client, "torchscript_dictionary", a=a, b=b), sum=a + b, difference=a - b)


def torchscript_strings(client):
    words = [["", "héllo", "a\0b", "x" * 300][i] for i in RANDOM.integers(4, size=rows(3))]
    answer = infer(client, "torchscript_strings", words=np.array([[word.encode()] for word in words], dtype=object))["OUTPUT__0"]
    got = [item.decode() if isinstance(item, bytes) else item for item in answer.reshape(-1)]
    assert answer.shape == (len(words), 1) and got == [word + "!" for word in words], (answer, words)


def torchscript_optional(client):
    count = rows(4)
    x, y = values(count, 2), values(count, 2)
    expected, optional = x + y, {}
    if RANDOM.integers(2):
        optional["mask"] = values(count, 2)
        expected = expected * optional["mask"]
    if RANDOM.integers(2):
        optional["bias"] = values(count, 2)
        expected = expected + optional["bias"]
    expect(infer(client, "torchscript_optional", x=x, y=y, **optional), OUTPUT__0=expected)


def torchscript_list(client):
    x = values(rows(5), rows(5))
    expect(infer(client, "torchscript_list", INPUT__0=x), OUTPUT__0=x + 1, OUTPUT__1=x + 2, OUTPUT__2=x + 3)


ORDINALS = [f"INPUT__{i}" for i in range(6)], [f"OUTPUT__{i}" for i in range(8)]
FORWARD_NAMES = (
    ["ARGS[0]", "ARGS[1]", "ARGS[2][keyA]", "ARGS[2][key2]", "KWARGS[kwarg1]", "KWARGS[kw_arg2]"],
    ["RESULT[AAA]", "RESULT[ZZZ]", "RESULT[BBB][0]", "RESULT[BBB][1]", "RESULT[CCC][keyA]", "RESULT[CCC][key2]", "RESULT[DDD][KA]", "RESULT[DDD][KB]"],
)


def nested(client, model, names):
    count = rows(8)
    a, b, first, second, last = values(count, 4), values(count, 5), values(count, 3), values(count, 3), values(7)
    whole = RANDOM.integers(-100, 100, (count, 2))
    with torch.no_grad():
        linear = NESTED(torch.from_numpy(a)).numpy()
    results = [linear, b * 2, first + 1, second - 1, whole.astype(np.float32), np.concatenate([a, a]), a.sum(1), last * 2]
    inputs, outputs = names
    expect(infer(client, model, **dict(zip(inputs, [a, b, first, second, whole, last]))), **dict(zip(outputs, results)))


def aoti_ordinal(client):
    nested(client, "aoti_ordinal", ORDINALS)


def aoti_forward_names(client):
    nested(client, "aoti_forward_names", FORWARD_NAMES)


def aoti_batching(client):
    x = values(rows(16), 64)
    with torch.no_grad():
        expected = MLP(torch.from_numpy(x)).numpy()
    expect(infer(client, "aoti_batching", INPUT__0=x), OUTPUT__0=expected)


def aoti_without_config(client):
    count, width = rows(8), size(1, 7, 64)
    a, b = values(count, width), values(count, width)
    expect(infer(client, "aoti_without_config", INPUT__0=a, INPUT__1=b), OUTPUT__0=a + b, OUTPUT__1=a - b)


def weight(*shape):
    """As the state dict of the model has it."""
    return ((np.arange(np.prod(shape)).reshape(shape) % 5 - 2) / 4).astype(np.float32)


def python_weights(client):
    x = values(rows(8), 4)
    hidden = np.maximum(x @ weight(8, 4).T + weight(8), 0)
    expect(infer(client, "python_weights", x=x), y=hidden @ weight(3, 8).T + weight(3))


def custom_operators(client):
    x = values(size(1, 17, 100))
    expect(infer(client, "custom_operators", x=x), OUTPUT__0=x + 1)


def init_library(client):
    x = values(size(1, 100, 3000))
    expect(infer(client, "init_library", x=x), OUTPUT__0=x)


CHECKS = [
    torchscript_names, torchscript_dictionary, torchscript_strings, torchscript_optional, torchscript_list, aoti_ordinal, aoti_forward_names,
    aoti_batching, aoti_without_config, python_weights, custom_operators, init_library,
]
ROUNDS = 10


def main(url, protocol="http"):
    client = CLIENTS[protocol](url)
    for check in CHECKS:
        line = {"name": check.__name__}
        try:
            assert client.is_model_ready(check.__name__)
            for _ in range(ROUNDS):
                check(client)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)
    client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
