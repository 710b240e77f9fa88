"""Explains an entry in plain words: its purpose, outcome and cause. Pure.

Quoted texts of a server or a model are cleaned and bounded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.jsonrpc.classification import DIALECT_TYPES
from tui.core.jsonrpc.extensions import DEPRECATED_SINCE
from tui.core.jsonrpc.protocol import REVISIONS, VERSION_KEY, is_modern
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import (
    N_,
    Message,
    as_sentence,
    capitalized,
    message,
    n_message,
    verbatim,
)
from tui.core.language.translate import sentences as in_turn
from tui.core.text import VALUE_CHARS, clean_line, compact, object_in
from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.core.units import duration, size, span
from tui.traffic.explain import extensions
from tui.traffic.explain.events import error_words, event_sentences, status_words
from tui.traffic.methods import METHODS

_MESSAGES = frozenset({Kind.REQUEST, Kind.RESPONSE, Kind.ERROR, Kind.NOTIFICATION})
_TOOL, _PROMPT = (N_("the tool"), N_("the tool {name}")), (N_("the prompt"), N_("the prompt {name}"))
_RESOURCE = N_("the resource"), N_("the resource {name}")
_NAMED = {
    "tools/call": _TOOL,
    "prompts/get": _PROMPT,
    "resources/read": _RESOURCE,
    "resources/subscribe": _RESOURCE,
    "resources/unsubscribe": _RESOURCE,
    "notifications/resources/updated": _RESOURCE,
}
"""What the method is about, without and with its name."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An entry in words: a title ("tools/call request 7"), sentences, most important first.

    `section` is the page of the specification ("2025-11-25 server/tools"), or "".
    """

    title: Message
    sentences: tuple[Message, ...]
    section: str = ""


def explain(entry: Entry, pair: Entry | None = None, revision: str = "") -> Explanation:
    """Return the explanation of an entry. Its body may be missing or truncated.

    `pair` is the response of a request, or the request of a response, a cancellation or progress. The
    revision named in the messages takes precedence.
    """
    revision = own_revision(entry) or (own_revision(pair) if pair is not None else "") or revision
    section, deprecated = "", None
    if entry.kind in _MESSAGES and (method := METHODS.get(entry.method)) is not None:
        section = method.section(revision or max(method.out | method.back))
        if method.deprecated:
            deprecated = message("Deprecated since {revision}.", revision=DEPRECATED_SINCE)
    match entry.kind:
        case Kind.REQUEST:
            title, sentences = _request(entry, pair, revision)
        case Kind.RESPONSE | Kind.ERROR:
            title, sentences = _answer(entry, pair, revision)
        case Kind.NOTIFICATION:
            title = message("{method} notification", method=_method(entry))
            sentences = [as_sentence(_purpose(entry, revision)), *details(entry)]
            if pair is not None:
                named = f"{_method(pair)} {_ident(pair)}".rstrip()
                sentences.append(message("It belongs to #{seq}, {request}.", seq=pair.seq, request=named))
        case Kind.MODEL_REQUEST | Kind.MODEL_REPLY:
            title, sentences = _model(entry, pair)
        case Kind.EVENT:
            title = message("event {name}", name=clean_line(entry.method, 40))
            sentences = event_sentences(entry.method, _server(entry), entry.detail)
        case _:
            title, sentences = _stray(entry)
    if deprecated is not None:
        sentences.append(deprecated)
    if (cause := entry.cause) is not None:
        where = N_("Part of turn {turn}, step {step}.") if cause.step else N_("Part of turn {turn}.")
        by_hand = message("Sent by hand.")
        sentences.append(message(where, turn=cause.turn, step=cause.step) if cause.turn else by_hand)
    return Explanation(title, tuple(sentences), section)


def _request(entry: Entry, pair: Entry | None, revision: str) -> tuple[Message, list[Message]]:
    title = _titled(N_("{method} request"), N_("{method} request {id}"), entry)
    sentences = [as_sentence(_purpose(entry, revision))]
    sentences += details(entry)
    if pair is not None:
        answered = message("Answered after {time} by #{seq}.", time=_took(entry, pair), seq=pair.seq)
        sentences.append(in_turn(answered, ENDS[pair.outcome]) if pair.outcome in ENDS else answered)
    elif entry.outcome is Outcome.CANCELLED:
        sentences.append(message("It was cancelled, or the session ended before a response."))
    elif entry.outcome in (Outcome.LOST, Outcome.PROBE):
        sentences.append(ENDS[entry.outcome])
    else:
        sentences.append(message("No response yet."))
    if entry.root not in (0, entry.seq):
        sentences.append(message("It continues the call that started with #{seq}.", seq=entry.root))
    return title, sentences


def _titled(plain: str, with_id: str, entry: Entry) -> Message:
    words = with_id if entry.ident else plain
    return message(words, method=_method(entry), id=_ident(entry))


def _answer(entry: Entry, pair: Entry | None, revision: str) -> tuple[Message, list[Message]]:
    failed = entry.kind is Kind.ERROR
    title = _titled(N_("{method} result"), N_("{method} result {id}"), entry)
    if failed:
        title = _titled(N_("{method} error"), N_("{method} error {id}"), entry)
    sentences: list[Message] = []
    if pair is not None:
        to = message("The response to #{seq} ({purpose}).", seq=pair.seq, purpose=_purpose(pair))
        if pair.method == "tools/call" and pair.tool:
            to = message(
                "The response to #{seq}, a call of {tool} on the {server}.",
                seq=pair.seq,
                tool=clean_line(pair.tool, 80),
                server=_server(pair),
            )
        sentences += [to, message("It took {time}.", time=_took(pair, entry))]
    elif entry.pair:
        sentences.append(message("The response to #{seq}.", seq=entry.pair))
    else:
        sentences.append(message("A response to a request that is not in the recording or was never sent."))
    body = body_of(entry)
    if entry.outcome is Outcome.PROBE:
        sentences.append(ENDS[Outcome.PROBE])
    if failed:
        sentences += error_sentences(object_in(body, "error"))
    else:
        sentences += result_sentences(entry, object_in(body, "result"), revision)
    return title, sentences


def _model(entry: Entry, pair: Entry | None) -> tuple[Message, list[Message]]:
    name = clean_line(entry.method, 80) or clean_line(entry.source.partition(":")[2], 80)
    if entry.kind is Kind.MODEL_REQUEST:
        title = message("request to {model}", model=name)
        sent = N_("mcptui sent the conversation and the tools to the model {model}: {size}.")
        sentences = [message(sent, model=name, size=size(entry.size))]
        if pair is not None:
            took = _took(entry, pair)
            sentences.append(message("The reply is #{seq}. It took {time}.", seq=pair.seq, time=took))
    else:
        title = message("reply of {model}", model=name)
        reply = N_("The reply of the model {model} with its tool calls: {size}.")
        sentences = [message(reply, model=name, size=size(entry.size))]
        if pair is not None:
            took = _took(pair, entry)
            sentences.append(message("The response to #{seq}. It took {time}.", seq=pair.seq, time=took))
        if entry.outcome is Outcome.ERROR:
            sentences.append(message("The endpoint rejected the request or aborted the reply."))
    return title, sentences + status_sentences(entry.detail)


_STRAY = {
    Kind.STDERR: (N_("line on stderr"), N_("{server} wrote it to stderr, its log.")),
    Kind.NOT_JSON: (
        N_("not JSON"),
        N_(
            "{server} wrote a line to stdout that is not JSON. It was skipped, because only messages are "
            "allowed there."
        ),
    ),
    Kind.BATCH: (N_("batch"), N_("A batch of messages.")),
    Kind.NOT_RPC: (
        N_("not JSON-RPC"),
        N_("JSON, but not a JSON-RPC 2.0 request, notification or response."),
    ),
}


def _stray(entry: Entry) -> tuple[Message, list[Message]]:
    name, words = _STRAY[entry.kind]
    title = message(name)
    if entry.kind is Kind.NOT_RPC and entry.method in DIALECT_TYPES:
        title = message("{name}, line dialect", name=entry.method)
        words = N_('A message of the non-standard "hello" dialect, which is not MCP.')
    sentences = [capitalized(message(words, server=_server(entry)))]
    head = clean_line(entry.body[:400].decode("utf-8", "replace"), 80)
    if entry.kind is Kind.BATCH:
        sentences.append(message("Only revision 2025-03-26 has batches. Its messages follow."))
    elif head:
        sentences.append(message("It starts with: {text}", text=head))
    return title, sentences + status_sentences(entry.detail)


def _purpose(entry: Entry, revision: str = "") -> Message:
    """Return the purpose of a message, as a clause about its sender."""
    server, client = _server(entry), message("the client")
    asker, asked = (client, server) if entry.direction is Direction.OUT else (server, client)
    method = METHODS.get(entry.method)
    if method is None:
        if words := extensions.WORDS.get(entry.method):
            return message(words, asker=asker, asked=asked)
        not_ours = N_("{asker} sends {asked} {method}, which is not an MCP method")
        return message(not_ours, asker=asker, asked=asked, method=_method(entry))
    name = clean_line(entry.tool, 80)
    named = _NAMED.get(entry.method, _RESOURCE)[bool(name)]
    what = message(named, name=name)
    deed = message(method.words, asker=asker, asked=asked, what=what)
    if revision and revision not in method.out | method.back:
        strange = N_("{action} (not part of the negotiated revision {revision})")
        return message(strange, action=deed, revision=clean_line(revision, 20))
    return deed


def _took(request: Entry, answer: Entry) -> str:
    return span(abs(answer.mono_ns - request.mono_ns))


def _server(entry: Entry) -> Message:
    return message("server {name}", name=clean_line(entry.source, 64))


def _method(entry: Entry) -> str:
    return clean_line(entry.method, 80) or "unknown"


def _ident(entry: Entry) -> str:
    return clean_line(entry.ident, 40)


MAX_READ = 256 * 1024
"""Larger bodies are explained only by their columns."""

ENDS = {
    Outcome.ERROR: message("It failed."),
    Outcome.TOOL_ERROR: message("The tool failed (isError in its result). The model sees the error."),
    Outcome.CANCELLED: message("It was cancelled."),
    Outcome.LOST: message("The server exited before it responded."),
    Outcome.PROBE: message(
        "The server does not support it, because it uses another revision. This is expected."
    ),
    Outcome.INPUT_REQUIRED: message("The server requires more input. The call continues in a new request."),
}


_LISTS: Mapping[str, Callable[[int], Message]] = {
    "tools": lambda n: n_message("It contains {n} tool.", "It contains {n} tools.", n),
    "resources": lambda n: n_message("It contains {n} resource.", "It contains {n} resources.", n),
    "resourceTemplates": lambda n: n_message(
        "It contains {n} resource template.", "It contains {n} resource templates.", n
    ),
    "prompts": lambda n: n_message("It contains {n} prompt.", "It contains {n} prompts.", n),
    "content": lambda n: n_message("It contains {n} content block.", "It contains {n} content blocks.", n),
    "contents": lambda n: n_message("It contains {n} content block.", "It contains {n} content blocks.", n),
    "messages": lambda n: n_message("It contains {n} message.", "It contains {n} messages.", n),
}


def details(entry: Entry) -> list[Message]:
    """Return sentences for the params of a request or notification."""
    params = object_in(body_of(entry), "params")
    if params and (said := extensions.params_sentences(entry.method, params)):
        return said
    match entry.method:
        case "tools/call":
            names = ", ".join(clean_line(str(name), 40) for name in [*object_in(params, "arguments")][:8])
            given = message("Arguments: {names}.", names=names) if names else message("No arguments.")
            return ([given] if params else []) + _input_sentence(params)
        case "initialize":
            version = clean_line(str(params.get("protocolVersion", "?")), 20)
            return [message("It requests revision {revision}.", revision=version)] if params else []
        case "notifications/progress":
            done, total = params.get("progress"), params.get("total")
            reached = verbatim(_plain(done))
            if total is not None:
                reached = message("{done} of {total}", done=_plain(done), total=_plain(total))
            if text := clean_line(str(params.get("message", "")), 120):
                reached = message("{progress}: {text}", progress=reached, text=text)
            return [as_sentence(reached)] if params else []
        case "notifications/message":
            level = clean_line(str(params.get("level", "?")), 20)
            text = clean_line(_plain(params.get("data")), 160)
            return [message("Level {level}: {text}", level=level, text=text)] if params else []
        case "notifications/cancelled":
            reason = clean_line(str(params.get("reason", "")), 120)
            return [message("Reason: {reason}", reason=reason)] if reason else []
        case _ if params.get("cursor") is not None:
            return [message("It requests the next page.")]
        case _:
            return _input_sentence(params)


def _input_sentence(params: Mapping[str, Any]) -> list[Message]:
    if "inputResponses" not in params:
        return []
    return [message("It contains the requested input, and continues an earlier round of the call.")]


def error_sentences(error: Mapping[str, Any]) -> list[Message]:
    """Return sentences for a JSON-RPC error."""
    code, text = error.get("code"), clean_line(str(error.get("message", "")), 200)
    said = [message("Message: {text}", text=text)] if text else []
    if isinstance(code, int) and not isinstance(code, bool) and code.bit_length() < 64:
        return [message("Code {code}: {meaning}.", code=code, meaning=error_words(code)), *said]
    return [message("An error without a valid code."), *said] if error else said


def result_sentences(entry: Entry, result: Mapping[str, Any], revision: str) -> list[Message]:
    """Return sentences for a result."""
    sentences: list[Message] = []
    if entry.outcome in (Outcome.TOOL_ERROR, Outcome.INPUT_REQUIRED):
        sentences.append(ENDS[entry.outcome])
    if entry.method == "initialize" and (version := result.get("protocolVersion")):
        known = clean_line(str(version), 20)
        sentences.append(message("The negotiated revision is {revision}.", revision=known))
    versions = result.get("supportedVersions")
    if entry.method == "server/discover" and isinstance(versions, list):
        named = ", ".join(clean_line(str(version), 20) for version in versions[:8])
        sentences.append(message("The server supports {revisions}.", revisions=named))
    if (said := extensions.result_sentences(entry.method, result)) is not None:
        return [*sentences, *said, *status_sentences(entry.detail)]
    for key, contains in _LISTS.items():
        if isinstance(items := result.get(key), list):
            sentences.append(extensions.with_pages(contains(len(items)), result))
    if is_modern(revision) and isinstance(ttl := result.get("ttlMs"), int) and ttl > 0:
        sentences.append(message("It may be cached for {time}.", time=duration(min(ttl, 1 << 50))))
    return sentences + status_sentences(entry.detail)


def status_sentences(detail: Mapping[str, Any]) -> list[Message]:
    """Return sentences for the HTTP status, if there was one."""
    status = detail.get("status")
    if not isinstance(status, int) or isinstance(status, bool):
        return []
    return [message("HTTP {status}: {meaning}.", status=status, meaning=status_words(status))]


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
