"""Reads files as base64 descriptors, one a line, imports first, into a pool that checks them; prints their messages in the form of test/schema.test.ts."""

import base64
import json
import sys

from descriptors import method_row, walk
from google.protobuf.descriptor_pool import DescriptorPool

pool = DescriptorPool()
messages, services = {}, {}
for line in sys.stdin.read().split():
    file = pool.AddSerializedFile(base64.b64decode(line))
    file = pool.FindFileByName(file.name)
    for top_level in file.message_types_by_name.values():
        walk(top_level, messages)
    for service in file.services_by_name.values():
        services[service.full_name] = [method_row(method) for method in service.methods]
print(json.dumps({"messages": messages, "services": services}))
