"""Sends one inference and pings every 100 ms while it waits; prints how that ends."""

import sys

import numpy
import tritonclient.grpc as triton

options = triton.KeepAliveOptions(
    keepalive_time_ms=100, keepalive_timeout_ms=5_000, keepalive_permit_without_calls=True, http2_max_pings_without_data=0
)
client = triton.InferenceServerClient(f"127.0.0.1:{sys.argv[1]}", keepalive_options=options)
inputs = []
for name in ("a", "b"):
    tensor = triton.InferInput(name, [1, 3], "FP32")
    tensor.set_data_from_numpy(numpy.zeros((1, 3), numpy.float32))
    inputs.append(tensor)
try:
    client.infer("addsub", inputs)
    print("OK")
except triton.InferenceServerException as error:
    print(error.status().removeprefix("StatusCode."), error.message())
