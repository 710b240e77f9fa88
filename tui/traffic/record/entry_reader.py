"""Makes entries from captured values: classified, paired, redacted, truncated. State of one thread."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tui.core.jsonrpc.classification import MAX_NAME, Classification, classify, column, id_text
from tui.core.jsonrpc.skimmer import items, outline
from tui.core.secrets.named_values import SecretArguments
from tui.core.traffic import FIRST_NS, LAST_NS, Captured, Direction, Entry, Kind
from tui.core.units import whole
from tui.traffic.record.pairing import EXCHANGE, PEER, Correlator, Link
from tui.traffic.record.redaction import StoredBody, keep, keep_all, scrub, scrub_text
from tui.traffic.record.secret_texts import Redact

_MODEL = (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)
_INSIDE = StoredBody(b"", (), "")


class EntryReader:
    """Makes numbered entries with bodies of at most `cap` bytes, 0 for all."""

    def __init__(self, redact: Redact, cap: int, arguments: SecretArguments | None = None) -> None:
        self._redact, self.cap = redact, cap
        self._arguments = arguments or SecretArguments()
        self._seq = 1
        self._correlator = Correlator()

    def bodies(self, group: Sequence[Captured]) -> Iterable[StoredBody | None]:
        """Return the stored form of each body, for `read`; None for one that `read` must handle itself."""
        try:
            return list(keep_all(group, self._redact, self.cap, self._arguments))
        except Exception:  # one of them is invalid; `read` reports which
            return [None] * len(group)

    def read(self, captured: Captured, into: list[Entry], kept: StoredBody | None = None) -> None:
        """Append the entry of `captured`; a batch is followed by an entry for each of its messages.

        Those have no body of their own: `detail` says which entry has it (`batch`) and where (`at`). Raises
        TypeError if the tap sent an invalid value; no number is used then.
        """
        if not (
            type(captured.mono_ns) is type(captured.wall_ns) is type(captured.size) is int
            and type(captured.source) is str
            and type(captured.direction) is Direction
        ):  # the columns of one entry would have different lengths
            raise TypeError("a tap sent unexpected data")
        if kept is None:
            kept = keep(captured, self._redact, self.cap, self._arguments)
        if captured.kind is not None:
            link = self._link_known(captured, captured.kind)
            into.append(self._entry(captured, captured.kind, "", link, kept))
            return
        reading = classify(captured.raw, captured.size)
        # Names come from the body: if nothing was redacted in the body, nothing is in them.
        secret = bool(kept.redactions or kept.sha256)
        line = self._read_message(captured, reading, kept, secret)
        into.append(line)
        if not reading.items:
            return
        for at, (_, _, item) in zip(_places(reading, kept), reading.items, strict=True):
            inside = self._read_message(captured, item, _INSIDE, secret)
            place = {**inside.detail, "batch": line.seq, "at": at}
            into.append(inside._replace(size=0, detail=place))

    def _read_message(
        self, captured: Captured, reading: Classification, kept: StoredBody, secret: bool
    ) -> Entry:
        ident = reading.ident
        if secret:
            names = (scrub_text(text, self._redact) for text in (reading.method, reading.tool, ident))
            method, tool, ident = names
            reading = reading._replace(method=method, tool=tool)
        detail = captured.detail
        link = self._correlator.link(
            self._seq,
            captured.source,
            captured.direction,
            reading,
            captured.cause,
            (whole(detail.get(EXCHANGE)) or 0) if detail else 0,
            (whole(detail.get(PEER)) or 0) if detail else 0,
        )
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
        if link.remark:
            detail = {**detail, "remark": link.remark}
        if "dir" in detail and kind is Kind.EVENT:
            ident = id_text(detail.get("id"))
            link = link._replace(tool=link.tool or column(str(detail.get("tool", ""))))
        seq = self._seq
        self._seq = seq + 1
        return Entry(
            seq,
            captured.mono_ns,
            min(max(FIRST_NS, captured.wall_ns), LAST_NS),
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
    """Return the positions of a batch's messages in the stored body; those cut off end after it."""
    places = [[start, end] for start, end, _ in reading.items]
    if kept.redactions:  # a mark has another length than its secret
        end = len(kept.body)
        places = [[end, end + stop - start] for start, stop in places]
        with suppress(ValueError):
            for number, span in enumerate(items(kept.body, kept.body.find(b"["), len(places))):
                places[number] = list(span)
    return places


def _model_named(body: bytes) -> str:
    try:
        begin, end = outline(body).members["model"]
        name = json.loads(body[begin:end]) if 0 < end - begin <= 2 * MAX_NAME else ""
    except (ValueError, KeyError):
        return ""
    return name if isinstance(name, str) else ""
