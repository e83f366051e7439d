"""Prints the services and messages that tritonclient ships, in the form of test/schema.test.ts."""

import json

from tritonclient.grpc import service_pb2

SCALARS = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 12: "bytes", 13: "uint32",
}  # fmt: skip


def is_repeated(field):
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def type_name(field):
    return (field.message_type or field.enum_type).full_name if field.type in (11, 14) else SCALARS[field.type]


def field_row(field):
    entry = field.message_type if field.message_type and field.message_type.GetOptions().map_entry else None
    row = {"number": field.number, "name": field.name}
    if entry:
        key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
        return {**row, "label": "map", "key": type_name(key), "type": type_name(value)}
    oneof = {"oneof": field.containing_oneof.name} if field.containing_oneof else {}
    return {**row, "label": "repeated" if is_repeated(field) else "singular", "type": type_name(field), **oneof}


def walk(message, out):
    out[message.full_name] = [field_row(field) for field in message.fields]
    for nested in message.nested_types:
        if not nested.GetOptions().map_entry:
            walk(nested, out)


def method_row(method):
    return {
        "name": method.name,
        "request": method.input_type.full_name,
        "response": method.output_type.full_name,
        "streams": [method.client_streaming, method.server_streaming],
    }


def main():
    messages = {}
    for top_level in service_pb2.DESCRIPTOR.message_types_by_name.values():
        walk(top_level, messages)
    services = {
        service.full_name: [method_row(method) for method in service.methods]
        for service in service_pb2.DESCRIPTOR.services_by_name.values()
    }
    print(json.dumps({"messages": messages, "services": services}))


if __name__ == "__main__":
    main()
