"""Infers on a server that was started with model files only, asking it for everything that is needed to do so.

usage: python served_file_checks.py HOST:PORT MODEL...        (prints the datatypes and shapes that came back, as JSON)
"""
import json
import sys

import numpy as np
import tritonclient.http as http
from tritonclient.utils import triton_to_np_dtype

VARIABLE_SIZE = 3
ROWS = 2


def main(url, *models):
    client = http.InferenceServerClient(url)
    answers = {}
    for model in models:
        assert client.is_model_ready(model), model
        batching = client.get_model_config(model)["max_batch_size"] > 0
        inputs = []
        for entry in client.get_model_metadata(model)["inputs"]:
            shape = [VARIABLE_SIZE if size == -1 else size for size in entry["shape"]]
            if batching:
                shape[0] = ROWS
            dtype = triton_to_np_dtype(entry["datatype"])
            values = np.full(shape, b"a", dtype=object) if entry["datatype"] == "BYTES" else np.ones(shape, dtype)
            tensor = http.InferInput(entry["name"], shape, entry["datatype"])
            tensor.set_data_from_numpy(values)
            inputs.append(tensor)
        response = client.infer(model, inputs).get_response()
        answers[model] = [[output["name"], output["datatype"], output["shape"]] for output in response["outputs"]]
    client.close()
    print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
