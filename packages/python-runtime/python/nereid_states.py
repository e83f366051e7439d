"""Implicit state of sequences: what a call wrote for a sequence is an argument of its next.

A call names key, version and rows of each of its requests; key 0 starts from the initial values and leaves nothing. It reads that version and writes the next. Both are
kept until the next call of the key names the one that counts, as a call may fail after it was computed. Values stay on the model's device.
"""

import struct

from nereid_refusal import Refusal

FORGET = struct.Struct("<I")


class States:
    def __init__(self, torch, start, *, device, dtypes):
        self._torch = torch
        self._batching = start["batching"]
        self._specs = start["states"]
        self._dtypes = [dtypes[spec["datatype"]] for spec in self._specs]
        self._initial = [self._initial_value(spec, dtype).to(device) for spec, dtype in zip(self._specs, self._dtypes)]
        self._kept = {}

    def __len__(self):
        return len(self._specs)

    @property
    def outputs(self):
        return [spec["output"] for spec in self._specs]

    def read(self, places):
        """The states as arguments of a call: the rows of all its requests, one below the other."""
        rows = [self._rows(*place) for place in places]
        # Copies: models may write to their arguments, and a call that fails leaves the state as it was.
        return [values[0].clone() if len(values) == 1 else self._torch.cat(values) for values in zip(*rows)]

    def write(self, places, results):
        """Keeps what a call wrote; the shape of each state without the batch."""
        shapes = [self._check(*each) for each in zip(self._specs, self._dtypes, results, [sum(place[2] for place in places)] * len(results))]
        start = 0
        for key, version, count in places:
            if key != 0:
                # Copies: results may be views of what belongs to the call, or to the model.
                rows = [(result[start : start + count] if self._batching else result).clone() for result in results]
                self._kept.setdefault(key, {})[version + 1] = rows
            start += count
        return [size for shape in shapes for size in shape]

    def forget(self, key):
        self._kept.pop(key, None)

    def _rows(self, key, version, count):
        if version == 0:
            return [initial.expand(count, *initial.shape) if self._batching else initial for initial in self._initial]
        kept = self._kept.get(key, {})
        if version not in kept:
            raise Refusal("state", "the state of a sequence was lost when the process that kept it ended; begin the sequence anew")
        self._kept[key] = {version: kept[version]}
        return kept[version]

    def _initial_value(self, spec, dtype):
        dims, path = spec["initialDims"], spec["initialFile"]
        value = self._torch.zeros(dims, dtype=dtype)
        if path is None:
            return value
        size = value.numel() * value.element_size()
        try:
            with open(path, "rb") as file:
                data = bytearray(file.read(size))
        except OSError as error:
            raise Refusal("state", f"initial value of state '{spec['input']}': '{path}' cannot be read: {error.strerror}") from error
        if len(data) < size:
            raise Refusal("state", f"initial value of state '{spec['input']}': '{path}' has {len(data)} bytes, the state needs {size}")
        return self._torch.frombuffer(data, dtype=dtype).reshape(dims) if size else value

    def _check(self, spec, dtype, result, rows):
        dims = spec["dims"]
        expected = [rows, *dims] if self._batching else dims
        shape = list(result.shape)
        fits = len(shape) == len(expected) and all(want in (-1, size) for want, size in zip(expected, shape))
        if result.dtype != dtype or not fits:
            raise Refusal(
                "output",
                f"state output '{spec['output']}' is {result.dtype} of shape {shape}, but the configuration says {dtype} of shape {expected}",
            )
        return shape[1:] if self._batching else shape
