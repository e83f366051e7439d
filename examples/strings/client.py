"""Sends words, one row each, and prints what comes back: client.py [--url URL] WORD ..."""
import argparse

import numpy
import tritonclient.http

parser = argparse.ArgumentParser(description="Sends words, one row each, and prints what comes back.")
parser.add_argument("words", nargs="+", metavar="WORD")
parser.add_argument("--url", default="http://127.0.0.1:8000", help="address of the server")
options = parser.parse_args()

client = tritonclient.http.InferenceServerClient(options.url.removeprefix("http://"))
# One row per word: an array of Python objects is how numpy holds strings of any length.
words = numpy.array([[word.encode()] for word in options.words], dtype=object)
tensor = tritonclient.http.InferInput("words", words.shape, "BYTES")
tensor.set_data_from_numpy(words)
answer = client.infer("strings", [tensor])
for shouted, length in zip(answer.as_numpy("shouted")[:, 0], answer.as_numpy("lengths")[:, 0]):
    print(f"{shouted.decode()} {length}")
