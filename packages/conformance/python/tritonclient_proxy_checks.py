"""Checks of a server behind a proxy that ends TLS, demands a client certificate and serves it below a path. Each function is one check.

usage: python tritonclient_proxy_checks.py HOST:PORT BASE_PATH CA_FILE CERT_FILE KEY_FILE        (prints one JSON line per check: name, and error when it failed)
"""
import json
import sys
import traceback

import numpy as np
import tritonclient.http as http
from tritonclient.utils import InferenceServerException


def add_sub_inputs():
    inputs = []
    for name in ("a", "b"):
        inputs.append(http.InferInput(name, [2, 3], "FP32"))
        inputs[-1].set_data_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    return inputs


def connect(url, files, with_certificate=True):
    ca, cert, key = files
    own = {"certfile": cert, "keyfile": key} if with_certificate else {}
    return http.InferenceServerClient(url, ssl=True, ssl_options={"ca_certs": ca, **own}, network_timeout=20)


def calls_reach_the_server_below_the_path(url, files):
    client = connect(url, files)
    assert client.is_server_ready()
    assert client.get_server_metadata()["name"] == "nereid"
    assert client.get_model_config("addsub")["max_batch_size"] == 4
    client.close()


def tensors_come_through_in_both_forms_and_compressed(url, files):
    client = connect(url, files)
    for binary in (True, False):
        for algorithm in (None, "gzip", "deflate"):
            outputs = [http.InferRequestedOutput("OUTPUT__0", binary_data=binary)]
            result = client.infer(
                "addsub",
                add_sub_inputs(),
                outputs=outputs,
                request_compression_algorithm=algorithm,
                response_compression_algorithm=algorithm,
            )
            np.testing.assert_array_equal(result.as_numpy("OUTPUT__0"), np.arange(6).reshape(2, 3) * 2)
    client.close()


def refusals_keep_their_words(url, files):
    client = connect(url, files)
    try:
        client.infer("nosuch", add_sub_inputs())
    except InferenceServerException as refusal:
        assert refusal.status() == "404" and "nosuch" in refusal.message(), refusal
    else:
        raise AssertionError("an unknown model was answered")
    client.close()


def another_path_is_not_found(url, files):
    client = connect(url.rsplit("/", 1)[0] + "/elsewhere", files)
    assert not client.is_server_live()
    client.close()


def a_client_without_a_certificate_is_refused(url, files):
    client = connect(url, files, with_certificate=False)
    try:
        client.is_server_live()
    except Exception:
        return
    finally:
        client.close()
    raise AssertionError("it was served")


CHECKS = [
    calls_reach_the_server_below_the_path,
    tensors_come_through_in_both_forms_and_compressed,
    refusals_keep_their_words,
    another_path_is_not_found,
    a_client_without_a_certificate_is_refused,
]


def main(place, base, *files):
    url = place + base
    for check in CHECKS:
        line = {"name": check.__name__.replace("_", " ")}
        try:
            check(url, files)
        except Exception:
            line["error"] = traceback.format_exc()
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
