"""Runs a decoupled model: calls of `forward` side by side, each with any number of responses.

What `forward` returns decides: a generator or an async generator gives one response for each result it yields, None gives none, anything else is the only
response. Generators take turns, one result at a time, so that a call which its client holds back holds nobody else back. A call has `window` responses that
its client has not taken at most; GRANT gives it more. CANCEL closes its generator, at once where it waits and else when it yields.

A call answers RUN with any number of PART and then one of DONE (the only response), ENDED (the end alone) and RUN_FAILED.
"""

import asyncio
import inspect
import struct
import time

RUN, PART, ENDED, GRANT, CANCEL, NOTE = 16, 19, 20, 21, 22, 23

GRANTED = struct.Struct("<III")
NOTHING = object()


def is_stepwise(forward):
    """Whether a call of it comes back before it has computed anything."""
    kinds = (inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.iscoroutinefunction)
    return any(kind(forward) for kind in kinds)


def is_stream(results):
    return hasattr(results, "__next__") or hasattr(results, "__anext__")


class Call:
    def __init__(self, payload, window):
        self.payload = payload
        # The first field, should the rest of the message be at fault.
        (self.id,) = struct.unpack_from("<I", payload)
        self.credit = asyncio.Semaphore(window)
        self.is_cancelled = False
        self.task = None


class Streams:
    def __init__(self, runner, channel, window):
        self._runner = runner
        self._channel = channel
        self._window = window
        self._calls = {}

    def serve(self):
        """Returns when the parent wants the process to end."""
        asyncio.run(self._serve())

    async def _serve(self):
        loop = asyncio.get_running_loop()
        stopped = loop.create_future()
        loop.add_reader(self._channel.fileno(), self._receive, stopped)
        await stopped
        loop.remove_reader(self._channel.fileno())

    def _receive(self, stopped):
        kind, payload = self._channel.receive()
        if kind == RUN:
            call = Call(payload, self._window)
            self._calls[call.id] = call
            call.task = asyncio.create_task(self._run(call))
        elif kind == GRANT:
            call, count, released = GRANTED.unpack(payload)
            self._runner.transport.release(released)
            if call in self._calls:
                for _ in range(count):
                    self._calls[call].credit.release()
        elif kind == CANCEL:
            (call,) = struct.unpack("<I", payload)
            if call in self._calls:
                self._calls[call].is_cancelled = True
                self._calls[call].task.cancel()
        elif kind == NOTE:
            self._runner.note(payload)
        elif not stopped.done():
            stopped.set_result(None)

    async def _run(self, call):
        try:
            self._channel.send(*await self._answer(call))
        except asyncio.CancelledError:
            self._channel.send(ENDED, end_of_call(call.id, 0, 0))
        except BaseException as error:
            self._runner.fail(call.id, error)
        finally:
            del self._calls[call.id]

    async def _answer(self, call):
        """Sends the responses of a generator; the message that ends the call."""
        work = self._runner.read(call.payload)
        begin = time.perf_counter_ns()
        results = self._runner.call(work)
        if inspect.isawaitable(results):
            results = await results
        if is_stream(results):
            return ENDED, self._end(call, work, await self._send_each(call, results, work))
        self._runner.synchronize()
        done = time.perf_counter_ns()
        if results is None:
            return ENDED, self._end(call, work, done - begin)
        return self._runner.done(call.id, results, work, done - begin)

    def _end(self, call, work, infer_ns):
        # No time for outputs.
        return end_of_call(call.id, work.input_ns, infer_ns, 0, *self._runner.said(work))

    async def _send_each(self, call, results, work):
        """One response for each result; how long it took to find the end."""
        try:
            while True:
                await call.credit.acquire()
                # The turn of the others.
                await asyncio.sleep(0)
                begin = time.perf_counter_ns()
                result = await next_of(results)
                self._runner.synchronize()
                done = time.perf_counter_ns()
                # A generator may have taken the cancellation for something that it can go on after.
                if result is NOTHING or call.is_cancelled:
                    return done - begin
                self._channel.send(PART, self._runner.part(call.id, result, work, done - begin))
        finally:
            await close(results)


def end_of_call(call, *numbers):
    return struct.pack(f"<I{len(numbers)}Q", call, *numbers)


async def next_of(results):
    if hasattr(results, "__next__"):
        return next(results, NOTHING)
    try:
        return await results.__anext__()
    except StopAsyncIteration:
        return NOTHING


async def close(results):
    if hasattr(results, "aclose"):
        await results.aclose()
    elif hasattr(results, "close"):
        results.close()
