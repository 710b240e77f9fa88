"""Sentences for events of a server's life, error codes, HTTP statuses, exit codes and signals. Pure."""

import shlex
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from tui.core.errors import without_stop
from tui.core.jsonrpc.protocol import MODERN
from tui.core.language.restored import stored
from tui.core.language.translate import (
    N_,
    Message,
    as_sentence,
    capitalized,
    message,
    n_message,
    sentences,
    verbatim,
)
from tui.core.programs import signal_name
from tui.core.text import clean_line, object_in
from tui.core.units import and_more, bounded, count, duration, size

_ERRORS = {
    -32700: N_("what was sent is not JSON"),
    -32600: N_("what was sent is not a valid request"),
    -32601: N_("the receiver does not support this method"),
    -32602: N_("the params are invalid for the method"),
    -32603: N_("the receiver had an internal error"),
    -32000: N_("an implementation error. SDKs use it for a closed connection"),
    -32001: N_("an implementation error. SDKs use it for a timeout"),
    -32002: N_("the resource was not found (up to 2025-11-25, {revision} uses -32602)"),
    -32020: N_("HTTP headers and body disagree ({revision})"),
    -32021: N_("the request requires a capability that the client did not declare ({revision})"),
    -32022: N_("the receiver does not support the requested revision ({revision})"),
    -32042: N_("the user must first do something in a browser (2025-11-25)"),
}

_STATUS = {
    200: N_("success"),
    202: N_("accepted, no content"),
    204: N_("success, no content"),
    400: N_("the server did not understand the request"),
    401: N_("authorization is missing or expired"),
    403: N_("permission denied"),
    404: N_("not found, or the session has ended"),
    405: N_("method not allowed at this URL (a message stream, GET, is optional)"),
    503: N_("the server is overloaded or down"),
    529: N_("the server is overloaded"),
}
"""The meaning of a status for MCP or a model; others have their standard phrase."""

_SIGNALS = {
    "SIGHUP": N_("its terminal was closed"),
    "SIGINT": N_("interrupted"),
    "SIGABRT": N_("aborted itself"),
    "SIGKILL": N_("killed, possibly because the system ran out of memory"),
    "SIGSEGV": N_("it crashed"),
    "SIGPIPE": N_("wrote to a closed pipe"),
    "SIGTERM": N_("asked to terminate"),
}


def error_words(code: int) -> Message:
    """Return a JSON-RPC error code's meaning (JSON-RPC 2.0 section 5.1; MCP 2025-11-25 and 2026-07-28)."""
    if code in _ERRORS:
        return message(_ERRORS[code], revision=MODERN)
    if -32099 <= code <= -32020:
        return message("reserved by MCP, not defined")
    if -32768 <= code <= -32020:
        return message("reserved by JSON-RPC, not defined")
    return message("defined by the server")


def status_words(status: int) -> Message:
    """Return the meaning of an HTTP status, as a clause."""
    if status in _STATUS:
        return message(_STATUS[status])
    if status in set(HTTPStatus):
        return verbatim(HTTPStatus(status).phrase.lower())
    return message("not a standard status")


def exit_words(code: int) -> Message:
    """Return the meaning of an exit code, as a clause; negative ones are signals, as in Python."""
    if code == 0:
        return message("it exited normally")
    if code < 0:
        return message("it was terminated by {signal}", signal=_signal_words(signal_name(-code)))
    if (name := signal_name(code - 128)) in _SIGNALS:
        return message("the command it ran was terminated by {signal}", signal=_signal_words(name))
    if code == 126:
        return message("the command is not executable")
    if code == 127:
        return message("the command was not found")
    return message("it exited with code {code}", code=code)


def _signal_words(name: str) -> Message:
    if name not in _SIGNALS:
        return verbatim(name)
    return message("{signal} ({meaning})", signal=name, meaning=message(_SIGNALS[name]))


_MOST_WORDS = 12
_SENTENCES = {
    "signal": N_("mcptui sent {signal} to {server} and its child processes, because it did not exit."),
    "stop": N_("mcptui began to stop {server}. It closes stdin first, then sends signals."),
    "gave up": N_("mcptui stopped waiting for the response to request {id} of {server}{why}."),
    "not sent": N_("A message of {size} was not sent to {server}, because it has exited."),
    "log left out": N_("{size} of stderr output from {server} came too fast to be recorded."),
    "unreadable": N_("This entry is lost: this part of the recording is damaged."),
    "connect": N_("Connected to {server}."),
    "disconnect": N_("The connection to {server} ended."),
    "endpoint": N_("{server} sent its message endpoint (HTTP+SSE, deprecated)."),
    "session opened again": N_("{server} lost the session. mcptui reopened it."),
    "stream opened again": N_("mcptui reopened the stream of {server}. Messages sent meanwhile may be lost."),
    "broken": N_("The connection to {server} was lost{why}."),
    "not recorded": N_("This message was not recorded, because it may contain secrets of {server}{why}."),
    "command": N_("Another process uses {server}{why}."),
    "end": N_("{stream} of {server} is closed."),
}
"""Sentences with parts of the detail."""


def event_sentences(word: str, server: str, detail: Mapping[str, Any]) -> list[Message]:
    """Return sentences for an event ("spawn", "exit", …), or the detail of an unknown one.

    `server` is its name in a sentence ("server weather"), also as a message.
    """
    if (longer := _LONGER.get(word)) is not None:
        return longer(server, detail)
    if (sentence := _SENTENCES.get(word)) is None:
        return _unknown(detail)
    why = clean_line(str(detail.get("why", "")), 160)
    said = message(
        sentence,
        server=server,
        why=_because_of(why),
        signal=clean_line(str(detail["signal"]), 24) if "signal" in detail else message("a signal"),
        id=clean_line(str(detail.get("id", "?")), 40),
        stream=clean_line(str(detail["stream"]), 16) if "stream" in detail else message("a stream"),
        size=size(_number(detail.get("bytes"))),
    )
    return [said if said.startswith("mcptui ") else capitalized(said), *_acting(detail)]


def _because_of(why: str) -> Message | str:
    """Return a reason as the end of a sentence."""
    return message(": {why}", why=without_stop(stored(f"{why.rstrip('.')}."))) if why else ""


def _sign_in(server: str, detail: Mapping[str, Any]) -> list[Message]:
    """Return the purpose of a request to an authorization server, and its outcome."""
    url = clean_line(str(detail.get("url", "")), 200)
    method = clean_line(str(detail.get("http", "")), 12)
    sent = object_in(detail, "sent")
    how = N_("mcptui asked to sign in to {server}: {method} {url}.")
    if "/.well-known/" in url:
        how = N_("mcptui asked how to sign in to {server}: {method} {url}.")
    if "grant_type" in sent:
        how = N_("mcptui requested tokens for {server}: {method} {url}.")
    elif "redirect_uris" in sent:
        how = N_("mcptui registered itself (deprecated) for {server}: {method} {url}.")
    said = [message(how, server=server, method=method, url=url)]
    if "failed" in detail:
        failed = clean_line(str(detail["failed"]), 160)
        return [*said, message("The request failed: {reason}.", reason=failed)]
    if (status := int(_number(detail.get("status")))) > 0:
        meaning = status_words(status)
        said.append(message("Response: HTTP {status}: {meaning}.", status=status, meaning=meaning))
    return [*said, message("Codes, tokens and secrets were redacted before recording.")]


def _message_of(detail: Mapping[str, Any]) -> Message:
    """Return the words for the message that an event is about."""
    names = [clean_line(str(detail[key]), 80) for key in ("method", "tool") if detail.get(key)]
    ident = [f"#{clean_line(str(detail['id']), 40)}"] if "id" in detail else []
    words = " ".join((*names, *ident))
    return verbatim(words) if words else message("a message")


_HELD = {
    "held": N_("A breakpoint holds {message}."),
    "released": N_("{message} was released and sent unchanged."),
    "edited": N_("{message} was edited before it was sent. This entry has both versions."),
    "discarded": N_("{message} was dropped and never sent."),
    "undelivered": N_("{message} was not delivered: mcptui had broken off the connection."),
    "answered": N_("{message} was answered by hand. This entry has both messages."),
    "our progress": N_("mcptui sent progress because {message} is still held."),
}
"""What happened to a message that a breakpoint held, or that came too late."""


def _held(server: str, detail: Mapping[str, Any]) -> list[Message]:
    way = N_("{message} from {server}") if detail.get("dir") == "in" else N_("{message} to {server}")
    what = message(way, message=_message_of(detail), server=server)
    said = [message(_HELD[str(detail["event"])], message=what)]
    if (notices := int(_number(detail.get("progress")))) > 1:
        said.append(
            n_message(
                "mcptui sent progress {n} time meanwhile.",
                "mcptui sent progress {n} times meanwhile.",
                notices,
            )
        )
    return said


def _fault(server: str, detail: Mapping[str, Any]) -> list[Message]:
    def said(name: str) -> str:
        return clean_line(str(detail.get(name, "")), 160)

    injected = N_("Fault injected by mcptui: {fault} in {message} of {server}.")
    told = message(injected, fault=said("fault"), message=_message_of(detail), server=server)
    if "seconds" in detail:
        time = duration(_number(detail["seconds"]) * 1000)
        told = sentences(told, message("Delayed by {time}.", time=time))
    if isinstance(gone := detail.get("gone"), list):
        names = ", ".join(clean_line(str(one), 80) for one in gone)
        told = sentences(told, message("Gone: {names}.", names=names))
    return [told]


def _spawn(server: str, detail: Mapping[str, Any]) -> list[Message]:
    argv = detail.get("argv")
    shown = argv[:_MOST_WORDS] if isinstance(argv, list) else []
    words = [clean_line(shlex.quote(str(word)), 80) for word in shown]
    more = " …" if isinstance(argv, list) and len(argv) > _MOST_WORDS else ""
    said = [message("The process of {server} was started.", server=server)]
    if "pid" in detail:
        pid = f"{_number(detail['pid']):.0f}"
        said = [message("The process of {server} was started as process {pid}.", server=server, pid=pid)]
    if words:
        said.append(message("Command: {command}", command=f"{' '.join(words)}{more}"))
    names = detail.get("env")
    if isinstance(names, list) and names:
        listed = ", ".join(clean_line(str(name), 40) for name in names[:_MOST_WORDS])
        said.append(message("Added to its environment: {names}.", names=listed))
    return said + _acting(detail)


def _acting(detail: Mapping[str, Any]) -> list[Message]:
    if not (host := detail.get("acts_as")):
        return []
    return [message("mcptui introduces itself as {name}.", name=clean_line(str(host), 40))]


def _exit(server: str, detail: Mapping[str, Any]) -> list[Message]:
    code, signal = detail.get("code"), detail.get("signal")
    sentences = [message("The process of {server} ended.", server=server)]
    if (after := detail.get("seconds")) is not None:
        lived = duration(_number(after) * 1e3)
        sentences = [message("The process of {server} ended after {time}.", server=server, time=lived)]
    if isinstance(signal, str) and signal:
        known = _signal_words(clean_line(signal, 24))
        sentences.append(message("It was terminated by {signal}.", signal=known))
    elif isinstance(code, int) and not isinstance(code, bool) and code.bit_length() < 64:
        sentences.append(as_sentence(exit_words(code)))
    pending = detail.get("pending")
    if isinstance(pending, int) and 0 < pending < 1 << 31:
        sentences.append(
            n_message(
                "{n} pending request will get no response.",
                "{n} pending requests will get no response.",
                int(pending),
            )
        )
    return sentences


def _http(server: str, detail: Mapping[str, Any]) -> list[Message]:
    status, method = detail.get("status"), detail.get("http")
    if "sse" in detail:
        no_data = N_("{server} sent an event without data, which keeps the stream open.")
        return [capitalized(message(no_data, server=server))]
    if isinstance(status, int) and not isinstance(status, bool) and status.bit_length() < 64:
        empty = N_("{server} responded without a body, HTTP {status}: {meaning}.")
        meaning = status_words(status)
        return [capitalized(message(empty, server=server, status=status, meaning=meaning))]
    match method:
        case "GET":
            return [message("The client opened a message stream from {server} (HTTP GET).", server=server)]
        case "DELETE":
            return [message("The client ended its session with {server} (HTTP DELETE).", server=server)]
    kind = clean_line(str(method or "request"), 24)
    return [message("The client sent {server} an HTTP {kind} without a body.", server=server, kind=kind)]


def _too_large(_: str, detail: Mapping[str, Any]) -> list[Message]:
    skipped, limit = (size(_number(detail.get(name))) for name in ("bytes", "limit"))
    skips = N_("A line of {size} was skipped. mcptui reads lines of up to {limit}.")
    return [message(skips, size=skipped, limit=limit)]


def _dropped(_: str, detail: Mapping[str, Any]) -> list[Message]:
    entries, octets = _number(detail.get("entries")), _number(detail.get("bytes"))
    if not entries and octets:
        too_fast = N_("{size} missing: the traffic came faster than it could be recorded.")
        return [message(too_fast, size=size(octets))]
    what = message("Entries")
    if entries:
        what = n_message("{count} entry", "{count} entries", int(entries), count=count(entries))
    if octets:
        what = message("{entries} of {size}", entries=what, size=size(octets))
    return [message("Missing: {what}, dropped at the size limit or too fast to be stored.", what=what)]


def _restarted(server: str, detail: Mapping[str, Any]) -> list[Message]:
    seconds, lists, files = detail.get("seconds"), _names(detail, "changed"), _names(detail, "files")
    took = duration(_number(seconds) * 1e3) if seconds is not None else ""
    how = N_("mcptui restarted {server}.")
    if took and files:
        how = N_("mcptui restarted {server} in {time} because {files} changed.")
    elif files:
        how = N_("mcptui restarted {server} because {files} changed.")
    elif took:
        how = N_("mcptui restarted {server} in {time}.")
    said = [message(how, server=server, time=took, files=files), *_lost(detail)]
    return [*said, message("Changed lists: {lists}.", lists=lists)] if lists else said


def _not_restarted(server: str, detail: Mapping[str, Any]) -> list[Message]:
    why, place = (clean_line(str(detail.get(name, "")), 160) for name in ("why", "at"))
    reason = _because_of(": ".join(filter(None, (place, why.rstrip(".")))))
    files = _names(detail, "files")
    how = N_("mcptui did not restart {server}{why}.")
    if files:
        how = N_("mcptui did not restart {server} because {files} changed{why}.")
    return [message(how, server=server, files=files, why=reason)]


def _ended(server: str, detail: Mapping[str, Any]) -> list[Message]:
    why = clean_line(str(detail.get("why", "")), 160)
    said = capitalized(message("{server} is not running.", server=server))
    return [said, *([verbatim(why)] if why else []), *_lost(detail)]


def _lost(detail: Mapping[str, Any]) -> list[Message]:
    failed = int(_number(detail.get("failed")))
    if failed <= 0:
        return []
    return [n_message("{n} unfinished request failed.", "{n} unfinished requests failed.", failed)]


def _names(detail: Mapping[str, Any], key: str) -> str:
    """Return what a list names: the last parts of paths, the first of them."""
    found = detail.get(key)
    names = [clean_line(str(one).rpartition("/")[2], 40) for one in found] if isinstance(found, list) else []
    return and_more(names, 3)


def _unknown(detail: Mapping[str, Any]) -> list[Message]:
    told = [
        verbatim(f"{clean_line(str(name), 24)}: {clean_line(str(value), 80)}")
        for name, value in list(detail.items())[:6]
        if name != "event" and isinstance(value, str | int | float)
    ]
    return [message("A connection event."), *told]


_LONGER: Mapping[str, Callable[[str, Mapping[str, Any]], list[Message]]] = {
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
