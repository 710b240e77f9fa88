"""The lines above the composer: suggestions in columns, and what waits to be said. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.core import units
from tui.core.text import clean_line, fold, spans
from tui.ui.widgets.rows import Row, crop, pad, width_of

if TYPE_CHECKING:  # not needed for the first frame
    from tui.ui.chat.composer.suggestion import Suggestion

_WIDEST = 44
"""Cells of the first column at most."""


def suggestion_rows(found: "Sequence[Suggestion]") -> list[Row]:
    """Return suggestions as lines: what is written, what may stand behind it, what it is."""
    heads: list[Row] = [
        ((f"   {clean_line(one.name)}", "accent"), (f" {one.usage}" if one.usage else "", "dim"))
        for one in found
    ]
    column = min(_WIDEST, max(map(width_of, heads), default=0)) + 2
    return [
        (*pad(crop(head, column - 2), column), (clean_line(one.about), "text"))
        for head, one in zip(heads, found, strict=True)
    ]


def earlier_rows(texts: Sequence[str], query: str) -> list[Row]:
    """Return messages that were written earlier, a line each, with what was looked for in them lit."""
    rows: list[Row] = []
    for text in texts:
        line = clean_line(text, 300)
        for at, end in spans(line, fold(clean_line(query))):
            rows.append(((f"   {line[:at]}", "text"), (line[at:end], "accent bold"), (line[end:], "text")))
            break
        else:
            rows.append(((f"   {line}", "text"),))
    return rows


def held_rows(held: Sequence[str], steered: Sequence[str], *, reading: bool = False) -> list[Row]:
    """Return the lines of what waits to be said: how many messages, and the last of them.

    Args:
        held: sent after the turn, the next one first; keys act on the last.
        steered: told at the next step.
        reading: something that goes with one of them is being read.
    """
    rows: list[Row] = []
    if steered:
        rows.append(_held(steered, "will be told at the next step"))
    if held:
        rows.append(_held(held, "waits for its files" if reading else "will be sent next"))
    return rows


def _held(texts: Sequence[str], words: str) -> Row:
    return (
        (f" {units.plural(len(texts), 'message')} {words}", "accent"),
        (f"   {clean_line(texts[-1], 300)}", "text"),
    )
