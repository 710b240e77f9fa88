"""Changed definitions in words, for the screen and the terminal: lines of marked pieces. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from tui.core.comparison.values import parts_that_differ
from tui.core.hidden_text.readable import readable, readable_line
from tui.core.hidden_text.scan import MAX_CHARS
from tui.core.language.translate import N_, _, c_, listed, localized, n_
from tui.core.matching import composed
from tui.core.permission.change_effects import ABSENT, ChangeEffect, is_harmless
from tui.core.permission.definitions import LOST, DefinitionChange, shown_name
from tui.core.permission.differences import ELSEWHERE, INSTRUCTIONS, Difference
from tui.core.text import clean_line, grapheme_end, truncated


class Kind(StrEnum):
    """The kind of a piece of a line."""

    HEAD = "head"
    PLAIN = "plain"
    DIM = "dim"
    REMOVED = "removed"
    ADDED = "added"
    WARNING = "warning"
    CUT = "cut"  # says that something is not shown


Line = Sequence[tuple[str, Kind]]

MAX_VALUE = 4_000
"""Maximum characters shown of a value, unless a caller has room for more."""

CONTEXT = 60
"""Characters around a difference within a text."""

MAX_WORDS = 400
"""Longer texts are shown before and after, not word by word, because comparing takes quadratic time."""

EFFECTS = {
    ChangeEffect.COSMETIC: N_("cosmetic: calls and the model notice nothing"),
    ChangeEffect.COMPATIBLE: N_("compatible: existing calls still work"),
    ChangeEffect.ROUTING: N_("routing: existing calls still work, but the model may choose differently"),
    ChangeEffect.BREAKING: N_("breaking: existing calls may fail"),
    ChangeEffect.SUSPICIOUS: N_("suspicious: read it carefully"),
}

NOTHING_FOUND = N_("nothing suspicious found")
"""The effect of a new definition, for which there are no existing calls."""


def summary(changes: Sequence[DefinitionChange]) -> str:
    """Return what changed, in a line: "2 tools changed, 1 new tool, new instructions"."""
    tools = [one for one in changes if one.name != INSTRUCTIONS]
    new = sum(one.is_new for one in tools)
    changed = len(tools) - new
    words = [n_("{n} tool changed", "{n} tools changed", changed)] if changed else []
    words += [n_("{n} new tool", "{n} new tools", new)] if new else []
    for one in changes:
        if one.name == INSTRUCTIONS:
            words.append(_("new instructions") if one.is_new else _("its instructions changed"))
    return localized(listed(words))


def since(changes: Sequence[DefinitionChange]) -> str:
    """Return the end of a summary: "since accepted", if any of them was accepted before."""
    return _(" since accepted") if any(not one.is_new for one in changes) else _(", not accepted yet")


def head(change: DefinitionChange) -> str:
    """Return a change in a line: "add changed (suspicious)"."""
    name = readable_line(localized(shown_name(change.name)), 120)
    effect = _(change.effect.value)
    if change.is_new:
        return _("{name} is new ({effect})", name=name, effect=effect)
    return _("{name} changed ({effect})", name=name, effect=effect)


def lines(change: DefinitionChange, most: int = MAX_VALUE) -> Iterator[Line]:
    """Yield a change as lines: its name and effect, then each difference, texts with `most` characters.

    Every omission of new text is marked by a piece of `Kind.CUT`.
    """
    differences = change.differences
    effect = change.effect
    how = c_("definition", "new") if change.is_new else _("changed")
    warn = Kind.DIM if is_harmless(effect) else Kind.WARNING
    name = readable_line(localized(shown_name(change.name)), 120)
    harmless_and_new = change.is_new and is_harmless(effect)
    words = _(NOTHING_FOUND) if harmless_and_new else _(EFFECTS[effect])
    yield ((name, Kind.HEAD), (f"  {_('{how}, ', how=how)}", Kind.DIM), (words, warn))
    if change.before is LOST:
        yield ((f"  {_('The accepted version cannot be read. The current one:')}", Kind.DIM),)
    elif change.before is not None and change.before.definition is None:
        yield ((f"  {_('The accepted version was too large to store. The current one:')}", Kind.DIM),)
    elif not differences:
        yield ((f"  {_('Only secret values differ.')}", Kind.DIM),)
    if differences and not differences[0].path:  # a new one, which contains the texts that the others name
        yield from _new(change.after, most, differences[1:])
        return
    for difference in differences:
        yield from _difference(difference, most)
    if any(one.path == ELSEWHERE for one in differences):
        yield ((f"  {_('The complete current definition:')}", Kind.DIM),)
        yield from _new(change.after, most)


def _difference(difference: Difference, most: int) -> Iterator[Line]:
    before, after = difference.before, difference.after
    if difference.path == ELSEWHERE:
        yield ((f"  {clean_line(localized(difference.why), 200)}", Kind.WARNING),)
        return
    yield _place(difference, most)
    if isinstance(before, str) and isinstance(after, str):
        removed, added = words_between(before, after, most)
        yield (("    - ", Kind.REMOVED), *removed)
        yield (("    + ", Kind.ADDED), *added)
        return
    if before is not ABSENT:
        yield from _value("    - ", before, Kind.REMOVED, most)
    if after is not ABSENT:
        yield from _value("    + ", after, Kind.ADDED, most)


def _place(difference: Difference, most: int, indent: str = "  ") -> Line:
    path = " ".join(readable(difference.path[:most]).split())
    at = _bounded(path, Kind.PLAIN, most, left_out=len(difference.path) - most)
    mark = Kind.DIM if is_harmless(difference.effect) else Kind.WARNING
    why = clean_line(localized(difference.why), 200)
    return ((indent, Kind.PLAIN), *at, *(((f"  {why}", mark),) if why else ()))


def _new(definition: Mapping[str, Any], most: int, found: Sequence[Difference] = ()) -> Iterator[Line]:
    """Yield a definition; after each member the texts `found` in it, again only if they were truncated."""
    waiting = list(found)
    for key, value in definition.items():
        if key == "name":
            continue
        inside = (f"{key}.", f"{key}[")
        mine = [one for one in waiting if one.path == key or one.path.startswith(inside)]
        waiting = [one for one in waiting if one not in mine]
        own = next((one for one in mine if one.path == key and one.after == value), None)
        head = ((readable_line(key, 80), Kind.PLAIN),) if own is None else _place(own, most, "")[1:]
        yield (("  ", Kind.PLAIN), *head)
        yield from _value("    + ", value, Kind.ADDED, most)
        text = _text_of(value)
        is_whole = len(text) <= most and len(readable(text)) <= most
        for one in mine:
            if one is not own and is_whole:
                yield _place(one, most, "    ")
            elif one is not own:
                yield from _difference(one, most)
    for one in waiting:
        yield from _difference(one, most)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _value(sign: str, value: Any, kind: Kind, most: int) -> Iterator[Line]:
    """Yield a value cleaned and truncated, line by line: a string unchanged, anything else as JSON."""
    text = _text_of(value)
    size = max(most, MAX_CHARS)
    for piece, what in _bounded(readable(text[:size]), kind, most, left_out=len(text) - size) or [("", kind)]:
        for row in piece.split("\n"):
            yield ((sign, kind), (row, what))
            sign = " " * len(sign)


Piece = tuple[str, Kind]


def words_between(before: str, after: str, most: int = MAX_VALUE) -> tuple[list[Piece], list[Piece]]:
    """Return two texts in pieces: words that differ are marked, and equal passages are truncated.

    If only white space differs, that is marked instead, as symbols.
    """
    if before.split() == after.split():
        removed, added = _between(_BLANKS.findall(before), _BLANKS.findall(after), most)
        return _with_symbols(removed), _with_symbols(added)
    old, new = readable(before), readable(after)
    if composed(old) == composed(new):  # the same letters, composed differently
        old, new = (text.encode("ascii", "backslashreplace").decode() for text in (before, after))
    return _between(_words(old), _words(new), most)


_BLANKS = re.compile(r"\s|\S+")
_SYMBOLS = {" ": "·", "\t": "⇥", "\r": "␍", "\n": "⏎"}


def _with_symbols(pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces with a symbol for each blank that differs: `·`, `␍`, `⏎`, or its code point."""

    def symbol(piece: re.Match[str]) -> str:
        text = piece.group()
        return _SYMBOLS.get(text, f"[U+{ord(text):04X}]") if text.isspace() else _flat(text)

    return [(_flat(text) if kind is Kind.DIM else _BLANKS.sub(symbol, text), kind) for text, kind in pieces]


def _flat(text: str) -> str:
    return readable(text).replace("\n", " ⏎ ")


def _between(old: Sequence[str], new: Sequence[str], most: int) -> tuple[list[Piece], list[Piece]]:
    (start, end), (_start, new_end) = parts_that_differ(old, new)
    head, tail = "".join(old[:start]), "".join(old[end:])
    if len(head) > CONTEXT:
        head = "…" + head[grapheme_end(head, len(head) - CONTEXT) :]
    tail = truncated(tail, CONTEXT)
    first, last = [[(text, Kind.DIM)] if text else [] for text in (head, tail)]
    old, new = old[start:end], new[start:new_end]
    removed, added = list[Piece](), list[Piece]()
    parts = [("replace", 0, len(old), 0, len(new))]
    if max(len(old), len(new)) <= MAX_WORDS:
        parts = list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    for tag, a, b, c, d in parts:
        same = tag == "equal"
        removed += _bounded("".join(old[a:b]), Kind.DIM if same else Kind.REMOVED, most)
        added += _bounded("".join(new[c:d]), Kind.DIM if same else Kind.ADDED, most)
    return [*first, *removed, *last], [*first, *added, *last]


def _words(text: str) -> list[str]:
    return [f"{word} " for word in text.replace("\n", " ⏎ ").split(" ")]


def _bounded(text: str, kind: Kind, most: int, left_out: int = 0) -> list[Piece]:
    """Return a text in pieces: its first `most` characters, and a note on how many are omitted.

    `left_out` more characters after it have already been omitted.
    """
    more = max(0, len(text) - most) + max(0, left_out)
    note = [(_("… ({more} more characters)", more=f"{more:,}"), Kind.CUT)] if more else []
    return [(text[:most], kind), *note] if text or note else []
