"""What `forward` is told of the requests that it answers, when it names the keyword `requests`."""

import inspect
import json


class Request:
    """One request of the call."""

    __slots__ = ("id", "correlation_id", "parameters", "rows")

    def __init__(self, details, start):
        #: As the client gave it, '' when it gave none.
        self.id = details["id"]
        #: Sequence that it belongs to, a number or a string; 0 or '' for none.
        self.correlation_id = details["correlation_id"]
        #: Its parameters by name, forwarded headers among them: str, int, float or bool.
        self.parameters = details["parameters"]
        #: Its rows of each argument and result: a slice. Without batching, of its one row.
        self.rows = slice(start, start + details["rows"])

    def __repr__(self):
        return f"Request(id={self.id!r}, correlation_id={self.correlation_id!r}, rows={self.rows}, parameters={self.parameters!r})"


def asks_for_requests(forward):
    """Whether it has a parameter `requests` that no tensor can take."""
    parameter = inspect.signature(forward).parameters.get("requests")
    return parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY


def read_requests(text):
    requests = []
    start = 0
    for details in json.loads(text):
        requests.append(Request(details, start))
        start += details["rows"]
    return requests
