"""Secret arguments of calls that a model streams in pieces, taken out of the recorded stream. Pure."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from tui.core.secrets.named_values import named_values
from tui.core.secrets.places import SecretSpan
from tui.core.secrets.tool_arguments import SecretArguments
from tui.traffic.record.secret_texts import Hidden, in_prose

_DATA = b"data:"


class _Piece(NamedTuple):
    """A piece of a text: the line, and the object and member that have it."""

    line: int
    holder: dict[str, Any]
    member: str


class _Stream:
    """The events of a stream, and the texts that they spell in pieces."""

    def __init__(self, raw: bytes) -> None:
        self.lines = raw.split(b"\n")
        self.chunks: dict[int, Any] = {}
        self.calls: dict[str, list[_Piece]] = {}
        self.names: dict[str, str] = {}
        self.texts: dict[str, list[_Piece]] = {}
        for number, line in enumerate(self.lines):
            if line.startswith(_DATA):
                with suppress(ValueError, RecursionError):
                    self.chunks[number] = json.loads(line[len(_DATA) :])
        for number, chunk in self.chunks.items():
            for choice, delta in _deltas(chunk):
                self._hear(number, choice, delta)

    def _hear(self, number: int, choice: str, delta: dict[str, Any]) -> None:
        if isinstance(delta.get("content"), str):
            self.texts.setdefault(choice, []).append(_Piece(number, delta, "content"))
        listed = delta.get("tool_calls")
        for place, call in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                key = f"{choice} {call.get('index', place)}"
                if isinstance(name := function.get("name"), str):
                    self.names[key] = self.names.get(key, "") + name
                if isinstance(function.get("arguments"), str):
                    self.calls.setdefault(key, []).append(_Piece(number, function, "arguments"))

    def without(self, changed: set[int]) -> bytes:
        """Return the stream with the lines that were changed written anew."""
        for number in changed:
            end = b"\r" if self.lines[number].endswith(b"\r") else b""
            text = json.dumps(self.chunks[number], separators=(",", ":"))
            self.lines[number] = b"data: " + text.encode() + end
        return b"\n".join(self.lines)


def without_secret_deltas(raw: bytes, known: SecretArguments) -> Hidden | None:
    """Return a stream of events without secret arguments; None if it is not a stream.

    Only the events that change are written anew.
    """
    if not raw.lstrip().startswith((_DATA, b":", b"event:", b"id:")):
        return None
    stream = _Stream(raw)
    changed: set[int] = set()
    marks: set[str] = set()
    for key, pieces in stream.calls.items():
        whole, secret = _joined(pieces), known.of_model_name(stream.names.get(key, ""))
        spans = list(named_values(whole, 0, len(whole), secret))
        marks.update(span.name for span in spans)
        changed |= _marked(pieces, spans)
    for pieces in stream.texts.values():
        spans = list(in_prose(_joined(pieces), known))
        marks.update(span.name for span in spans)
        changed |= _marked(pieces, spans)
    return (stream.without(changed) if changed else raw), frozenset(marks)


def _deltas(chunk: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    choices = chunk.get("choices") if isinstance(chunk, dict) else None
    for place, choice in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(choice, dict):
            index = choice.get("index", place)
            for name in ("delta", "message"):
                if isinstance(delta := choice.get(name), dict):
                    yield f"{name} {index}", delta


def _joined(pieces: Iterable[_Piece]) -> bytes:
    return b"".join(_octets(one) for one in pieces)


def _octets(piece: _Piece) -> bytes:
    return str(piece.holder[piece.member]).encode("utf-8", "surrogatepass")


def _marked(pieces: list[_Piece], found: list[SecretSpan]) -> set[int]:
    """Put a mark into the piece in which a value begins, take the rest out, and return the lines changed."""
    changed: set[int] = set()
    start = 0
    for piece in pieces if found else ():
        octets = _octets(piece)
        end = start + len(octets)
        parts: list[bytes] = []
        done = start
        for span in found:
            if span.end <= start or span.start >= end:
                continue
            if span.start >= start:
                parts += (octets[done - start : span.start - start], f'"[redacted:{span.name}]"'.encode())
            done = min(span.end, end)
            changed.add(piece.line)
        if piece.line in changed:
            parts.append(octets[done - start :])
            piece.holder[piece.member] = b"".join(parts).decode("utf-8", "surrogatepass")
        start = end
    return changed
