"""Runs one PyTorch model for the process that started it.

Descriptor 3 is the pipe for messages: u32 payload bytes, u32 type, payload; little-endian. Descriptor 4 is the memory that tensors arrive in, 5 the memory
that results leave in. A batch is one slot in such memory, described by a message (`read_batch`, `write_batch`); its tensors never travel on the pipe. Behind
the message of a RUN stands what `nereid_requests` reads, when READY said that the model asks for it.

The parent sends START once, then RUN any number of times, then STOP; a decoupled model speaks as `nereid_streams` says. When the parent's end of the pipe
closes, this process ends at once.
Only the standard library and torch are needed. Nothing is copied on the way in: arguments of `forward` view the shared memory and are valid during that
call only. Results are copied once, into the shared memory.
"""

import errno
import faulthandler
import importlib.util
import json
import linecache
import mmap
import os
import pathlib
import select
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Mapping

from nereid_refusal import Refusal
from nereid_requests import Requests, asks_for_requests
from nereid_states import FORGET, States
from nereid_streams import NOTE, RUN, Streams, is_stepwise, is_stream

START, STOP, READY, FAILED, LOG = 1, 2, 3, 4, 5
DONE, RUN_FAILED = 17, 18
DEBUG, INFO, WARN, ERROR = range(4)

FRAME = struct.Struct("<II")
BATCH = struct.Struct("<IIQQQIHH")
TENSOR = struct.Struct("<BBHIQQ")
SLOT = struct.Struct("<II")
SLOT_MAGIC = 0x4E534C54
SLOT_HEADER_BYTES = 64
ALIGNMENT = 64
LEAST_BYTES = 1 << 20
SHOWN_FRAMES = 4
HERE = os.path.dirname(__file__)


class Work:
    """A call on its way through the model."""

    __slots__ = ("inputs", "keywords", "wanted", "requests", "places", "written", "input_ns")


class Channel:
    """The pipe to the parent."""

    def __init__(self, descriptor):
        # Processes that the model starts must not hold the pipe open.
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)
        self._lock = threading.Lock()
        threading.Thread(target=self._end_with_parent, name="nereid-parent", daemon=True).start()

    def receive(self):
        """The next message as (type, payload); STOP when the parent is gone."""
        header = self._read(FRAME.size)
        if len(header) < FRAME.size:
            return STOP, b""
        size, kind = FRAME.unpack(header)
        return kind, self._read(size)

    def fileno(self):
        return self._socket.fileno()

    def send(self, kind, payload):
        with self._lock:
            self._socket.sendall(FRAME.pack(len(payload), kind) + payload)

    def log(self, level, text):
        self.send(LOG, bytes([level]) + text.encode("utf-8", "replace"))

    def _read(self, size):
        # Not buffered: whoever waits for the descriptor must see all that was not received yet.
        pieces = bytearray()
        while len(pieces) < size:
            piece = self._socket.recv(size - len(pieces))
            if not piece:
                break
            pieces += piece
        return bytes(pieces)

    def _end_with_parent(self):
        # The main thread may be inside a model for as long as it likes; nobody waits for its result any more.
        poll = select.poll()
        poll.register(self._socket, 0)
        while not any(events & (select.POLLHUP | select.POLLERR) for _, events in poll.poll()):
            pass
        os._exit(0)


class Memory:
    """Shared memory, mapped as far as it is needed. Tensors keep the mapping they view alive."""

    def __init__(self, descriptor):
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        self.map = None
        self.size = 0

    def reach(self, size):
        """Maps at least `size` bytes, which the file must have."""
        if size > self.size:
            self.map = mmap.mmap(self._descriptor, size)
            self.size = size

    def reserve(self, size):
        """Makes the file that large and takes the memory, so that a full file system is an error here and no signal later."""
        if size <= self.size:
            return
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._descriptor, 0, size)
            else:
                os.ftruncate(self._descriptor, size)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise Refusal("memory", f"no shared memory for results of {size} bytes: {error.strerror}. Enlarge /dev/shm.") from None
        self.reach(size)


class Slots:
    """Places results: the first gap that is large enough. The parent frees slots in the order in which they were announced."""

    def __init__(self, memory, limit):
        self._memory = memory
        self._limit = limit
        self._slots = []
        self._generation = 0

    def release(self, generation):
        """Frees the slot of that generation and those announced before it."""
        for at, slot in enumerate(self._slots):
            if slot[0] == generation:
                del self._slots[: at + 1]
                return

    def allocate(self, payload_bytes):
        size = SLOT_HEADER_BYTES + align_up(payload_bytes)
        offset = 0
        for _, start, length in sorted(self._slots, key=lambda slot: slot[1]):
            if offset + size <= start:
                break
            offset = start + length
        end = offset + size
        if end > self._limit:
            raise Refusal("memory", f"the results need {end} bytes of shared memory, at most {self._limit} are allowed.")
        if end > self._memory.size:
            self._memory.reserve(min(self._limit, max(end, 2 * self._memory.size, LEAST_BYTES)))
        self._generation = (self._generation + 1) % 2**32
        slot = (self._generation, offset, size)
        self._slots.append(slot)
        SLOT.pack_into(self._memory.map, offset, SLOT_MAGIC, self._generation)
        return slot


def align_up(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


class Transport:
    """Tensors in and out of the shared memory."""

    def __init__(self, torch, limit):
        self._torch = torch
        self._incoming = Memory(4)
        self._outgoing = Memory(5)
        self._slots = Slots(self._outgoing, limit)
        # Numbers of the configuration's enum of datatypes.
        self.dtypes = {
            1: torch.bool, 2: torch.uint8, 3: torch.uint16, 4: torch.uint32, 5: torch.uint64, 6: torch.int8, 7: torch.int16,
            8: torch.int32, 9: torch.int64, 10: torch.float16, 11: torch.float32, 12: torch.float64, 14: torch.bfloat16,
        }  # fmt: skip
        self._numbers = {dtype: number for number, dtype in self.dtypes.items()}

    def release(self, generation):
        """Frees the results up to those of that generation, which were read."""
        self._slots.release(generation)

    def datatype_of(self, tensor):
        """Number of the tensor's datatype, None when no client can be given it."""
        return self._numbers.get(tensor.dtype)

    def read_batch(self, payload):
        """The batch's tensors as views of the shared memory, its numbers, and what stands behind the message."""
        batch, generation, offset, _, region, released, tensors, numbers = BATCH.unpack_from(payload)
        self._slots.release(released)
        self._incoming.reach(region)
        if SLOT.unpack_from(self._incoming.map, offset) != (SLOT_MAGIC, generation):
            raise Refusal("memory", f"the inputs of batch {batch} were overwritten before they were read")
        at = BATCH.size
        views = []
        for _ in range(tensors):
            number, rank, _, _, start, size = TENSOR.unpack_from(payload, at)
            at += TENSOR.size
            shape = struct.unpack_from(f"<{rank}q", payload, at)
            at += 8 * rank
            views.append(self._view(self._incoming, self.dtypes[number], offset + start, size, shape))
        return views, struct.unpack_from(f"<{numbers}Q", payload, at), payload[at + 8 * numbers :]

    def write_batch(self, batch, tensors):
        """Copies tensors of any device and layout to one slot; the message that announces it, but for its numbers."""
        sizes = [tensor.numel() * tensor.element_size() for tensor in tensors]
        generation, offset, size = self._slots.allocate(sum(align_up(size) for size in sizes))
        start = SLOT_HEADER_BYTES
        described = []
        for tensor, length in zip(tensors, sizes):
            self._view(self._outgoing, tensor.dtype, offset + start, length, tensor.shape).copy_(tensor)
            described.append(TENSOR.pack(self._numbers[tensor.dtype], tensor.dim(), 0, 0, start, length))
            described.append(struct.pack(f"<{tensor.dim()}q", *tensor.shape))
            start += align_up(length)
        return lambda *numbers: b"".join((
            BATCH.pack(batch, generation, offset, size, self._outgoing.size, 0, len(tensors), len(numbers)),
            *described,
            struct.pack(f"<{len(numbers)}Q", *numbers),
        ))  # fmt: skip

    def _view(self, memory, dtype, offset, size, shape):
        if size == 0:
            return self._torch.empty(shape, dtype=dtype)
        count = size // dtype.itemsize
        return self._torch.frombuffer(memory.map, dtype=dtype, count=count, offset=offset).view(shape)


def import_torch():
    try:
        import torch
    except ImportError as error:
        raise Refusal("torch", f"{sys.executable} cannot import torch: {error}") from None
    return torch


def set_threads(torch, channel, start):
    """Before anything runs: torch takes the inter-op count only once."""
    name, threads, interop = start["model"], start["numThreads"], start["numInteropThreads"]
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(interop)
    channel.log(INFO, f"Torch parallelism settings for '{name}': NUM_THREADS = {threads}; NUM_INTEROP_THREADS = {interop};")


def load_model(torch, channel, start):
    """The module, in evaluation mode and on its device; that device; and whether its `forward` asks for the requests."""
    name, path = start["model"], pathlib.Path(start["path"])
    options = start["compileOptions"]
    asks = False
    if path.suffix == ".py":
        model = construct(torch, path, start["modelClass"])
        asks = asks_for_requests(model.forward)
        load_weights(torch, channel, name, model, path.with_suffix(".pt"), start["device"])
    else:
        channel.log(INFO, f"Loading '{name}' as TorchScript")
        model = torch.jit.load(path, map_location=start["device"])
        options = {}
    device = device_of(torch, model, start["device"])
    if start["device"] is not None:
        model.to(device)
    model.eval()
    channel.log(INFO, f"'torch.compile' optional parameter(s) for '{name}': {options}")
    if is_stepwise(model.forward):
        channel.log(INFO, f"forward of '{name}' is a generator or a coroutine, which torch.compile does not take: what it calls is for the model to compile")
        return model, device, asks
    if asks:
        # Every id and parameter would be a constant of the compiled code, and each new one a reason to compile again.
        channel.log(INFO, f"forward of '{name}' takes requests, which torch.compile does not: what it calls is for the model to compile")
        return model, device, asks
    # A disabled compile does nothing to the model, but only after a second of imports.
    if path.suffix == ".py" and options.get("disable") is not True:
        model = torch.compile(model, **options)
    return model, device, asks


def construct(torch, path, wanted):
    """An object of the model class of the file, made without arguments."""
    name = path.stem if path.stem not in sys.modules else f"served_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    # As for a script: modules beside the file can be imported, and classes of the file can be found by name.
    sys.path[0] = str(path.parent)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return choose_class(torch, module, path.name, wanted)()


def choose_class(torch, module, file, wanted):
    """The subclass of Module that the file defines; MODEL_CLASS decides among several and may name an imported one."""
    if wanted is not None:
        found = getattr(module, wanted, None)
        if isinstance(found, type) and issubclass(found, torch.nn.Module):
            return found
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and value.__module__ == module.__name__
    }
    if wanted is not None:
        raise Refusal("class", f"parameter MODEL_CLASS is '{wanted}', which is no subclass of torch.nn.Module in '{file}'; {listed(own)}")
    if not own:
        raise Refusal("class", f"Cannot find a subclass of torch.nn.Module in '{file}'; define the model's class in that file")
    classes = list(dict.fromkeys(own.values()))
    if len(classes) > 1:
        raise Refusal("class", f"{listed(own)}; set parameter MODEL_CLASS to the one to serve")
    return classes[0]


def listed(classes):
    names = ", ".join(f"'{name}'" for name in sorted(classes)) or "none"
    return f"the file defines {len(classes)} subclasses of torch.nn.Module: {names}"


def load_weights(torch, channel, name, model, path, device):
    if not path.exists():
        channel.log(INFO, f"'{name}' has no weights file '{path.name}'; its parameters are as its class sets them")
        return
    try:
        # Weights only: a file of weights must not be able to run code.
        weights = torch.load(path, map_location=device or "cpu", weights_only=True)
    except Exception as error:
        text = str(error).splitlines()[0]
        raise Refusal("weights", f"'{path.name}' cannot be read as weights: {text}. Save them with torch.save(model.state_dict(), …).") from error
    try:
        model.load_state_dict(weights)
    except (RuntimeError, TypeError) as error:
        raise Refusal("weights", f"the weights in '{path.name}' do not fit the model: {error}") from error


def device_of(torch, model, wanted):
    if wanted is None:
        parameter = next(model.parameters(), None)
        if parameter is None:
            raise Refusal("device", "Cannot determine model device: it has no parameters; use KIND_CPU or KIND_GPU instead of KIND_MODEL")
        return parameter.device
    device = torch.device(wanted)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise Refusal("device", f"the instance is KIND_GPU, but torch {torch.__version__} of {sys.executable} sees no GPU; use KIND_CPU")
    return device


class Runner:
    """The model, and what its calls are made of."""

    def __init__(self, torch, channel, start):
        self._torch = torch
        self._channel = channel
        self.transport = Transport(torch, start["maxBytes"])
        self._model, self._device, self.asks = load_model(torch, channel, start)
        self._is_iterative = start["iterative"]
        if self._is_iterative and not self.asks:
            raise Refusal(
                "class",
                "sequence_batching has iterative_sequence, but forward has no keyword 'requests' to ask for another run with; "
                "write def forward(self, …, *, requests) and call requests[i].reschedule()",
            )
        self.states = States(torch, start, device=self._device, dtypes=self.transport.dtypes)
        # A state that is an output too is one result.
        self._names = list(dict.fromkeys([*start["outputs"], *self.states.outputs]))
        self._written = [self._names.index(name) for name in self.states.outputs]

    def run(self, payload):
        """Runs a batch to its end."""
        # The first field, should the rest of the message be at fault.
        (batch,) = struct.unpack_from("<I", payload)
        try:
            work = self.read(payload)
            begin = time.perf_counter_ns()
            results = self.call(work)
            self.synchronize()
            self._channel.send(*self.done(batch, results, work, time.perf_counter_ns() - begin))
        except BaseException as error:
            self.fail(batch, error)

    def read(self, payload):
        """What a call needs; tensors on the model's device."""
        begin = time.perf_counter_ns()
        work = Work()
        inputs, numbers, details = self.transport.read_batch(payload)
        work.inputs = [tensor.to(self._device) for tensor in inputs]
        work.requests = Requests(details, self._is_iterative) if self.asks else None
        work.keywords = {"requests": work.requests.told} if self.asks else {}
        work.wanted, work.places, work.written = numbers, (), None
        if self.states:
            # Behind the wanted outputs, the first of which is a count: key, version and rows of each request.
            count, *rest = numbers
            work.wanted = rest[:count]
            work.places = [tuple(rest[at : at + 3]) for at in range(count, len(rest), 3)]
            work.inputs += self.states.read(work.places)
        work.input_ns = time.perf_counter_ns() - begin
        return work

    def call(self, work):
        return self._model(*work.inputs, **work.keywords)

    def note(self, payload):
        """A sequence is over."""
        self.states.forget(*FORGET.unpack(payload))

    def synchronize(self):
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)

    def done(self, batch, results, work, infer_ns):
        """The message with the results of a call that is over."""
        begin = time.perf_counter_ns()
        message = self.transport.write_batch(batch, self._pick(results, work))
        said = self.said(work)
        return DONE, message(work.input_ns, infer_ns, time.perf_counter_ns() - begin, *said)

    def part(self, batch, results, work, infer_ns):
        """The message with one of several results of a call."""
        begin = time.perf_counter_ns()
        message = self.transport.write_batch(batch, self._pick(results, work))
        return message(infer_ns, time.perf_counter_ns() - begin, *self._flags(work))

    def said(self, work):
        """What the end of a call says behind its times: what each request asks for, and the shapes of the states that it wrote and that are kept now."""
        shapes = self.states.write(work.places, work.written) if work.written is not None else []
        return [*self._flags(work), *shapes]

    def _flags(self, work):
        return work.requests.flags if work.requests is not None else []

    def fail(self, batch, error):
        self._channel.send(RUN_FAILED, struct.pack("<I", batch) + describe(error))
        self._leave_lost_device()

    def _pick(self, results, work):
        """The results that somebody wants, as tensors, by position; a mapping is asked by name. Those that are states are put by."""
        if is_stream(results):
            raise Refusal("output", "forward is a generator, which gives several responses: set model_transaction_policy { decoupled: true }")
        if isinstance(results, Mapping):
            missing = [name for name in self._names if name not in results]
            if missing:
                raise Refusal("output", f"forward returned a dict without '{missing[0]}'; it has {sorted(map(str, results))}")
            results = [results[name] for name in self._names]
        elif not isinstance(results, (tuple, list)):
            results = [results]
        if len(results) < len(self._names):
            raise Refusal(
                "output",
                f"forward returned {counted(len(results), 'result')}, the configuration names {counted(len(self._names), 'output')}: "
                f"{', '.join(self._names)}",
            )
        if self.states:
            work.written = [self._tensor(results[position], position) for position in self._written]
        return [self._tensor(results[position], position) for position in work.wanted]

    def _tensor(self, result, position):
        torch = self._torch
        if not isinstance(result, torch.Tensor):
            if not hasattr(result, "__dlpack__"):
                kind = type(result).__name__
                raise Refusal("output", f"result {position} of forward ('{self._names[position]}') is a {kind}, expected a tensor")
            # Arrays of other libraries, without a copy.
            result = torch.from_dlpack(result)
        if result.layout != torch.strided:
            result = result.to_dense()
        if self.transport.datatype_of(result) is None:
            name = self._names[position]
            raise Refusal("output", f"output '{name}' has datatype {result.dtype}, which cannot be returned; convert it in forward")
        return result

    def _leave_lost_device(self):
        """An error of a kernel stays with the process for good: a new one is needed."""
        if self._device.type != "cuda":
            return
        try:
            self._torch.cuda.synchronize(self._device)
        except RuntimeError as error:
            self._channel.log(ERROR, f"the GPU is lost to this process, which ends: {error}")
            os._exit(1)


def counted(count, noun):
    return f"{count} {noun}" + ("" if count == 1 else "s")


def describe(error):
    """What failed, for the message (`error`, `frames`) and for the log (`traceback`)."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if os.path.dirname(frame.filename) != HERE]
    refused = isinstance(error, Refusal)
    text = str(error) if refused else "".join(traceback.format_exception_only(type(error), error)).strip()
    return json.dumps({
        "reason": error.reason if refused else "python",
        "error": text,
        "frames": [] if refused else [frame_line(frame) for frame in relevant(own)],
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
    }).encode()  # fmt: skip


def relevant(frames):
    """The last frames, without those of installed packages as long as others are left."""
    users = [frame for frame in frames if "site-packages" not in frame.filename and not frame.filename.startswith("<frozen")]
    return (users or frames)[-SHOWN_FRAMES:]


def frame_line(frame):
    source = frame.line or linecache.getline(frame.filename, frame.lineno or 0).strip()
    return f"{os.path.basename(frame.filename)}:{frame.lineno}, in {frame.name}" + (f": {source}" if source else "")


def serve(channel):
    kind, payload = channel.receive()
    if kind != START:
        return 0
    try:
        start = json.loads(payload)
        torch = import_torch()
        set_threads(torch, channel, start)
    except BaseException as error:
        return refuse(channel, error)
    # For the life of the process: nothing here ever trains.
    with torch.inference_mode():
        try:
            runner = Runner(torch, channel, start)
        except BaseException as error:
            return refuse(channel, error)
        channel.send(READY, json.dumps({"torch": torch.__version__, "python": sys.version.split()[0], "asksForRequests": runner.asks}).encode())
        if start["decoupled"]:
            Streams(runner, channel, start["window"]).serve()
            return 0
        while True:
            kind, payload = channel.receive()
            if kind == RUN:
                runner.run(payload)
            elif kind == NOTE:
                runner.note(payload)
            else:
                return 0


def refuse(channel, error):
    channel.send(FAILED, describe(error))
    return 1


if __name__ == "__main__":
    # A crash in native code leaves the Python stack as last words.
    faulthandler.enable(all_threads=False)
    sys.exit(serve(Channel(3)))
