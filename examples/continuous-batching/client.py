"""Asks for tokens after several prompts at once, and prints those of each when all have come.

usage: python client.py PROMPT:COUNT … [--url URL]
"""

import argparse
import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor

parser = argparse.ArgumentParser()
parser.add_argument("asked", nargs="+", help="a token, and how many are wanted after it")
parser.add_argument("--url", default="http://127.0.0.1:8000")
arguments = parser.parse_args()


def generate(asked):
    prompt, count = map(int, asked.split(":"))
    body = json.dumps({"PROMPT": prompt, "max_tokens": count}).encode()
    tokens = []
    with urllib.request.urlopen(f"{arguments.url}/v2/models/generator/generate_stream", body) as events:
        # One event per token, as soon as it is there.
        for line in events:
            if line.startswith(b"data:"):
                tokens.append(json.loads(line[5:])["TOKEN"])
    return f"{prompt}: {' '.join(map(str, tokens))}"


with ThreadPoolExecutor(len(arguments.asked)) as pool:
    print("\n".join(pool.map(generate, arguments.asked)))
