"""The body of an entry as a JSON value, with the flaws of its text. Pure.

Stricter than the host, which must work with real servers: what the host tolerates is reported here.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.reader import MAX_DEPTH, DuplicateKeyReader, NotJson, lone_surrogate, nests_deeper
from tui.core.text import clean_line
from tui.core.traffic import Direction, Entry, Kind, Severity

MAX_READ = 1 << 20
"""The linter does not parse larger bodies."""

_HTTP = ("status", "headers", "url", "http", "exchange")

OVERSIZE = 16 << 20
"""Maximum bytes of one message in mcptui's transports."""

QUOTE = 60

_BOM = b"\xef\xbb\xbf"
_PIECE = re.compile(rb'\s*(?:[{}\[\]]+,?|"[^"]{1,64}"\s*:.{0,200}|[}\]],?\s*"[^"]{1,64}"\s*:.{0,200})\s*')
_MESSAGE = re.compile(rb'\{\s*"(?:jsonrpc|id|result|error)"')
_HEADER = re.compile(rb"content-(?:length|type)\s*:", re.IGNORECASE)

BASIC = "basic"
TRANSPORT = "basic/transports"
"""Pages about messages and transports, by their names in revisions up to 2025-11-25."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A finding before it has an entry and a revision: a stable code and a cleaned sentence.

    `page` is the page of the specification, without the revision, or ""; `revision` is the one that requires
    it, or "" for the one in force.
    """

    code: str
    severity: Severity
    sentence: str
    page: str = ""
    revision: str = ""


@dataclass(slots=True)
class BodyReading:
    """A parsed body: the JSON value, if it is `sound`, and the flaws of its text."""

    value: Any = None
    sound: bool = False
    said: list[Flaw] = field(default_factory=list)


_TORN = Flaw("incomplete", Severity.ERROR, "The output ended in the middle of this line.", TRANSPORT)


def quote(raw: bytes | str, limit: int = QUOTE) -> str:
    """Return the head of untrusted text, cleaned, in quotes."""
    text = clean_line(raw[: limit * 8].decode("utf-8", "replace") if isinstance(raw, bytes) else raw, limit)
    return f"'{text}'" if '"' in text else f'"{text}"'


def is_http(entry: Entry) -> bool:
    """Return whether an entry is an HTTP body, where newlines have no meaning."""
    return not entry.detail.keys().isdisjoint(_HTTP)


def may_be_no_rpc(entry: Entry) -> bool:
    """Return whether an HTTP body may be something else than JSON-RPC: an OAuth form, an error page."""
    status = entry.detail.get("status")
    return entry.direction is Direction.OUT or (isinstance(status, int) and status >= 400)


def is_cut(entry: Entry) -> bool:
    """Return whether an entry is truncated, or its body is too large for the linter."""
    # A redaction mark may be shorter than the secret.
    missing = entry.size > len(entry.body) and not entry.redactions
    return bool(entry.sha256) or missing or "cut" in entry.detail or len(entry.body) > MAX_READ


class BodyReader:
    """Parses the bodies of entries that are expected to be messages. Used by one thread."""

    def __init__(self) -> None:
        self._json = DuplicateKeyReader()

    def read(self, entry: Entry, newline_framing: bool) -> BodyReading:
        """Parse a body, or a head; `newline_framing`: each line is a message, unlike over HTTP."""
        reading = BodyReading()
        raw = entry.body
        if entry.size > OVERSIZE:
            sentence = (
                f"The message has {entry.size:,} bytes. mcptui reads up to {OVERSIZE:,}, other clients less."
            )
            reading.said.append(Flaw("oversize", Severity.WARNING, sentence))
        if is_cut(entry):
            if entry.kind is Kind.NOT_JSON:
                sentence = f"A line of {entry.size:,} bytes is not JSON. It starts with {quote(raw)}."
                reading.said.append(Flaw("not-json", Severity.ERROR, sentence, BASIC))
            elif entry.size <= OVERSIZE:
                sentence = f"Only the start of its {entry.size:,} bytes was checked."
                reading.said.append(Flaw("not-whole", Severity.HINT, sentence))
            return reading
        if raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
            sentence = "A byte order mark precedes the message. It must start with {."
            reading.said.append(Flaw("byte-order-mark", Severity.WARNING, sentence, BASIC))
        if newline_framing and raw.endswith(b"\r"):
            sentence = "The line ends with CR LF. Messages are delimited by LF."
            reading.said.append(Flaw("line-ending", Severity.HINT, sentence, TRANSPORT))
        self._parse(entry, raw, reading, newline_framing)
        return reading

    def _parse(self, entry: Entry, raw: bytes, reading: BodyReading, newline_framing: bool) -> None:
        try:
            text = raw.decode()
        except UnicodeDecodeError as problem:
            bad = raw[problem.start : problem.start + 4].hex(" ")
            sentence = f"Byte {problem.start:,} is not UTF-8 ({bad}); messages are UTF-8 encoded."
            reading.said.append(Flaw("invalid-utf8", Severity.ERROR, sentence, TRANSPORT))
            text = raw.decode("utf-8", "replace")
        try:
            reading.value = self._json.read(text)
            reading.sound = True
        except RecursionError:
            sentence = "It is nested too deeply."
            reading.said.append(Flaw("too-deep", Severity.ERROR, sentence, BASIC))
        except ValueError as problem:
            if not entry.redactions:  # a redaction mark may replace a number
                torn = entry.detail.get("newline") is False
                reading.said.extend([_TORN] if torn else _not_json(raw, problem, newline_framing))
        else:
            reading.said.extend(_oddities(raw, reading.value, self._json.duplicate))


def _oddities(raw: bytes, value: Any, doubled: str | None) -> Iterator[Flaw]:
    if doubled is not None:
        sentence = f"An object has the key {quote(doubled)} twice. Parsers differ in which one they use."
        yield Flaw("duplicate-key", Severity.WARNING, sentence, BASIC)
    if b"\\u" in raw and (half := lone_surrogate(raw)):
        sentence = f"The text contains {half}, a lone surrogate, which is not valid UTF-8."
        yield Flaw("lone-surrogate", Severity.WARNING, sentence, BASIC)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and nests_deeper(value, MAX_DEPTH):
        sentence = f"It is nested more than {MAX_DEPTH} levels deep, which many parsers reject."
        yield Flaw("too-deep", Severity.WARNING, sentence, BASIC)


def _not_json(raw: bytes, problem: ValueError, newline_framing: bool) -> Iterator[Flaw]:
    head = raw.lstrip()
    if isinstance(problem, NotJson):
        yield Flaw("not-json", Severity.ERROR, f"It contains {problem.part}, which is not valid JSON.", BASIC)
    elif not head:
        yield Flaw("stray-output", Severity.HINT, "An empty line is not a message.", TRANSPORT)
    elif not newline_framing:
        yield Flaw("not-json", Severity.ERROR, f"The body is not JSON. It starts with {quote(raw)}.", BASIC)
    elif isinstance(problem, json.JSONDecodeError) and problem.msg == "Extra data" and head[:1] in b"{[":
        sentence = f"Extra data after the message: {quote(raw[problem.pos :])}."
        yield Flaw("stray-output", Severity.ERROR, sentence, TRANSPORT)
    elif _HEADER.match(head):
        sentence = (
            f"{quote(raw)} is a header of the language server protocol. MCP has one message per line and "
            "no headers."
        )
        yield Flaw("stray-output", Severity.ERROR, sentence, TRANSPORT)
    elif _MESSAGE.search(raw[1:]):
        sentence = f"More than one message, or text and a message, on one line: {quote(raw)}."
        yield Flaw("stray-output", Severity.ERROR, sentence, TRANSPORT)
    elif _PIECE.fullmatch(raw[:400]):
        sentence = f"{quote(raw)} looks like a part of a message that spans several lines."
        yield Flaw("embedded-newline", Severity.ERROR, sentence, TRANSPORT)
    elif head[:1] in b"{[":
        yield Flaw("not-json", Severity.ERROR, f"The line is not JSON: {_reason(problem)}.", BASIC)
    else:
        sentence = f"{quote(raw)} is not a message. Only messages may be written to stdout."
        yield Flaw("stray-output", Severity.WARNING, sentence, TRANSPORT)


def _reason(problem: ValueError) -> str:
    if isinstance(problem, json.JSONDecodeError):
        return f"{clean_line(problem.msg, 60)} at character {problem.pos + 1:,}"
    return clean_line(str(problem), 80)
