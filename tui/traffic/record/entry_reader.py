"""Captured values into entries: classified, paired, redacted, truncated. State of one thread."""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from tui.core.jsonrpc.messages import MAX_NAME, Classification, classify, column
from tui.core.jsonrpc.skimmer import items, outline
from tui.core.secrets.encodings import octets_of
from tui.core.secrets.places import is_secret_header, masked
from tui.core.traffic import Captured, Direction, Entry, Finding, Kind, Redaction
from tui.traffic.record.exchange import Correlator, Link, PairingRemark

Redact = Callable[[bytes], tuple[bytes, tuple[Redaction, ...]]]

MARGIN = 64 * 1024
"""Bytes behind the cap that are searched too: a secret across the cap is replaced completely."""

RING_BYTES = 32 * 1024 * 1024
RING_ENTRIES = 20_000

_URL_HEADERS = frozenset({"location", "referer", "content-location", "link"})


class StoredBody(NamedTuple):
    """A body as it is stored: redacted, with its marks; with a `sha256` of all bytes if it is only a head."""

    body: bytes
    redactions: tuple[Redaction, ...]
    sha256: str


def keep(captured: Captured, redact: Redact, cap: int) -> StoredBody:
    """Return a body as it is stored; a `cap` of 0 keeps all of it."""
    raw = captured.raw
    if cap <= 0 or len(raw) <= cap:
        body, redactions = redact(raw)
        torn = captured.size > len(raw)
        return StoredBody(body, redactions, str(captured.detail.get("sha256", "")) if torn else "")
    body, redactions = redact(raw[: cap + MARGIN])
    end = cap
    for span in redactions:
        if span.start < end < span.end:
            end = span.end
    inside = tuple(span for span in redactions if span.end <= end)
    whole = captured.size <= len(raw)
    digest = sha256(raw).hexdigest() if whole else str(captured.detail.get("sha256", ""))
    return StoredBody(body[:end], inside, digest)


def scrub(detail: Mapping[str, Any], redact: Redact) -> Mapping[str, Any]:
    """Return what a transport knew without secrets; headers with credentials lose their value.

    In a URL, passwords and secret parameters are replaced too.
    """
    hidden = _without_credentials(detail)
    try:
        text = octets_of(json.dumps(hidden, ensure_ascii=False))
    except (TypeError, ValueError):
        return {"fault": "detail that is not JSON"}
    if not redact(text)[1]:
        return hidden
    cleaned = _each_text(hidden, lambda part: scrub_text(part, redact))
    return cleaned if isinstance(cleaned, dict) else {}


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
            found[key] = [_pair_without_credentials(pair) for pair in value]
    return found


def _pair_without_credentials(pair: Any) -> Any:
    if isinstance(pair, list | tuple) and len(pair) == 2:
        return [pair[0], _header(str(pair[0]), pair[1])]
    return pair


def _header(name: str, value: Any) -> Any:
    if is_secret_header(name):
        return f"[redacted:{name.lower()}]"
    return masked(value) if name.lower() in _URL_HEADERS and isinstance(value, str) else value


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): _each_text(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in value]
    return value


class RecentEntries:
    """The last entries with their bodies, for any thread; read like a store, except for the search."""

    def __init__(self, max_bytes: int = RING_BYTES, max_entries: int = RING_ENTRIES) -> None:
        self._max_bytes, self._max_entries = max_bytes, max_entries
        self._entries: deque[Entry] = deque()
        self._findings: deque[Finding] = deque(maxlen=max_entries)
        self._bytes = 0
        self._lock = Lock()

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries; the oldest are dropped."""
        with self._lock:
            for entry in entries:
                self._entries.append(entry)
                self._bytes += len(entry.body)
            while len(self._entries) > 1 and (
                self._bytes > self._max_bytes or len(self._entries) > self._max_entries
            ):
                self._bytes -= len(self._entries.popleft().body)

    def add_findings(self, findings: Sequence[Finding]) -> None:
        with self._lock:
            self._findings.extend(findings)

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        found = islice((entry for entry in self._copy() if entry.seq > after), limit)
        return [replace(entry, body=b"", redactions=()) for entry in found]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        with self._lock:
            index = seq - self._entries[0].seq if self._entries else -1
            found = self._entries[index] if 0 <= index < len(self._entries) else None
        if found is None or len(found.body) <= body_limit:
            return found
        return replace(found, body=found.body[:body_limit])

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        found = self.entry(seq, RING_BYTES * 2)
        if found is None:
            return b""
        return found.body[start:] if length < 0 else found.body[start : start + length]

    def bodies(self, first: int, last: int) -> Sequence[tuple[int, bytes]]:
        return [(entry.seq, entry.body) for entry in self._copy() if first <= entry.seq <= last]

    def findings(self, after: int = 0) -> Sequence[Finding]:
        with self._lock:
            return list(islice(self._findings, after, None))

    def _copy(self) -> list[Entry]:
        with self._lock:
            return list(self._entries)


_MODEL = (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)
_INSIDE = StoredBody(b"", (), "")


class EntryReader:
    """Makes numbered entries with bodies of at most `cap` bytes, 0 for all."""

    def __init__(self, redact: Redact, cap: int, first_seq: int = 1) -> None:
        self._redact, self.cap = redact, cap
        self._seq = first_seq
        self._correlator = Correlator()

    def read(self, captured: Captured, into: list[Entry]) -> None:
        """Append the entry of `captured`; a batch is followed by an entry for each of its messages.

        Those have no body of their own: `detail` says which entry has it (`batch`) and where (`at`).
        TypeError if the tap sent an invalid value; no number is used up.
        """
        _check(captured)
        kept = keep(captured, self._redact, self.cap)
        if captured.kind is not None:
            link = self._link_known(captured, captured.kind)
            into.append(self._entry(captured, captured.kind, "", link, kept))
            return
        reading = classify(captured.raw, captured.size)
        # Names come from the body: if nothing was redacted there, nothing is in them.
        secret = bool(kept.redactions or kept.sha256)
        line = self._read_frame(captured, reading, kept, secret)
        into.append(line)
        for at, (_, _, item) in zip(_places(reading, kept), reading.items, strict=True):
            inside = self._read_frame(captured, item, _INSIDE, secret)
            place = {**inside.detail, "batch": line.seq, "at": at}
            into.append(replace(inside, size=0, detail=place))

    def _read_frame(
        self, captured: Captured, reading: Classification, kept: StoredBody, secret: bool
    ) -> Entry:
        ident = reading.ident
        if secret:
            names = (scrub_text(text, self._redact) for text in (reading.method, reading.tool, ident))
            method, tool, ident = names
            reading = reading._replace(method=method, tool=tool)
        link = self._correlator.link(self._seq, captured.source, captured.direction, reading, captured.cause)
        return self._entry(captured, reading.kind, ident, link, kept)

    def _link_known(self, captured: Captured, kind: Kind) -> Link:
        detail, cause = captured.detail, captured.cause
        if kind is Kind.EVENT:
            word = str(detail.get("event", "event"))
            link = self._correlator.link_event(captured.source, word, detail, cause)
            return link._replace(method=column(word))
        if kind in _MODEL:
            model = _model_named(captured.raw) if kind is Kind.MODEL_REQUEST else ""
            model = column(model or captured.source.partition(":")[2])
            return self._correlator.link_model(self._seq, captured.source, kind, detail, cause, model)
        return Link(cause=cause)

    def _entry(self, captured: Captured, kind: Kind, ident: str, link: Link, kept: StoredBody) -> Entry:
        detail: Mapping[str, Any] = captured.detail
        if detail:
            detail = scrub(detail, self._redact)
        if link.remark is not PairingRemark.NONE:
            detail = {**detail, "remark": str(link.remark)}
        seq = self._seq
        self._seq = seq + 1
        return Entry(
            seq,
            captured.mono_ns,
            captured.wall_ns,
            captured.source,
            captured.direction,
            kind,
            link.method,
            link.tool,
            ident,
            captured.size if captured.size >= 0 else len(captured.raw),
            link.pair,
            link.root,
            link.outcome,
            link.cause,
            kept.sha256,
            kept.redactions,
            detail,
            kept.body,
        )


def _places(reading: Classification, kept: StoredBody) -> list[list[int]]:
    """Return the positions of a batch's messages in the kept body; those cut off end behind it."""
    places = [[start, end] for start, end, _ in reading.items]
    if kept.redactions:  # a mark has another length than its secret
        end = len(kept.body)
        places = [[end, end + stop - start] for start, stop in places]
        with suppress(ValueError):
            for number, span in enumerate(items(kept.body, kept.body.find(b"["), len(places))):
                places[number] = list(span)
    return places


def _check(captured: Captured) -> None:
    """Refuse what would leave the columns of one entry with different lengths."""
    if not (
        type(captured.mono_ns) is int
        and type(captured.wall_ns) is int
        and type(captured.size) is int
        and type(captured.source) is str
        and type(captured.direction) is Direction
    ):
        raise TypeError("a tap handed over something else than it promised")


def _model_named(body: bytes) -> str:
    try:
        begin, end = outline(body).members["model"]
        name = json.loads(body[begin:end]) if 0 < end - begin <= 2 * MAX_NAME else ""
    except (ValueError, KeyError):
        return ""
    return name if isinstance(name, str) else ""
