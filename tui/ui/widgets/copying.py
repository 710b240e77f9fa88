"""What selected rows are as text: wrapped lines joined again, ornaments left out. Pure.

Two kinds of spans say what a row was made from. A span of the style `aside` is painted and never copied
(the edge of code, the bar of a quote). An empty span `glued` or `spaced` stands where a line goes on
that was wrapped, cut inside a word or at a space.
"""

from collections.abc import Iterable

from tui.ui.widgets.rows import GLUED, SPACED, Row, cut, text_of


def copied(parts: Iterable[tuple[Row, int, int]]) -> str:
    """Return rows as text.

    Args:
        parts: rows in order, each with the characters that are selected of it; an end below 0 means all.
    """
    lines: list[str] = []
    for row, start, end in parts:
        joint, indent = _joint(row)
        if lines and joint is not None:
            lines[-1] += joint + _said(row, max(start, indent), end)
        else:
            lines.append(_said(row, start, end))
    return "\n".join([line.rstrip() for line in lines])


def _joint(row: Row) -> tuple[str | None, int]:
    """Return what joins a row to the one before, None if nothing does, and where its text begins."""
    for position, span in enumerate(row):
        if span in (GLUED, SPACED):
            return ("" if span == GLUED else " "), len(text_of(row[:position]))
    return None, 0


def _said(row: Row, start: int, end: int) -> str:
    size = len(text_of(row))
    spans = cut(row, start, size if end < 0 else end)
    return "".join([text for text, style in spans if "aside" not in style.split()]).rstrip()
