"""Replaces secrets in bytes by marks. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tui.core.secrets.encodings import (
    EncodedSecret,
    Needles,
    forms_of,
    has_coded_ascii,
    json_views,
    url_views,
)
from tui.core.secrets.learned_values import LearnedValues
from tui.core.secrets.ordinary_values import secret_lines
from tui.core.secrets.secret_shapes import PartialQuotes, shapes_in
from tui.core.traffic import Redaction

WINDOW = 16 * 1024
"""Bytes searched at once: of a large body only the windows that may contain a secret are searched."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.:-]")

Span = tuple[int, int, str]


class BytesRedactor:
    """Replaces configured values and known shapes of secrets in bytes by `[redacted:NAME]`.

    `add` takes the names by value, and all of those, by value, whose partial quotes are replaced too. With
    `placeholders`, placeholders that look like a secret are replaced too. Short values would match ordinary
    text. Lines of a value are found as well.
    """

    def __init__(self, learned: LearnedValues, *, placeholders: bool = True) -> None:
        self._learned = learned
        self._placeholders = placeholders
        self._texts: set[str] = set()
        self._forms: Sequence[EncodedSecret] = ()
        self._quotes = PartialQuotes({})
        self._plain = Needles()
        self._bare = Needles()
        self._flat = Needles()
        self._flat_escapable = Needles()
        self._overlap = 0
        self._window = WINDOW

    def add(self, names: Mapping[str, str], keys: Mapping[str, str]) -> None:
        """Search for these values too; what is known is not built again.

        A thread may search meanwhile: it finds what was known before.
        """
        new = [form for value, name in names.items() for form in self._new_forms(value, name)]
        if keys:
            self._quotes = PartialQuotes(keys)
        if not new:
            return
        # Escapes make a value up to twelve times as long; windows overlap by that much.
        self._overlap = max(self._overlap, 12 * max(len(form.plain) for form in new))
        self._window = max(WINDOW, 2 * self._overlap)
        # Longest first: of overlapping values, the name of the longest is shown.
        self._forms = sorted((*self._forms, *new), key=lambda form: len(form.plain), reverse=True)
        self._plain.add(form.plain for form in new)
        self._bare.add(form.bare for form in new)
        self._flat.add(flat for form in new for flat in form.flat)
        self._flat_escapable.add(flat for form in new if form.escapable for flat in form.flat)

    def _new_forms(self, value: str, name: str) -> Iterator[EncodedSecret]:
        for text in (*forms_of(value), *secret_lines(value)):
            if text not in self._texts:
                self._texts.add(text)
                yield EncodedSecret(name, text)

    def redact(
        self, raw: bytes, *, quotes: bool = True, shapes: bool = True
    ) -> tuple[bytes, tuple[Redaction, ...]]:
        """Return `raw` without secrets, partial quotes of keys and shapes, and the positions of the marks."""
        spans = [*self._known(raw), *self._learned.spans_in(raw)]
        if quotes:
            spans += self._quotes.spans_in(raw)
        if shapes:
            spans += shapes_in(raw, placeholders=self._placeholders)
        return _replaced(raw, spans) if spans else (raw, ())

    def _known(self, raw: bytes) -> Iterable[Span]:
        if not self._forms:
            return ()
        if len(raw) > self._window:
            return self._values_by_window(raw)
        return self._values(raw) if self._may_hold(raw) else ()

    def _may_hold(self, raw: bytes) -> bool:
        if self._plain.any_in(raw):
            return True
        flat = self._flat if has_coded_ascii(raw) else self._flat_escapable
        if flat and any(map(flat.any_in, json_views(raw))):
            return True
        return any(map(self._bare.any_in, url_views(raw)))

    def _values(self, raw: bytes) -> Iterator[Span]:
        views = [raw, *json_views(raw), *url_views(raw)]
        for form in self._forms:
            if form.may_be_in(views):
                for found in form.pattern.finditer(raw):
                    yield *found.span(), form.name

    def _values_by_window(self, raw: bytes) -> Iterator[Span]:
        for start in range(0, len(raw), self._window):
            window = raw[start : start + self._window + self._overlap]
            if self._may_hold(window):
                for begin, end, name in self._values(window):
                    yield start + begin, start + end, name


def _replaced(raw: bytes, spans: list[Span]) -> tuple[bytes, tuple[Redaction, ...]]:
    """Return `raw` with the spans replaced; overlapping ones become one, named as the first one found."""
    order = sorted(range(len(spans)), key=lambda number: spans[number][0])
    merged: list[tuple[int, int, int]] = []
    for number in order:
        start, end, _ = spans[number]
        if merged and start < merged[-1][1]:
            first, last, named = merged[-1]
            merged[-1] = (first, max(last, end), min(named, number))
        else:
            merged.append((start, end, number))
    parts: list[bytes] = []
    redactions: list[Redaction] = []
    done = length = 0
    for start, end, number in merged:
        name = _NOT_IN_A_NAME.sub("_", spans[number][2])
        mark = f"[redacted:{name}]".encode()
        length += start - done
        parts += (raw[done:start], mark)
        redactions.append(Redaction(length, length + len(mark), name))
        length += len(mark)
        done = end
    parts.append(raw[done:])
    return b"".join(parts), tuple(redactions)
