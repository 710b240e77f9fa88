"""Explains an entry in plain words: its purpose, outcome and cause. Pure.

Quoted texts of a server or a model are cleaned and bounded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.jsonrpc.classification import DIALECT_TYPES
from tui.core.jsonrpc.extensions import DEPRECATED_SINCE
from tui.core.jsonrpc.protocol import REVISIONS, VERSION_KEY, is_modern
from tui.core.jsonrpc.reader import json_mapping
from tui.core.text import VALUE_CHARS, capitalized, clean_line, compact, object_in
from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.core.units import duration, plural, size, span
from tui.traffic.explain import extensions
from tui.traffic.explain.events import error_words, event_sentences, status_words
from tui.traffic.methods import METHODS

_MESSAGES = frozenset({Kind.REQUEST, Kind.RESPONSE, Kind.ERROR, Kind.NOTIFICATION})
_NAMED = {
    "tools/call": "the tool",
    "prompts/get": "the prompt",
    "resources/read": "the resource",
    "resources/subscribe": "the resource",
    "resources/unsubscribe": "the resource",
    "notifications/resources/updated": "the resource",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """An entry in words: a title ("tools/call request 7"), sentences, most important first.

    `section` is the page of the specification ("2025-11-25 server/tools"), or "".
    """

    title: str
    sentences: tuple[str, ...]
    section: str = ""


def explain(entry: Entry, pair: Entry | None = None, revision: str = "") -> Explanation:
    """Return the explanation of an entry. Its body may be missing or truncated.

    `pair` is the response of a request, or the request of a response, a cancellation or progress. The
    revision named in the messages takes precedence.
    """
    revision = own_revision(entry) or (own_revision(pair) if pair is not None else "") or revision
    section = deprecated = ""
    if entry.kind in _MESSAGES and (method := METHODS.get(entry.method)) is not None:
        section = method.section(revision or max(method.out | method.back))
        deprecated = f"Deprecated since {DEPRECATED_SINCE}." if method.deprecated else ""
    match entry.kind:
        case Kind.REQUEST:
            title, sentences = _request(entry, pair, revision)
        case Kind.RESPONSE | Kind.ERROR:
            title, sentences = _answer(entry, pair, revision)
        case Kind.NOTIFICATION:
            title = f"{_method(entry)} notification"
            sentences = [_sentence(_purpose(entry, revision)), *details(entry)]
            if pair is not None:
                sentences.append(f"It belongs to #{pair.seq}, {_method(pair)} {_ident(pair)}".rstrip() + ".")
        case Kind.MODEL_REQUEST | Kind.MODEL_REPLY:
            title, sentences = _model(entry, pair)
        case Kind.EVENT:
            title = f"event {clean_line(entry.method, 40)}"
            sentences = event_sentences(entry.method, _server(entry), entry.detail)
        case _:
            title, sentences = _stray(entry)
    sentences.append(deprecated)
    if (cause := entry.cause) is not None:
        step = f", step {cause.step}" if cause.step else ""
        sentences.append(f"Part of turn {cause.turn}{step}." if cause.turn else "Sent by hand.")
    return Explanation(title, tuple(filter(None, sentences)), section)


def _request(entry: Entry, pair: Entry | None, revision: str) -> tuple[str, list[str]]:
    title = f"{_method(entry)} request {_ident(entry)}".rstrip()
    sentences = [_sentence(_purpose(entry, revision))]
    sentences += details(entry)
    if pair is not None:
        end = f" {ENDS[pair.outcome]}." if pair.outcome in ENDS else ""
        sentences.append(f"Answered after {_took(entry, pair)} by #{pair.seq}.{end}")
    elif entry.outcome in (Outcome.CANCELLED, Outcome.LOST, Outcome.PROBE):
        cut = ", or the session ended before a response" if entry.outcome is Outcome.CANCELLED else ""
        sentences.append(f"{ENDS[entry.outcome]}{cut}.")
    else:
        sentences.append("No response yet.")
    if entry.root not in (0, entry.seq):
        sentences.append(f"It continues the call that started with #{entry.root}.")
    return title, sentences


def _answer(entry: Entry, pair: Entry | None, revision: str) -> tuple[str, list[str]]:
    failed = entry.kind is Kind.ERROR
    word = "error" if failed else "result"
    title = f"{_method(entry)} {word} {_ident(entry)}".strip()
    sentences: list[str] = []
    if pair is not None:
        what = f" ({_purpose(pair)})"
        if pair.method == "tools/call" and pair.tool:
            what = f", a call of {clean_line(pair.tool, 80)} on the {_server(pair)}"
        sentences.append(f"The response to #{pair.seq}{what}.")
        sentences.append(f"It took {_took(pair, entry)}.")
    elif entry.pair:
        sentences.append(f"The response to #{entry.pair}.")
    else:
        sentences.append("A response to a request that is not in the recording or was never sent.")
    body = body_of(entry)
    if entry.outcome is Outcome.PROBE:
        sentences.append(f"{ENDS[Outcome.PROBE]}.")
    if failed:
        sentences += error_sentences(object_in(body, "error"))
    else:
        sentences += result_sentences(entry, object_in(body, "result"), revision)
    return title, sentences


def _model(entry: Entry, pair: Entry | None) -> tuple[str, list[str]]:
    name = clean_line(entry.method, 80) or clean_line(entry.source.partition(":")[2], 80)
    if entry.kind is Kind.MODEL_REQUEST:
        title = f"request to {name}"
        sentences = [f"mcptui sent the conversation and the tools to the model {name}: {size(entry.size)}."]
        if pair is not None:
            sentences.append(f"The reply is #{pair.seq}. It took {_took(entry, pair)}.")
    else:
        title = f"reply of {name}"
        sentences = [f"The reply of the model {name} with its tool calls: {size(entry.size)}."]
        if pair is not None:
            sentences.append(f"The response to #{pair.seq}. It took {_took(pair, entry)}.")
        if entry.outcome is Outcome.ERROR:
            sentences.append("The endpoint rejected the request or aborted the reply.")
    return title, sentences + status_sentences(entry.detail)


_STRAY = {
    Kind.STDERR: ("line on stderr", "{server} wrote it to stderr, its log"),
    Kind.NOT_JSON: (
        "not JSON",
        "{server} wrote a line to stdout that is not JSON. It was skipped, because only messages are allowed "
        "there",
    ),
    Kind.BATCH: ("batch", "A batch of messages"),
    Kind.NOT_RPC: ("not JSON-RPC", "JSON, but not a JSON-RPC 2.0 request, notification or response"),
}


def _stray(entry: Entry) -> tuple[str, list[str]]:
    title, words = _STRAY[entry.kind]
    if entry.kind is Kind.NOT_RPC and entry.method in DIALECT_TYPES:
        title = f"{entry.method}, line dialect"
        words = 'A message of the non-standard "hello" dialect, which is not MCP'
    sentences = [_sentence(words.format(server=_server(entry)))]
    head = clean_line(entry.body[:400].decode("utf-8", "replace"), 80)
    if entry.kind is Kind.BATCH:
        sentences.append("Only revision 2025-03-26 has batches. Its messages follow.")
    elif head:
        sentences.append(f"It starts with: {head}")
    return title, sentences + status_sentences(entry.detail)


def _purpose(entry: Entry, revision: str = "") -> str:
    """Return the purpose of a message, as a clause about its sender."""
    server = _server(entry)
    asker, asked = ("the client", server) if entry.direction is Direction.OUT else (server, "the client")
    method = METHODS.get(entry.method)
    if method is None:
        if words := extensions.WORDS.get(entry.method):
            return words.format(asker=asker, asked=asked)
        return f"{asker} sends {asked} {_method(entry)}, which is not an MCP method"
    name = clean_line(entry.tool, 80)
    kind = _NAMED.get(entry.method, "something")
    deed = method.words.format(asker=asker, asked=asked, what=f"{kind} {name}" if name else kind)
    if revision and revision not in method.out | method.back:
        deed += f" (not part of the negotiated revision {clean_line(revision, 20)})"
    return deed


def _took(request: Entry, answer: Entry) -> str:
    return span(abs(answer.mono_ns - request.mono_ns))


def _sentence(clause: str) -> str:
    return f"{capitalized(clause)}."


def _server(entry: Entry) -> str:
    return f"server {clean_line(entry.source, 64)}"


def _method(entry: Entry) -> str:
    return clean_line(entry.method, 80) or "unknown"


def _ident(entry: Entry) -> str:
    return clean_line(entry.ident, 40)


MAX_READ = 256 * 1024
"""Larger bodies are explained only by their columns."""

ENDS = {
    Outcome.ERROR: "It failed",
    Outcome.TOOL_ERROR: "The tool failed (isError in its result). The model sees the error",
    Outcome.CANCELLED: "It was cancelled",
    Outcome.LOST: "The server exited before it responded",
    Outcome.PROBE: "The server does not support it, because it uses another revision. This is expected",
    Outcome.INPUT_REQUIRED: "The server requires more input. The call continues in a new request",
}


_LISTS = {
    "tools": "tool",
    "resources": "resource",
    "resourceTemplates": "resource template",
    "prompts": "prompt",
    "content": "content block",
    "contents": "content block",
    "messages": "message",
}


def details(entry: Entry) -> list[str]:
    """Return sentences for the params of a request or notification."""
    params = object_in(body_of(entry), "params")
    if params and (said := extensions.params_sentences(entry.method, params)):
        return said
    match entry.method:
        case "tools/call":
            names = [clean_line(str(name), 40) for name in list(object_in(params, "arguments"))[:8]]
            given = [f"Arguments: {', '.join(names)}." if names else "No arguments."] if params else []
            return given + _input_sentence(params)
        case "initialize":
            version = clean_line(str(params.get("protocolVersion", "?")), 20)
            return [f"It requests revision {version}."] if params else []
        case "notifications/progress":
            done, total = params.get("progress"), params.get("total")
            of = f" of {_plain(total)}" if total is not None else ""
            message = clean_line(str(params.get("message", "")), 120)
            return [f"{_plain(done)}{of}{': ' + message if message else ''}."] if params else []
        case "notifications/message":
            level = clean_line(str(params.get("level", "?")), 20)
            return [f"Level {level}: {clean_line(_plain(params.get('data')), 160)}"] if params else []
        case "notifications/cancelled":
            reason = clean_line(str(params.get("reason", "")), 120)
            return [f"Reason: {reason}"] if reason else []
        case _ if params.get("cursor") is not None:
            return ["It requests the next page."]
        case _:
            return _input_sentence(params)


def _input_sentence(params: Mapping[str, Any]) -> list[str]:
    if "inputResponses" not in params:
        return []
    return ["It contains the requested input, and continues an earlier round of the call."]


def error_sentences(error: Mapping[str, Any]) -> list[str]:
    """Return sentences for a JSON-RPC error."""
    code, message = error.get("code"), clean_line(str(error.get("message", "")), 200)
    said = [f"Message: {message}"] if message else []
    if isinstance(code, int) and not isinstance(code, bool) and code.bit_length() < 64:
        return [f"Code {code}: {error_words(code)}.", *said]
    return ["An error without a valid code.", *said] if error else said


def result_sentences(entry: Entry, result: Mapping[str, Any], revision: str) -> list[str]:
    """Return sentences for a result."""
    sentences: list[str] = []
    if entry.outcome in (Outcome.TOOL_ERROR, Outcome.INPUT_REQUIRED):
        sentences.append(f"{ENDS[entry.outcome]}.")
    if entry.method == "initialize" and (version := result.get("protocolVersion")):
        sentences.append(f"The negotiated revision is {clean_line(str(version), 20)}.")
    versions = result.get("supportedVersions")
    if entry.method == "server/discover" and isinstance(versions, list):
        named = ", ".join(clean_line(str(version), 20) for version in versions[:8])
        sentences.append(f"The server supports {named}.")
    if (said := extensions.result_sentences(entry.method, result)) is not None:
        return [*sentences, *said, *status_sentences(entry.detail)]
    for key, word in _LISTS.items():
        if isinstance(items := result.get(key), list):
            more = " More pages follow." if result.get("nextCursor") is not None else ""
            sentences.append(f"It contains {plural(len(items), word)}.{more}")
    if is_modern(revision) and isinstance(ttl := result.get("ttlMs"), int) and ttl > 0:
        sentences.append(f"It may be cached for {duration(min(ttl, 1 << 50))}.")
    return sentences + status_sentences(entry.detail)


def status_sentences(detail: Mapping[str, Any]) -> list[str]:
    """Return sentences for the HTTP status, if there was one."""
    status = detail.get("status")
    if not isinstance(status, int) or isinstance(status, bool):
        return []
    return [f"HTTP {status}: {status_words(status)}."]


def own_revision(entry: Entry) -> str:
    """Return the revision that a request itself names (2026-07-28), "" if it names none or an unknown one."""
    params = object_in(body_of(entry), "params") if entry.kind is Kind.REQUEST else {}
    named = object_in(params, "_meta").get(VERSION_KEY)
    return named if isinstance(named, str) and named in REVISIONS else ""


def body_of(entry: Entry) -> Mapping[str, Any]:
    """Return the message of an entry, empty if it is missing or cannot be parsed."""
    if not entry.body or entry.sha256 or len(entry.body) > MAX_READ:
        return {}
    return json_mapping(entry.body)


def _plain(value: Any) -> str:
    """Return a server's value as short text, "?" without one."""
    if value is None:
        return "?"
    return value[:VALUE_CHARS] if isinstance(value, str) else compact(value)
