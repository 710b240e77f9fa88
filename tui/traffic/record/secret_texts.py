"""Finds secrets in recorded texts: JSON strings that contain JSON, and replies in pieces. Pure.

In a stream, these are secret arguments of calls, and every secret in a text: an answer, reasoning, or the
arguments of a call. Only events with a piece of a secret are rewritten. `joined` shows a stream as one value.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from tui.core.jsonrpc.framing import DATA_LINE, EventCutter
from tui.core.jsonrpc.skimmer import value_end
from tui.core.secrets.named_values import Hidden, SecretArguments, named_values
from tui.core.secrets.secret_names import mark_of
from tui.core.traffic import Redaction

_OPENED = re.compile(rb'\{\s*+"')

Redact = Callable[[bytes], tuple[bytes, tuple[Redaction, ...]]]
"""Returns bytes with marks for the secrets in them, and the positions of the marks."""

Finder = Callable[[bytes], Iterable[Redaction]]


def within(raw: bytes, start: int, end: int, find: Finder) -> Iterator[Redaction]:
    """Yield the spans in `raw` of the values that `find` finds in the string from `start` to `end`.

    The range includes the quotes.
    """
    inner = raw[start + 1 : end]
    inner = inner.removesuffix(b'"') if raw[end - 1 : end] == b'"' and end - start > 1 else inner
    if b'\\"' not in inner and b"\\u0022" not in inner:
        return
    starts, text = _unescaped(inner)
    for span in find(text):
        yield Redaction(start + 1 + starts[span.start], start + 1 + starts[span.end], span.name)


_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)


def _unescaped(inner: bytes) -> tuple[list[int], bytes]:
    """Return a JSON string without escapes, and the original position of each byte and of the end."""
    text = bytearray()
    origin: list[int] = []
    done = 0
    for found in _ESCAPE.finditer(inner):
        text += inner[done : found.start()]
        origin += range(done, found.start())
        try:
            char = str(json.loads(b'"' + found[0] + b'"')).encode("utf-8", "replace")
        except ValueError:
            char = found[0]
        text += char
        origin += [found.start()] * len(char)
        done = found.end()
    text += inner[done:]
    origin += range(done, len(inner) + 1)
    return origin, bytes(text)


def in_prose(text: bytes, known: SecretArguments) -> Iterator[Redaction]:
    """Yield secret values in JSON objects within prose, where a model writes calls as text."""
    done, secret = 0, None
    while opened := _OPENED.search(text, done):
        try:
            end = value_end(text, opened.start())
        except ValueError:
            end = -1
        done = len(text) if end < 0 else end
        secret = secret or known.in_text(text.decode("utf-8", "replace"))
        yield from named_values(text, opened.start(), done, secret)


_BOM = b"\xef\xbb\xbf"
_DATA = re.compile(rb"data(?:[:\r\n]|\Z)")
_ENDS = b"\r\n"


class _Piece(NamedTuple):
    """A piece of a text: its line, object and member."""

    line: int
    holder: dict[str, Any]
    member: str


_Path = tuple[str | int | None, ...]
"""The names of members and the numbers of items that lead to a text."""


class _Stream:
    """The events of a stream, as a reply is read, and the texts formed by their pieces.

    Attributes:
        lines: with their ends.
        chunks: the data of each event that is JSON, by its first line of data.
        others: the other lines of data of these events, by the first.
    """

    def __init__(self, raw: bytes) -> None:
        self.lines = raw.splitlines(keepends=True)
        self.chunks: dict[int, Any] = {}
        self.others: dict[int, Sequence[int]] = {}
        cutter = EventCutter(len(raw), json_lines=True)
        own: list[int] = []
        for number, line in enumerate(self.lines):
            for event in cutter.feed(line if line.endswith((b"\n", b"\r")) else line + b"\n"):
                self._keep(own, event.data)
                own = []
            if self.is_data(number):
                own.append(number)
        for event in cutter.close():
            self._keep(own, event.data)

    def _plain(self, number: int) -> bytes:
        """Return a line without the mark before the first one."""
        return self.lines[number].removeprefix(b"" if number else _BOM)

    def _keep(self, own: Sequence[int], data: bytes) -> None:
        """Keep the data of an event with its `own` lines: all of it, or each line, whichever is JSON."""
        first, *others = own
        with suppress(ValueError, RecursionError):
            self.chunks[first], self.others[first] = json.loads(data), others
            return
        for number in own if others else ():
            with suppress(ValueError, RecursionError):
                self.chunks[number] = json.loads(self.data_of(number))

    def is_data(self, number: int) -> bool:
        return _DATA.match(self._plain(number)) is not None

    def data_of(self, number: int) -> bytes:
        """Return the data of a line of data."""
        return self._plain(number).partition(b":")[2]

    def without(self, changed: set[int]) -> bytes:
        """Return the stream with the changed events rewritten, each in one line of data."""
        for number in changed:
            line, plain = self.lines[number], self._plain(number)
            text = json.dumps(self.chunks[number], separators=(",", ":")).encode()
            head, end = line[: len(line) - len(plain)], line[len(line.rstrip(_ENDS)) :]
            self.lines[number] = head + b"data: " + text + end
            for other in self.others.get(number, ()):
                self.lines[other] = b""
        return b"".join(self.lines)

    def texts(self) -> dict[_Path, list[_Piece]]:
        """Return the pieces of each text that the events form: those of members with the same path.

        Items of a list, such as choices and calls, are identified by their `index`, not by their position.
        """
        found: dict[_Path, list[_Piece]] = {}
        for number, chunk in self.chunks.items():
            waiting: list[tuple[_Path, Any]] = [((), chunk)]
            while waiting:
                path, holder = waiting.pop()
                if isinstance(holder, list):
                    for place, item in reversed(list(enumerate(holder))):
                        index = item.get("index") if isinstance(item, dict) else None
                        by_place = place if path[-1:] == ("tool_calls",) else None
                        waiting.append(((*path, index if isinstance(index, int) else by_place), item))
                elif isinstance(holder, dict):
                    for name, value in holder.items():
                        if isinstance(value, str):
                            found.setdefault((*path, name), []).append(_Piece(number, holder, name))
                        elif isinstance(value, dict | list):
                            waiting.append(((*path, name), value))
        return found


def without_secret_deltas(raw: bytes, known: SecretArguments, redact: Redact) -> Hidden | None:
    """Return a stream of events without secrets in pieces; None if it is not a stream.

    `redact` finds the secrets of the configuration and known shapes in a text.
    """
    if DATA_LINE.search(raw) is None:
        return None
    stream = _Stream(raw)
    changed: set[int] = set()
    marks: set[str] = set()
    texts = stream.texts()
    names = {path: _joined(pieces) for path, pieces in texts.items() if path[-2:] == ("function", "name")}
    for path, pieces in texts.items():
        whole = _joined(pieces)
        spans: list[Redaction] = []
        if path[-2:] == ("function", "arguments"):
            name = names.get((*path[:-1], "name"), b"").decode("utf-8", "surrogatepass")
            spans = list(named_values(whole, 0, len(whole), known.of_model_name(name)))
        elif path[-1] == "content":
            spans = list(in_prose(whole, known))
        marks.update(span.name for span in spans)
        changed |= _marked(pieces, spans)
    for pieces in (pieces for pieces in texts.values() if len(pieces) > 1):
        spans = _spans(_joined(pieces), redact)
        marks.update(span.name for span in spans)
        changed |= _marked(pieces, spans, quote=b"")
    return (stream.without(changed) if changed else raw), frozenset(marks)


def _spans(text: bytes, redact: Redact) -> list[Redaction]:
    """Return the positions of secrets in a text, from the positions of the marks that `redact` returns.

    The text between two marks may also occur within a secret. Then its first position is used: with marks in
    these spans, the text is the redacted text in any case.
    """
    redacted, marks = redact(text)
    if not marks:
        return []
    spans: list[Redaction] = []
    start, name = marks[0].start, ""
    for mark, end in zip(marks, [*(one.start for one in marks[1:]), len(redacted)], strict=True):
        kept = redacted[mark.end : end]
        name = name or mark.name
        if not kept and mark is not marks[-1]:
            continue  # adjacent to another: one mark for both
        stop = len(text) - len(kept) if mark is marks[-1] else text.find(kept, start)
        spans.append(Redaction(start, stop, name))
        start, name = stop + len(kept), ""
    return spans


def _joined(pieces: Iterable[_Piece]) -> bytes:
    return b"".join(_octets(one) for one in pieces)


def _octets(piece: _Piece) -> bytes:
    return str(piece.holder[piece.member]).encode("utf-8", "surrogatepass")


def _marked(pieces: list[_Piece], spans: Sequence[Redaction], quote: bytes = b'"') -> set[int]:
    """Put a mark into the piece where a value starts, remove the rest, and return the changed lines."""
    changed: set[int] = set()
    start = first = 0
    for piece in pieces if spans else ():
        octets = _octets(piece)
        end = start + len(octets)
        parts: list[bytes] = []
        done = start
        while first < len(spans) and spans[first].start < end:
            span = spans[first]
            if span.start >= start:
                mark = quote + mark_of(span.name).encode() + quote
                parts += (octets[done - start : span.start - start], mark)
            done = min(span.end, end)
            changed.add(piece.line)
            if span.end > end:
                break
            first += 1
        if done > start or parts:
            parts.append(octets[done - start :])
            piece.holder[piece.member] = b"".join(parts).decode("utf-8", "surrogatepass")
        start = end
    return changed


MAX_BODY = 8 * 1024 * 1024
MAX_CHUNKS = 5_000


def joined(body: bytes) -> dict[str, Any]:
    """Return a streamed reply as one JSON value; parts that it does not have are left out.

    `text`, `reasoning` and `tool_calls` are assembled from all deltas, `chunks` are the events unchanged.
    """
    stream = _Stream(body[:MAX_BODY])
    texts: dict[str, str] = {}
    calls: dict[_Path, dict[str, str]] = {}
    reply: dict[str, Any] = {}
    for path, pieces in stream.texts().items():
        text = _joined(pieces).decode("utf-8", "replace")
        if path[-2:] in (("function", "name"), ("function", "arguments")):
            calls.setdefault(path[:-2], {"name": "", "arguments": ""})[str(path[-1])] = text
        elif path[-1] == "finish_reason":
            reply["finish_reason"] = pieces[-1].holder["finish_reason"]
        elif path[-2:-1] in (("delta",), ("message",)):
            texts[str(path[-1])] = texts.get(str(path[-1]), "") + text
    for chunk in stream.chunks.values():
        if isinstance(chunk, dict) and isinstance(chunk.get("usage"), dict):
            reply["usage"] = chunk["usage"]
    parts = {
        "text": texts.get("content", ""),
        "reasoning": texts.get("reasoning_content") or texts.get("reasoning", ""),
        "tool_calls": list(calls.values()),
    }
    joined_lines = {number for others in stream.others.values() for number in others}
    chunks = [
        stream.chunks.get(number, stream.data_of(number).decode("utf-8", "replace").strip())
        for number in range(len(stream.lines))
        if stream.is_data(number) and number not in joined_lines
    ]
    return {**{name: value for name, value in parts.items() if value}, **reply, "chunks": chunks[:MAX_CHUNKS]}
