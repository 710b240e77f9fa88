"""Bodies as they are kept: without secrets, cut to a cap; and a ring of the last ones in memory.

The ring is what opens details while nothing can be stored (disk full, no permission).
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from tui.core.secrets.secret_forms import octets_of
from tui.core.secrets.secret_places import is_secret_header, masked
from tui.core.traffic import Captured, Entry, Finding, Redaction

Redact = Callable[[bytes], tuple[bytes, tuple[Redaction, ...]]]

MARGIN = 64 * 1024
"""Bytes behind the cap that are searched too: a secret that the cap would cut in two is replaced whole."""

RING_BYTES = 32 * 1024 * 1024
RING_ENTRIES = 20_000

_URL_HEADERS = frozenset({"location", "referer", "content-location", "link"})


class Kept(NamedTuple):
    """A body as it is stored.

    Attributes:
        body: without secrets, at most about the cap.
        redactions: spans of `body` that stand for secrets.
        sha256: hex digest of all bytes as they travelled if `body` is only a head, otherwise "".
    """

    body: bytes
    redactions: tuple[Redaction, ...]
    sha256: str


def keep(captured: Captured, redact: Redact, cap: int) -> Kept:
    """Return what is stored of a body; a `cap` of 0 keeps all."""
    raw = captured.raw
    if cap <= 0 or len(raw) <= cap:
        body, redactions = redact(raw)
        torn = captured.size > len(raw)
        return Kept(body, redactions, str(captured.detail.get("sha256", "")) if torn else "")
    body, redactions = redact(raw[: cap + MARGIN])
    end = cap
    for span in redactions:
        if span.start < end < span.end:
            end = span.end
    inside = tuple(span for span in redactions if span.end <= end)
    whole = captured.size <= len(raw)
    digest = sha256(raw).hexdigest() if whole else str(captured.detail.get("sha256", ""))
    return Kept(body[:end], inside, digest)


def scrub(detail: Mapping[str, Any], redact: Redact) -> Mapping[str, Any]:
    """Return what a transport knew without secrets; headers that hold credentials lose their value.

    In a URL, passwords and what the query names as a secret are replaced too.
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
    """Return the value of a header without credentials."""
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


class Ring:
    """The last entries with their bodies, for any thread; read like a store, but for the search."""

    def __init__(self, max_bytes: int = RING_BYTES, max_entries: int = RING_ENTRIES) -> None:
        self._max_bytes, self._max_entries = max_bytes, max_entries
        self._entries: deque[Entry] = deque()
        self._findings: deque[Finding] = deque(maxlen=max_entries)
        self._bytes = 0
        self._lock = Lock()

    def add(self, entries: Sequence[Entry]) -> None:
        """Keep more entries; the oldest go."""
        with self._lock:
            for entry in entries:
                self._entries.append(entry)
                self._bytes += len(entry.body)
            while len(self._entries) > 1 and (
                self._bytes > self._max_bytes or len(self._entries) > self._max_entries
            ):
                self._bytes -= len(self._entries.popleft().body)

    def add_findings(self, findings: Sequence[Finding]) -> None:
        """Keep what the linter found."""
        with self._lock:
            self._findings.extend(findings)

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        """Return up to `limit` kept entries with seq > `after`, without bodies and redactions."""
        found = islice((entry for entry in self._copy() if entry.seq > after), limit)
        return [replace(entry, body=b"", redactions=()) for entry in found]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        """Return an entry with at most `body_limit` bytes of its body; None if it is gone."""
        with self._lock:
            index = seq - self._entries[0].seq if self._entries else -1
            found = self._entries[index] if 0 <= index < len(self._entries) else None
        if found is None or len(found.body) <= body_limit:
            return found
        return replace(found, body=found.body[:body_limit])

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        """Return a part of a kept body, b"" if it is gone."""
        found = self.entry(seq, RING_BYTES * 2)
        if found is None:
            return b""
        return found.body[start:] if length < 0 else found.body[start : start + length]

    def bodies(self, first: int, last: int) -> Sequence[tuple[int, bytes]]:
        """Return the kept bodies of the entries with seq `first` to `last`, in order."""
        return [(entry.seq, entry.body) for entry in self._copy() if first <= entry.seq <= last]

    def findings(self, after: int = 0) -> Sequence[Finding]:
        """Return the kept findings from the `after`-th on."""
        with self._lock:
            return list(islice(self._findings, after, None))

    def _copy(self) -> list[Entry]:
        with self._lock:
            return list(self._entries)
