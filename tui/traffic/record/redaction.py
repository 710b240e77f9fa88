"""Removes secrets and excess length from captured bytes and details before they are stored.

This includes secret values in what is sent to servers, by any method, and secret arguments of calls in
messages to and from models. What is sent is not changed.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, NamedTuple

from tui.core.forms.elicitation import secret_fields
from tui.core.jsonrpc.reader import json_value
from tui.core.jsonrpc.skimmer import outline, value_end
from tui.core.secrets.commands_and_urls import masked
from tui.core.secrets.encodings import octets_of
from tui.core.secrets.named_values import (
    FORMS,
    MAX_NODES,
    Hidden,
    SecretArguments,
    SecretNames,
    name_in,
    named_values,
    spliced,
)
from tui.core.secrets.secret_names import is_secret_header, mark_name, mark_of
from tui.core.secrets.walk import redacted
from tui.core.text import list_in, mapping, object_in
from tui.core.traffic import Captured, Direction, Kind, Redaction
from tui.traffic.record.secret_texts import Redact, in_prose, within, without_secret_deltas

_ARGUMENTS = b'"arguments"'
_GIVING = (b'"params"', b'"result"', b'"error"', b'"arguments"', b'"args"')
_SCHEMA, _SAYS = b'"inputSchema"', (b'"writeOnly"', b'"password"')
_FORM = b'"requestedSchema"'

_CALL = re.compile(rb'"tools\\?/call"')  # PHP escapes the slash
_COMPLETION = re.compile(rb'"completion\\?/complete"')

_PART = re.compile(rb'"(?:(_meta|capabilities|clientInfo)|content|input|arguments)"\s*+:\s*+(?=\{)')
"""Members of the protocol (group 1), whose names of objects are not those of values, such as those of
extensions; and members that have what a user or a model gave."""

_ENVELOPE = frozenset(
    (
        "jsonrpc id method params result error name arguments argument input inputResponses content action"
        " context ref type uri cursor taskId requestId requestState progressToken protocolVersion _meta"
        " capabilities clientInfo"
    ).split()
)
"""Names of messages, which a tool or a rule may give to a secret argument too."""

_META = SecretNames(kept=_ENVELOPE)

_ARGUMENT = re.compile(rb'"argument"\s*+:\s*+(?=\{)')

_WRITTEN = re.compile(rb'"arguments"\s*+:\s*+(?=")')
_SAID_OR_ROLE = re.compile(rb'"role"\s*+:\s*+"([a-z]+)"|"(?:content|text)"\s*+:\s*+(?=")')
_TOOL = re.compile(rb'"name"\s*+:\s*+("[^"\\]*+(?:\\.[^"\\]*+)*")')
_SMALL = 4096
_NAME = re.compile(rb'"(?=([^"]*+)"\s*+:)')
"""A possible name in a message without escapes, wherever its texts begin."""

_NEAR = 600
"""Bytes before and after the arguments of a call in which its name is searched."""


def without_secret_calls(captured: Captured, raw: bytes, known: SecretArguments, redact: Redact) -> Hidden:
    """Return `raw`, the beginning of the captured bytes, without secret arguments.

    A reply in pieces is also returned without the secrets that `redact` finds in its joined texts.
    """
    is_reply = captured.kind is Kind.MODEL_REPLY
    if is_reply and (changed := without_secret_deltas(raw, known, redact)) is not None:
        return changed
    if is_reply or captured.kind is Kind.MODEL_REQUEST:
        found = [*_written(raw, known), *_in_model_text(raw, known, all_of_it=is_reply)]
        return spliced(raw, found, quote=b'\\"')
    return without_secret_arguments(raw, known, captured.source)


def without_secret_arguments(raw: bytes, known: SecretArguments, server: str = "") -> Hidden:
    """Return a message to a server with a mark for each secret value that the user or a model gave.

    These are arguments of tools and prompts, answers to forms, and values to complete. Names are those of the
    tool for its arguments, and elsewhere those of all tools and forms of the server.
    """
    if _has_no_secret_name(raw, known, server):
        return raw, frozenset()
    anywhere = known.of_server(server)
    call = None
    if _ARGUMENTS in raw:
        start, end, tool = _arguments_in(raw)
        is_call = _CALL.search(raw) and not raw.lstrip().startswith(b"[")
        call = _Part(start, end, known.of(server, tool) if is_call else anywhere)
    return spliced(raw, [*_given(raw, anywhere, call), *_completed(raw, anywhere)])


def _has_no_secret_name(raw: bytes, known: SecretArguments, server: str) -> bool:
    """Return whether nothing in a small message can be secret by its name, in a tenth of the time."""
    if len(raw) > _SMALL or b"\\" in raw or _COMPLETION.search(raw):
        return False
    return not _is_any_secret(tuple(_NAME.findall(raw)), known.of_any_tool(server))


@lru_cache(256)
def _is_any_secret(names: tuple[bytes, ...], secret: SecretNames) -> bool:
    return any(secret.includes(name_in(name)) for name in names)


class _Part(NamedTuple):
    """A part of a message, and which names are secret in it."""

    start: int
    end: int
    secret: SecretNames


def _parts(raw: bytes, secret: SecretNames, call: _Part | None) -> Iterator[_Part]:
    """Yield the parts that have names of their own, in order; `call` are the arguments of a call."""
    at = 0
    for end in (len(raw),) if call is None else (call.start, len(raw)):
        while found := _PART.search(raw, at, end):
            at = max(found.end(), min(_end(raw, found.end()), end))
            yield _Part(found.end(), at, _META if found[1] else secret)
        if call is not None and end == call.start:
            yield call
            at = call.end


def _given(raw: bytes, secret: SecretNames, call: _Part | None) -> Iterator[Redaction]:
    """Yield the secret values in a message, which are in any part of it."""
    elsewhere = secret._replace(kept=_ENVELOPE)
    at = 0
    for part in (*_parts(raw, secret, call), _Part(len(raw), len(raw), secret)):
        if part.start < at:
            continue  # in a value that is a secret as a whole
        for span in named_values(raw, at, part.start, elsewhere):
            whole = span if span.end < part.start else span._replace(end=_end(raw, span.start))
            at = whole.end
            yield whole
        if part.start >= at:
            yield from named_values(raw, part.start, part.end, part.secret, plain=part.secret is _META)
            at = part.end


def _completed(raw: bytes, secret: SecretNames) -> Iterator[Redaction]:
    """Yield the value to complete (`completion/complete`), which is apart from its name."""
    if _COMPLETION.search(raw) is None:
        return
    for found in _ARGUMENT.finditer(raw):
        try:
            members = outline(raw, found.end()).members
            name = _text(raw[slice(*members["name"])])
            first, last = members["value"]
        except (ValueError, KeyError):
            continue
        if secret.includes(name) and last - first > len('""'):
            yield Redaction(first, last, mark_name(name))


def has_schemas(captured: Captured) -> bool:
    """Return whether it may say which arguments, or fields of a form, are secret."""
    raw = captured.raw
    if captured.kind is not None or captured.direction is not Direction.IN:
        return False
    return _FORM in raw or (_SCHEMA in raw and any(word in raw for word in _SAYS))


def learn_schemas(captured: Captured, known: SecretArguments) -> None:
    """Learn the secret arguments from a tool list, when nothing else reads it (`mcptui tap`), and forms."""
    if not has_schemas(captured):
        return
    message = json_value(captured.raw, {})
    for tool in list_in(object_in(mapping(message), "result"), "tools"):
        if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
            known.learn(captured.source, name, tool.get("inputSchema"))
    waiting, seen = [message], 0
    while waiting and seen < MAX_NODES:  # forms may be anywhere
        seen += 1
        part = waiting.pop()
        if isinstance(part, dict) and isinstance(schema := part.get("requestedSchema"), dict):
            known.learn(captured.source, FORMS, schema, secret_fields(schema))
        inner = part.values() if isinstance(part, dict) else part
        waiting.extend(one for one in inner if isinstance(one, dict | list))


def _arguments_in(raw: bytes) -> tuple[int, int, str]:
    """Return the range of the arguments, and the tool; for a batch or cut message, from the first on."""
    tool = ""
    try:
        at, stop = outline(raw).members["params"]
        members = outline(raw[at : stop if stop >= 0 else len(raw)]).members
        if "name" in members:
            begin, end = members["name"]
            tool = str(json.loads(raw[at + begin : at + end])) if end >= 0 else ""
        begin, end = members["arguments"]
    except (ValueError, KeyError):
        found = _TOOL.search(raw)
        return raw.index(_ARGUMENTS), len(raw), _text(found[1]) if found else tool
    whole = end - begin > 1 and raw[at + end - 1 : at + end] == b"}"
    return at + begin, at + end if whole else len(raw), tool


def _written(raw: bytes, known: SecretArguments) -> Iterator[Redaction]:
    """Yield the secret values in arguments that are JSON within a string, as models write them."""
    for found in _WRITTEN.finditer(raw):
        start, end = found.end(), _end(raw, found.end())
        before = list(_TOOL.finditer(raw, max(0, found.start() - _NEAR), found.start()))
        named = before[-1] if before else _TOOL.search(raw, end, end + _NEAR)
        find = partial(_arguments, known.of_model_name(_text(named[1]) if named else ""))
        yield from within(raw, start, end, find)


def _arguments(secret: SecretNames, text: bytes) -> Iterator[Redaction]:
    return named_values(text, 0, len(text), secret)


def _in_model_text(raw: bytes, known: SecretArguments, *, all_of_it: bool) -> Iterator[Redaction]:
    """Yield the secret values in calls that a model without function calling wrote as text."""
    role = b"assistant" if all_of_it else b""
    for found in _SAID_OR_ROLE.finditer(raw):
        if found[1] is not None:
            role = b"assistant" if all_of_it else found[1]
        elif role == b"assistant":
            start = found.end()
            yield from within(raw, start, _end(raw, start), lambda text: in_prose(text, known))


def _end(raw: bytes, start: int) -> int:
    try:
        end = value_end(raw, start)
    except ValueError:
        return start
    return len(raw) if end < 0 else end


def _text(quoted: Any) -> str:
    return str(json_value(quoted, ""))


MARGIN = 64 * 1024
"""Bytes after the cap that are searched too, so that a secret across the cap is replaced completely."""

GROUP_BYTES = 4096
"""Bytes of bodies that are searched together: they have fewer than 2,000 masks (`shapes.MAX_MASKS`)."""

_MARK = re.compile(rb"\[redacted:([A-Za-z0-9_.-]{1,80})\]")
_MODEL = (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)

_URL_HEADERS = frozenset({"location", "referer", "content-location", "link"})


class StoredBody(NamedTuple):
    """A body to store: redacted, with its marks, and with a `sha256` of all bytes if it is truncated."""

    body: bytes
    redactions: tuple[Redaction, ...]
    sha256: str


def keep(captured: Captured, redact: Redact, cap: int, arguments: SecretArguments) -> StoredBody:
    """Return a body as it is stored; a `cap` of 0 stores all of it.

    `arguments` knows which arguments of calls are secret.
    """
    raw = captured.raw
    if _needs_more(captured):
        redact = partial(_with_arguments, redact, captured, arguments)
    else:
        learn_schemas(captured, arguments)
    whole = not _is_head(captured)
    if whole and (cap <= 0 or len(raw) <= cap):
        return StoredBody(*redact(raw), "")
    searched = raw[: cap + MARGIN] if cap > 0 else raw
    body, redactions = redact(searched)
    end = cap or len(body)
    if not whole or len(searched) < len(raw):  # a secret may be cut off at the end, which marks have moved
        end = min(end, max(len(body) - MARGIN, len(body) // 2))
    for span in redactions:
        if span.start < end < span.end:
            end = span.end
    inside = tuple(span for span in redactions if span.end <= end)
    digest = sha256(raw).hexdigest() if whole else str(captured.detail.get("sha256", ""))
    return StoredBody(body[:end], inside, digest)


def keep_all(
    group: Sequence[Captured], redact: Redact, cap: int, arguments: SecretArguments
) -> Iterator[StoredBody]:
    """Yield the result of `keep` for each; small bodies are searched together, in a third of the time.

    A secret in one of them is also found in the joined text: no pattern depends on the text next to a line,
    and a newline is part of no word. If anything is found, each body is searched alone.
    """
    start, size = 0, 0
    for end, captured in enumerate(group):
        size += len(captured.raw) + 1
        if size > GROUP_BYTES:
            yield from _keep_few(group[start:end], redact, cap, arguments)
            start, size = end, len(captured.raw) + 1
    yield from _keep_few(group[start:], redact, cap, arguments)


def _keep_few(
    group: Sequence[Captured], redact: Redact, cap: int, arguments: SecretArguments
) -> Iterator[StoredBody]:
    raws = [captured.raw for captured in group]
    alone = (
        len(raws) == 1
        or (cap and max(map(len, raws), default=0) > cap)
        or any(_is_head(one) or has_schemas(one) for one in group)
        or any(
            one.kind in _MODEL or without_secret_calls(one, one.raw, arguments, redact)[1]
            for one in filter(_needs_more, group)
        )
    )
    if alone or redact(b"\n".join(raws))[1]:
        yield from (keep(captured, redact, cap, arguments) for captured in group)
    else:
        yield from (StoredBody(raw, (), "") for raw in raws)


def _is_head(captured: Captured) -> bool:
    """Return whether the body is only a head, so that a secret may be cut off at its end."""
    return captured.size > len(captured.raw) and "withheld" not in captured.detail


def _needs_more(captured: Captured) -> bool:
    """Return whether there may be secrets that a search of the bytes does not find: in calls, in pieces."""
    if captured.kind in _MODEL:
        in_pieces = captured.kind is Kind.MODEL_REPLY and b"data:" in captured.raw
        return in_pieces or b"arguments" in captured.raw or b'\\"' in captured.raw
    is_sent = captured.kind is None and captured.direction is Direction.OUT
    return is_sent and any(word in captured.raw for word in _GIVING)


def _with_arguments(
    redact: Redact, captured: Captured, arguments: SecretArguments, raw: bytes
) -> tuple[bytes, tuple[Redaction, ...]]:
    """Redact secret arguments of calls, and secrets that a reply spells in pieces, too."""
    hidden, names = without_secret_calls(captured, raw, arguments, redact)
    body, redactions = redact(hidden)
    marks = {mark_of(name).encode() for name in names}
    again = (
        Redaction(*found.span(), found[1].decode()) for found in _MARK.finditer(body) if found[0] in marks
    )
    return body, tuple(sorted({*redactions, *again})) if names else redactions


def scrub(detail: Mapping[str, Any], redact: Redact) -> Mapping[str, Any]:
    """Return a transport's detail without secrets; headers with credentials lose their values.

    In a URL, passwords and secret parameters are replaced too.
    """
    hidden = _without_credentials(detail)
    try:
        text = octets_of(json.dumps(hidden, ensure_ascii=False))
    except (TypeError, ValueError):
        return {"fault": "detail that is not JSON"}
    if not redact(text)[1]:
        return hidden
    return redacted(hidden, lambda part: scrub_text(part, redact))


def scrub_text(text: str, redact: Redact) -> str:
    """Return a short text without secrets."""
    return redact(octets_of(text))[0].decode("utf-8", "replace")


def _without_credentials(detail: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(detail)
    for key, value in detail.items():
        if key == "url" and isinstance(value, str):
            found[key] = masked(value)
        elif isinstance(value, Mapping) and key.endswith("headers"):
            found[key] = {name: _header(str(name), text) for name, text in value.items()}
        elif isinstance(value, list | tuple) and key.endswith("headers"):
            found[key] = [
                [pair[0], _header(str(pair[0]), pair[1])]
                if isinstance(pair, list | tuple) and len(pair) == 2
                else pair
                for pair in value
            ]
    return found


def _header(name: str, value: Any) -> Any:
    if is_secret_header(name):
        return mark_of(name.lower())
    return masked(value) if name.lower() in _URL_HEADERS and isinstance(value, str) else value
