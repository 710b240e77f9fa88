"""From what a tap saw to entries: read, paired, without secrets, cut to the cap. One thread's state."""

import json
from dataclasses import replace
from typing import Any

from tui.core.traffic import Captured, Direction, Entry, Kind
from tui.trace.bodies import Redact, keep, scrub, scrub_text
from tui.trace.classify import MAX_NAME, Reading, classify, column
from tui.trace.exchange import Correlator, Link, Remark
from tui.trace.skim import outline

_MODEL = (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)


class Reader:
    """Makes entries and numbers them."""

    def __init__(self, redact: Redact, cap: int, first_seq: int = 1) -> None:
        """Make a reader; `cap` is how many bytes of a body are kept, 0 for all."""
        self._redact, self._cap = redact, cap
        self._seq = first_seq
        self._correlator = Correlator()

    def read(self, captured: Captured, into: list[Entry]) -> None:
        """Append the entry of `captured`; a batch is followed by an entry for each of its messages.

        Those have no body of their own: `detail` says which entry holds it (`batch`) and where (`at`).

        Raises:
            TypeError: the tap handed over what could not be kept; no number is used up.
        """
        _check(captured)
        kind = captured.kind
        if kind is None:
            reading = classify(captured.raw, captured.size)
            link = self._correlator.link(
                self._seq, captured.source, captured.direction, reading, captured.cause
            )
            entry = self._entry(captured, reading.kind, reading.ident, link)
        else:
            reading = None
            entry = self._entry(captured, kind, "", self._link_known(captured, kind))
        into.append(entry)
        self._seq += 1
        if reading is not None and reading.items:
            self._read_items(captured, entry, reading, into)

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

    def _entry(self, captured: Captured, kind: Kind, ident: str, link: Link) -> Entry:
        kept = keep(captured, self._redact, self._cap)
        detail: Any = captured.detail
        if detail:
            detail = scrub(detail, self._redact)
        if link.remark is not Remark.NONE:
            detail = {**detail, "remark": str(link.remark)}
        entry = Entry(
            self._seq,
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
        return self._without_secrets(entry) if kept.redactions or link.tool else entry

    def _without_secrets(self, entry: Entry) -> Entry:
        """Take secrets out of the columns too: an address of a resource, an argument used as an id."""
        method, tool, ident = (
            scrub_text(text, self._redact) if text else "" for text in (entry.method, entry.tool, entry.ident)
        )
        if (method, tool, ident) == (entry.method, entry.tool, entry.ident):
            return entry
        return replace(entry, method=method, tool=tool, ident=ident)

    def _read_items(self, captured: Captured, line: Entry, reading: Reading, into: list[Entry]) -> None:
        for start, end, item in reading.items:
            link = self._correlator.link(self._seq, captured.source, captured.direction, item, captured.cause)
            inside = Captured(
                captured.source, captured.direction, captured.mono_ns, captured.wall_ns, b"", item.kind
            )
            entry = self._entry(inside, item.kind, item.ident, link)
            into.append(replace(entry, detail={**entry.detail, "batch": line.seq, "at": [start, end]}))
            self._seq += 1


def _check(captured: Captured) -> None:
    """Refuse what would leave the columns of one entry at different lengths."""
    if not (
        type(captured.mono_ns) is int
        and type(captured.wall_ns) is int
        and type(captured.size) is int
        and type(captured.source) is str
        and type(captured.direction) is Direction
    ):
        raise TypeError("a tap handed over something else than it promised")


def _model_named(body: bytes) -> str:
    """Return the model that a request names, "" if it names none."""
    try:
        begin, end = outline(body).members["model"]
        name = json.loads(body[begin:end]) if 0 < end - begin <= 2 * MAX_NAME else ""
    except (ValueError, KeyError):
        return ""
    return name if isinstance(name, str) else ""
