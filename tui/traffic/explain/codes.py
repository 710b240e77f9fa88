"""What the numbers mean: codes of JSON-RPC errors, statuses of HTTP, exit codes and signals. Pure."""

from tui.traffic.methods import MODERN

_JSONRPC = {
    -32700: "what was sent is not JSON",
    -32600: "what was sent is not a valid request",
    -32601: "the receiver does not have this method",
    -32602: "the params are not what the method wants",
    -32603: "something failed inside the receiver",
}
_MCP = {
    -32000: "an error of the implementation; SDKs use it for a closed connection",
    -32001: "an error of the implementation; SDKs use it for a request that timed out",
    -32002: f"the resource was not found (up to 2025-11-25; {MODERN} uses -32602)",
    -32020: f"HTTP headers and body say different things ({MODERN})",
    -32021: f"the request needs a feature that the client did not declare ({MODERN})",
    -32022: f"the receiver does not speak the revision that was asked for ({MODERN})",
    -32042: "the person must first do something in a browser (2025-11-25)",
}

_STATUS = {
    200: "it worked",
    202: "taken, and there is nothing to answer",
    204: "it worked, and there is no content",
    301: "moved",
    302: "found elsewhere",
    307: "ask elsewhere, in the same way",
    308: "moved, ask there in the same way",
    400: "the server could not make sense of the request",
    401: "the server wants to know who asks: authorization is missing or has expired",
    403: "the server knows who asks, and refuses",
    404: "there is nothing at this address, or the session has ended",
    405: "this address does not take this kind of request",
    406: "the server cannot answer in a form that was accepted",
    408: "the server waited too long for the request",
    409: "it conflicts with something",
    413: "the request is too large",
    415: "the server does not take this kind of content",
    422: "the server understood the request, and cannot do it",
    429: "too many requests: wait before asking again",
    500: "the server failed",
    502: "a server behind the server failed",
    503: "the server is busy or down",
    504: "a server behind the server did not answer in time",
    529: "the server is overloaded",
}
_CLASSES = {1: "goes on", 2: "worked", 3: "is elsewhere", 4: "was refused", 5: "failed at the server"}

_SIGNALS = {
    1: "SIGHUP (its terminal was closed)",
    2: "SIGINT (interrupted)",
    6: "SIGABRT (it gave up by itself)",
    9: "SIGKILL (killed at once; also by a system short of memory)",
    11: "SIGSEGV (it crashed)",
    13: "SIGPIPE (it wrote to a pipe that nobody reads)",
    15: "SIGTERM (asked to end)",
}


def error_words(code: int) -> str:
    """Return what the code of a JSON-RPC error means, as a clause.

    Sources: JSON-RPC 2.0 section 5.1; the specification's error codes of 2025-11-25 and 2026-07-28.
    """
    if code in _JSONRPC:
        return _JSONRPC[code]
    if code in _MCP:
        return _MCP[code]
    if -32099 <= code <= -32020:
        return "reserved by MCP, without a meaning so far"
    if -32019 <= code <= -32000:
        return "an error of the implementation; it means what its server says"
    if -32768 <= code <= -32000:
        return "reserved by JSON-RPC, without a meaning so far"
    return "a code of the server's own"


def status_words(status: int) -> str:
    """Return what a status of HTTP means, as a clause."""
    return _STATUS.get(status) or _CLASSES.get(status // 100, "no status of HTTP")


def exit_words(code: int) -> str:
    """Return what an exit code means, as a clause; negative ones are signals, as Python counts."""
    if code == 0:
        return "it ended as it should"
    if code < 0:
        return f"it was ended by {signal_words(-code)}"
    if code == 126:
        return "the command is not executable"
    if code == 127:
        return "the command was not found"
    if code > 128 and code - 128 in _SIGNALS:
        return f"what it ran was ended by {signal_words(code - 128)}"
    return f"it ended with code {code}"


def signal_words(number: int) -> str:
    """Return the name of a signal and what it is for."""
    return _SIGNALS.get(number, f"signal {number}")
