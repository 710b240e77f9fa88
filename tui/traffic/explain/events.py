"""Sentences for events of a server's life, error codes, HTTP statuses, exit codes and signals. Pure."""

import shlex
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from tui.core.jsonrpc.protocol import MODERN
from tui.core.programs import signal_name
from tui.core.text import capitalized, clean_line, object_in
from tui.core.units import and_more, bounded, counted, duration, plural, size

_ERRORS = {
    -32700: "what was sent is not JSON",
    -32600: "what was sent is not a valid request",
    -32601: "the receiver does not support this method",
    -32602: "the params are invalid for the method",
    -32603: "the receiver had an internal error",
    -32000: "an implementation error. SDKs use it for a closed connection",
    -32001: "an implementation error. SDKs use it for a timeout",
    -32002: f"the resource was not found (up to 2025-11-25, {MODERN} uses -32602)",
    -32020: f"HTTP headers and body disagree ({MODERN})",
    -32021: f"the request requires a capability that the client did not declare ({MODERN})",
    -32022: f"the receiver does not support the requested revision ({MODERN})",
    -32042: "the user must first do something in a browser (2025-11-25)",
}

_STATUS = {
    200: "success",
    202: "accepted, no content",
    204: "success, no content",
    400: "the server did not understand the request",
    401: "authorization is missing or expired",
    403: "permission denied",
    404: "not found, or the session has ended",
    405: "method not allowed at this URL (a message stream, GET, is optional)",
    503: "the server is overloaded or down",
    529: "the server is overloaded",
}
"""The meaning of a status for MCP or a model; others have their standard phrase."""

_SIGNALS = {
    "SIGHUP": "its terminal was closed",
    "SIGINT": "interrupted",
    "SIGABRT": "aborted itself",
    "SIGKILL": "killed, possibly because the system ran out of memory",
    "SIGSEGV": "it crashed",
    "SIGPIPE": "wrote to a closed pipe",
    "SIGTERM": "asked to terminate",
}


def error_words(code: int) -> str:
    """Return a JSON-RPC error code's meaning (JSON-RPC 2.0 section 5.1; MCP 2025-11-25 and 2026-07-28)."""
    if code in _ERRORS:
        return _ERRORS[code]
    if -32099 <= code <= -32020:
        return "reserved by MCP, not defined"
    return "reserved by JSON-RPC, not defined" if -32768 <= code <= -32020 else "defined by the server"


def status_words(status: int) -> str:
    """Return the meaning of an HTTP status, as a clause."""
    if status in _STATUS:
        return _STATUS[status]
    return HTTPStatus(status).phrase.lower() if status in set(HTTPStatus) else "not a standard status"


def exit_words(code: int) -> str:
    """Return the meaning of an exit code, as a clause; negative ones are signals, as in Python."""
    if code == 0:
        return "it exited normally"
    if code < 0:
        return f"it was terminated by {_signal_words(signal_name(-code))}"
    if (name := signal_name(code - 128)) in _SIGNALS:
        return f"the command it ran was terminated by {_signal_words(name)}"
    known = {126: "the command is not executable", 127: "the command was not found"}
    return known.get(code, f"it exited with code {code}")


def _signal_words(name: str) -> str:
    return f"{name} ({_SIGNALS[name]})" if name in _SIGNALS else name


_MOST_WORDS = 12
_SENTENCES = {
    "signal": "mcptui sent {signal} to {server} and its child processes, because it did not exit.",
    "stop": "mcptui began to stop {server}. It closes stdin first, then sends signals.",
    "gave up": "mcptui stopped waiting for the response to request {id} of {server}{why}.",
    "not sent": "A message of {lost} was not sent to {server}, because it has exited.",
    "log left out": "{lost} of stderr output from {server} came too fast to be recorded.",
    "unreadable": "This entry is lost: this part of the recording is damaged.",
    "connect": "Connected to {server}.",
    "disconnect": "The connection to {server} ended.",
    "endpoint": "{server} sent its message endpoint (HTTP+SSE, deprecated).",
    "session opened again": "{server} lost the session. mcptui reopened it.",
    "stream opened again": "mcptui reopened the stream of {server}. Messages sent meanwhile may be lost.",
    "broken": "The connection to {server} was lost{why}.",
    "not recorded": "This message was not recorded, because it may contain secrets of {server}{why}.",
    "command": "Another process uses {server}{why}.",
    "end": "{stream} of {server} is closed.",
}
"""Sentences with parts of the detail."""


def event_sentences(word: str, server: str, detail: Mapping[str, Any]) -> list[str]:
    """Return sentences for an event ("spawn", "exit", …), or the detail of an unknown one.

    `server` is its name in a sentence ("server weather").
    """
    if (longer := _LONGER.get(word)) is not None:
        return longer(server, detail)
    if (sentence := _SENTENCES.get(word)) is None:
        return _unknown(detail)
    why = clean_line(str(detail.get("why", "")), 160)
    said = sentence.format(
        server=server,
        why=f": {why.rstrip('.')}" if why else "",
        signal=clean_line(str(detail.get("signal", "a signal")), 24),
        id=clean_line(str(detail.get("id", "?")), 40),
        stream=clean_line(str(detail.get("stream", "a stream")), 16),
        lost=size(_number(detail.get("bytes"))),
    )
    return [said if said.startswith("mcptui ") else capitalized(said), *_acting(detail)]


def _sign_in(server: str, detail: Mapping[str, Any]) -> list[str]:
    """Return the purpose of a request to an authorization server, and its outcome."""
    url = clean_line(str(detail.get("url", "")), 200)
    method = clean_line(str(detail.get("http", "")), 12)
    sent = object_in(detail, "sent")
    how = "asked how to sign in to" if "/.well-known/" in url else "asked to sign in to"
    if "grant_type" in sent:
        how = "requested tokens for"
    elif "redirect_uris" in sent:
        how = "registered itself (deprecated) for"
    said = [f"mcptui {how} {server}: {method} {url}."]
    if "failed" in detail:
        return [*said, f"The request failed: {clean_line(str(detail['failed']), 160)}."]
    if (status := _number(detail.get("status"))) > 0:
        said.append(f"Response: HTTP {status:.0f}: {status_words(int(status))}.")
    return [*said, "Codes, tokens and secrets were redacted before recording."]


def _message_of(detail: Mapping[str, Any]) -> str:
    """Return the words for the message that an event is about."""
    names = [clean_line(str(detail[key]), 80) for key in ("method", "tool") if detail.get(key)]
    ident = [f"#{clean_line(str(detail['id']), 40)}"] if "id" in detail else []
    return " ".join((*names, *ident)) or "a message"


_HELD = {
    "held": "A breakpoint holds {message} {way} {server}.",
    "released": "{message} {way} {server} was released and sent unchanged.",
    "edited": "{message} {way} {server} was edited before it was sent. This entry has both versions.",
    "discarded": "{message} {way} {server} was dropped and never sent.",
    "undelivered": "{message} {way} {server} was not delivered: mcptui had broken off the connection.",
    "answered": "{message} {way} {server} was answered by hand. This entry has both messages.",
    "our progress": "mcptui sent progress because {message} {way} {server} is still held.",
}
"""What happened to a message that a breakpoint held, or that came too late."""


def _held(server: str, detail: Mapping[str, Any]) -> list[str]:
    sentence, way = _HELD[str(detail["event"])], "from" if detail.get("dir") == "in" else "to"
    said = [sentence.format(message=_message_of(detail), way=way, server=server)]
    notices = int(_number(detail.get("progress")))
    return [*said, f"mcptui sent progress {plural(notices, 'time')} meanwhile."] if notices > 1 else said


def _fault(server: str, detail: Mapping[str, Any]) -> list[str]:
    def said(name: str) -> str:
        return clean_line(str(detail.get(name, "")), 160)

    message = _message_of(detail)
    took = f" Delayed by {duration(_number(detail['seconds']) * 1000)}." if "seconds" in detail else ""
    gone = detail.get("gone")
    names = f" Gone: {', '.join(clean_line(str(one), 80) for one in gone)}." if isinstance(gone, list) else ""
    return [f"Fault injected by mcptui: {said('fault')} in {message} of {server}.{took}{names}"]


def _spawn(server: str, detail: Mapping[str, Any]) -> list[str]:
    argv = detail.get("argv")
    shown = argv[:_MOST_WORDS] if isinstance(argv, list) else []
    words = [clean_line(shlex.quote(str(word)), 80) for word in shown]
    more = " …" if isinstance(argv, list) and len(argv) > _MOST_WORDS else ""
    pid = f" as process {_number(detail['pid']):.0f}" if "pid" in detail else ""
    said = [f"The process of {server} was started{pid}."]
    if words:
        said.append(f"Command: {' '.join(words)}{more}")
    names = detail.get("env")
    if isinstance(names, list) and names:
        listed = ", ".join(clean_line(str(name), 40) for name in names[:_MOST_WORDS])
        said.append(f"Added to its environment: {listed}.")
    return said + _acting(detail)


def _acting(detail: Mapping[str, Any]) -> list[str]:
    host = detail.get("acts_as")
    return [f"mcptui introduces itself as {clean_line(str(host), 40)}."] if host else []


def _exit(server: str, detail: Mapping[str, Any]) -> list[str]:
    code, signal = detail.get("code"), detail.get("signal")
    after = detail.get("seconds")
    lived = f" after {duration(_number(after) * 1e3)}" if after is not None else ""
    sentences = [f"The process of {server} ended{lived}."]
    if isinstance(signal, str) and signal:
        sentences.append(f"It was terminated by {_signal_words(clean_line(signal, 24))}.")
    elif isinstance(code, int) and not isinstance(code, bool) and code.bit_length() < 64:
        sentences.append(f"{capitalized(exit_words(code))}.")
    pending = detail.get("pending")
    if isinstance(pending, int) and 0 < pending < 1 << 31:
        sentences.append(f"{plural(int(pending), 'pending request')} will get no response.")
    return sentences


def _http(server: str, detail: Mapping[str, Any]) -> list[str]:
    status, method = detail.get("status"), detail.get("http")
    if "sse" in detail:
        return [f"{capitalized(server)} sent an event without data, which keeps the stream open."]
    if isinstance(status, int) and not isinstance(status, bool) and status.bit_length() < 64:
        return [f"{capitalized(server)} responded without a body, HTTP {status}: {status_words(status)}."]
    match method:
        case "GET":
            return [f"The client opened a message stream from {server} (HTTP GET)."]
        case "DELETE":
            return [f"The client ended its session with {server} (HTTP DELETE)."]
    return [f"The client sent {server} an HTTP {clean_line(str(method or 'request'), 24)} without a body."]


def _too_large(_: str, detail: Mapping[str, Any]) -> list[str]:
    skipped, limit = (size(_number(detail.get(name))) for name in ("bytes", "limit"))
    return [f"A line of {skipped} was skipped. mcptui reads lines of up to {limit}."]


def _dropped(_: str, detail: Mapping[str, Any]) -> list[str]:
    entries, octets = _number(detail.get("entries")), _number(detail.get("bytes"))
    if not entries and octets:
        return [f"{size(octets)} missing: the traffic came faster than it could be recorded."]
    of = f" of {size(octets)}" if octets else ""
    what = counted(entries, "entry") if entries else "Entries"
    return [f"Missing: {what}{of}, dropped at the size limit or too fast to be stored."]


def _restarted(server: str, detail: Mapping[str, Any]) -> list[str]:
    seconds, lists = detail.get("seconds"), _names(detail, "changed")
    took = f" in {duration(_number(seconds) * 1e3)}" if seconds is not None else ""
    said = [f"mcptui restarted {server}{took}{_because(detail)}.", *_lost(detail)]
    return [*said, f"Changed lists: {lists}."] if lists else said


def _not_restarted(server: str, detail: Mapping[str, Any]) -> list[str]:
    why, place = (clean_line(str(detail.get(name, "")), 160) for name in ("why", "at"))
    said = ": ".join(filter(None, (place, why.rstrip("."))))
    return [f"mcptui did not restart {server}{_because(detail)}{f': {said}' if said else ''}."]


def _ended(server: str, detail: Mapping[str, Any]) -> list[str]:
    why = clean_line(str(detail.get("why", "")), 160)
    return [f"{capitalized(server)} is not running.", *filter(None, (why,)), *_lost(detail)]


def _because(detail: Mapping[str, Any]) -> str:
    files = _names(detail, "files")
    return f" because {files} changed" if files else ""


def _lost(detail: Mapping[str, Any]) -> list[str]:
    failed = int(_number(detail.get("failed")))
    return [f"{plural(failed, 'unfinished request')} failed."] if failed > 0 else []


def _names(detail: Mapping[str, Any], key: str) -> str:
    """Return what a list names: the last parts of paths, the first of them."""
    found = detail.get(key)
    names = [clean_line(str(one).rpartition("/")[2], 40) for one in found] if isinstance(found, list) else []
    return and_more(names, 3)


def _unknown(detail: Mapping[str, Any]) -> list[str]:
    told = [
        f"{clean_line(str(name), 24)}: {clean_line(str(value), 80)}"
        for name, value in list(detail.items())[:6]
        if name != "event" and isinstance(value, str | int | float)
    ]
    return ["A connection event.", *told]


_LONGER: Mapping[str, Callable[[str, Mapping[str, Any]], list[str]]] = {
    **dict.fromkeys(_HELD, _held),
    "fault": _fault,
    "spawn": _spawn,
    "exit": _exit,
    "restarted": _restarted,
    "restart failed": _not_restarted,
    "server ended": _ended,
    "http": _http,
    "sign-in": _sign_in,
    "too large": _too_large,
    "dropped": _dropped,
}
"""Functions for events with more to say."""


def _number(value: Any) -> float:
    return bounded(value) or 0
