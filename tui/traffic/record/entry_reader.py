"""From what a tap saw to entries: read, paired, without secrets, cut to the cap. One thread's state."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tui.core.jsonrpc.classify import MAX_NAME, Reading, classify, column
from tui.core.jsonrpc.skim import items, outline
from tui.core.traffic import Captured, Direction, Entry, Kind
from tui.traffic.record.bodies import Kept, Redact, keep, scrub, scrub_text
from tui.traffic.record.exchange import Correlator, Link, Remark

_MODEL = (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)
_INSIDE = Kept(b"", (), "")


class Reader:
    """Makes entries and numbers them.

    Attributes:
        cap: how many bytes of a body are kept, 0 for all.
    """

    def __init__(self, redact: Redact, cap: int, first_seq: int = 1) -> None:
        """Make a reader; `cap` is how many bytes of a body are kept, 0 for all."""
        self._redact, self.cap = redact, cap
        self._seq = first_seq
        self._correlator = Correlator()

    def read(self, captured: Captured, into: list[Entry]) -> None:
        """Append the entry of `captured`; a batch is followed by an entry for each of its messages.

        Those have no body of their own: `detail` says which entry holds it (`batch`) and where (`at`).

        Raises:
            TypeError: the tap handed over what could not be kept; no number is used up.
        """
        _check(captured)
        kept = keep(captured, self._redact, self.cap)
        if captured.kind is not None:
            link = self._link_known(captured, captured.kind)
            into.append(self._entry(captured, captured.kind, "", link, kept))
            return
        reading = classify(captured.raw, captured.size)
        # Names come from the body: if nothing was redacted there, there is nothing to redact in them.
        secret = bool(kept.redactions or kept.sha256)
        line = self._read_frame(captured, reading, kept, secret)
        into.append(line)
        for at, (_, _, item) in zip(_places(reading, kept), reading.items, strict=True):
            inside = self._read_frame(captured, item, _INSIDE, secret)
            place = {**inside.detail, "batch": line.seq, "at": at}
            into.append(replace(inside, size=0, detail=place))

    def _read_frame(self, captured: Captured, reading: Reading, kept: Kept, secret: bool) -> Entry:
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

    def _entry(self, captured: Captured, kind: Kind, ident: str, link: Link, kept: Kept) -> Entry:
        detail: Mapping[str, Any] = captured.detail
        if detail:
            detail = scrub(detail, self._redact)
        if link.remark is not Remark.NONE:
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


def _places(reading: Reading, kept: Kept) -> list[list[int]]:
    """Return where the messages of a batch stand in the kept body; those cut off end behind it."""
    places = [[start, end] for start, end, _ in reading.items]
    if kept.redactions:  # a mark is not as long as its secret
        end = len(kept.body)
        places = [[end, end + stop - start] for start, stop in places]
        with suppress(ValueError):
            for number, span in enumerate(items(kept.body, kept.body.find(b"["), len(places))):
                places[number] = list(span)
    return places


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
