"""Reads JSON lines {text, json, binary} of one configuration each; says for each whether protobuf reads the same from all three."""

import base64
import json
import sys

from google.protobuf import json_format, text_format
from tritonclient.grpc.model_config_pb2 import ModelConfig

for line in sys.stdin:
    row = json.loads(line)
    from_text = text_format.Parse(row["text"], ModelConfig())
    from_json = json_format.Parse(row["json"], ModelConfig())
    from_binary = ModelConfig.FromString(base64.b64decode(row["binary"]))
    forms = {message.SerializeToString(deterministic=True) for message in (from_text, from_json, from_binary)}
    print("same" if len(forms) == 1 else "different")
