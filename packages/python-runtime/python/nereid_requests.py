"""What `forward` is told of the requests that it answers, when it names the keyword `requests`, and what it may ask for them."""

import inspect
import json


AGAIN, SILENT = 1, 2


class Request:
    """One request of the call."""

    __slots__ = ("id", "correlation_id", "parameters", "rows", "traceparent", "_flags", "_is_iterative")

    def __init__(self, details, start, is_iterative):
        #: As the client gave it, '' when it gave none.
        self.id = details["id"]
        #: Sequence that it belongs to, a number or a string; 0 or '' for none.
        self.correlation_id = details["correlation_id"]
        #: Its parameters by name, forwarded headers among them: str, int, float or bool.
        self.parameters = details["parameters"]
        #: Its rows of each argument and result: a slice. Without batching, of its one row.
        self.rows = slice(start, start + details["rows"])
        #: Of its span, as W3C has it, for spans below that; None when no spans are made of it.
        self.traceparent = details.get("traceparent")
        self._flags = 0
        self._is_iterative = is_iterative

    def reschedule(self, respond=True):
        """Asks for another call with the same inputs in place of the final response, once this one has ended well.

        The results of this call are a response of a decoupled model, unless `respond` is false; a model that answers once gives none before its last call.
        """
        if not self._is_iterative:
            raise RuntimeError("reschedule() runs a request again only with sequence_batching { iterative_sequence: true }")
        self._flags = AGAIN if respond else AGAIN | SILENT

    def __repr__(self):
        return f"Request(id={self.id!r}, correlation_id={self.correlation_id!r}, rows={self.rows}, parameters={self.parameters!r})"


def asks_for_requests(forward):
    """Whether it has a parameter `requests` that no tensor can take."""
    parameter = inspect.signature(forward).parameters.get("requests")
    return parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY


class Requests:
    """All of a call, padding included."""

    def __init__(self, text, is_iterative):
        self._all = []
        #: Those that are told of.
        self.told = []
        start = 0
        for details in json.loads(text):
            request = Request(details, start, is_iterative)
            self._all.append(request)
            if not details["padding"]:
                self.told.append(request)
            start += details["rows"]
        self._is_iterative = is_iterative

    @property
    def flags(self):
        """What each asks for, when they may."""
        return [request._flags for request in self._all] if self._is_iterative else []
