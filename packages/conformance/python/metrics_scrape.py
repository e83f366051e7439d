"""Scrapes the metrics of a running server and reads them with the parser of the real Prometheus client.

usage: python metrics_scrape.py URL        (prints one JSON line per family: name, type, help, samples of name, labels and value, null for NaN)
"""
import json
import math
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

with urllib.request.urlopen(sys.argv[1]) as response:
    text = response.read().decode()
for family in text_string_to_metric_families(text):
    samples = [
        {"name": sample.name, "labels": sample.labels, "value": None if math.isnan(sample.value) else sample.value}
        for sample in family.samples
    ]
    line = {"name": family.name, "type": family.type, "help": family.documentation, "samples": samples}
    print(json.dumps(line))
