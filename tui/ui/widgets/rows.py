"""Rows: the lines of a virtual pane, with functions to cut, pad, wrap and copy them. Pure.

A row is a tuple of spans. A span is a piece of text with style words ("accent bold", "text on panel"). Rows
have no colors, so a change of theme does not wrap them again. A row takes about a third of a kilobyte, a
painted Strip one and a half. All widths are terminal cells, measured with rich. Texts must be cleaned and
without line breaks.
"""

from collections.abc import Iterable
from string import Formatter

from rich.cells import cell_len, get_character_cell_size

from tui.core.matching import spans, word_spans
from tui.core.text import cells_of, graphemes, head_of

Span = tuple[str, str]
Row = tuple[Span, ...]

PREVIEW_FROM = 160
"""Minimum columns of the terminal for a preview beside a list."""

EMPTY: Row = ()
PREPARING: Row = (("Preparing…", "dim"),)
"""Shown in place of a text that is being laid out in a thread."""

# Marks of a row that continues a wrapped line, broken inside a word or at a space. Copying joins them.
GLUED: Span = ("", "glued")
SPACED: Span = ("", "spaced")
_NOT_FIRST = frozenset("、。，．！？；：）」』】》〉’”…·,.!?;:)]}")
_NOT_LAST = frozenset("（「『【《〈‘“([{")


def filled(text: str, style: str, **places: Span) -> Row:
    """Return a translated text as a row, with spans in its places in braces."""
    row = list[Span]()
    for before, name, _spec, _conversion in Formatter().parse(text):
        row += [(before, style)] if before else []
        row += [places[name]] if name else []
    return tuple(row)


def text_of(row: Row) -> str:
    """Return the text of a row."""
    return "".join([text for text, _ in row])


def width_of(row: Row) -> int:
    """Return the width of a row in cells."""
    return sum([cells_of(text) for text, _ in row])


def caret_in(row: Row) -> int | None:
    """Return the cell of the caret of an edited row, which is reversed text; None without one."""
    cells = 0
    for text, style in row:
        if {"text", "reverse"} <= set(style.split()):
            return cells
        cells += cells_of(text)
    return None


def crop(row: Row, cells: int) -> Row:
    """Return `row` truncated to `cells`; a truncated row ends with "…"."""
    if width_of(row) <= cells:
        return row
    if (room := cells - 1) < 0:
        return EMPTY
    kept: list[Span] = []
    for text, style in row:
        head = head_of(text, room)
        room -= cells_of(head)
        if len(head) < len(text):
            kept.append((head + "…", style))
            break
        kept.append((text, style))
    return tuple(kept)


def joined(parts: Iterable[Row], joint: Row, cells: int) -> Row:
    """Return as many of the first `parts` as fit, as one row; only the first part is ever truncated."""
    row: Row = EMPTY
    for part in parts:
        longer = (*row, *joint, *part) if row else part
        if row and width_of(longer) > cells:
            break
        row = longer
    return crop(row, cells)


def flowed(parts: Iterable[Row], gap: str, cells: int) -> list[Row]:
    """Return the parts in as many rows as they need, with `gap` between them; none is broken."""
    lines: list[Row] = []
    for part in parts:
        longer = (*lines[-1], (gap, ""), *part) if lines else part
        if lines and width_of(longer) <= cells:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def pad(row: Row, cells: int, style: str = "") -> Row:
    """Return `row` filled with spaces of `style` up to `cells`."""
    missing = cells - width_of(row)
    return (*row, (" " * missing, style)) if missing > 0 else row


def spread(left: Row, right: Row, cells: int, gap: int = 1) -> Row:
    """Return a row of `cells` with `left` at its left and `right` at its right end.

    The left part is cropped so that at least `gap` cells stay free before the right part.
    """
    right = crop(right, cells)
    room = cells - width_of(right)
    left = crop(left, max(0, room - gap))
    return (*left, (" " * max(0, room - width_of(left)), ""), *right)


def progress_bar(share: float, cells: int, done: str, left: str) -> Row:
    """Return a bar of `cells` cells; a share of 0 to 1 has the sign `done`, the rest the sign `left`."""
    full = round(max(0.0, min(1.0, share)) * cells)
    return ((done * full, "tool"), (left * (cells - full), "rule"))


def cut(row: Row, start: int, end: int) -> Row:
    """Return the spans of the characters `start` to `end` of a row."""
    kept: list[Span] = []
    position = 0
    for text, style in row:
        if position < end and (piece := text[max(0, start - position) : end - position]):
            kept.append((piece, style))
        position += len(text)
        if position >= end:
            break
    return tuple(kept)


def marked(row: Row, start: int, end: int, word: str) -> Row:
    """Return `row` with the style word `word` added to the characters `start` to `end`."""
    middle = tuple([(text, f"{style} {word}") for text, style in cut(row, start, end)])
    return (*cut(row, 0, start), *middle, *cut(row, end, len(text_of(row))))


def with_words(row: Row, typed: str) -> Row:
    """Return `row` with the words of a typed text highlighted, each where it occurs first."""
    for start, end in word_spans(text_of(row), typed):
        row = marked(row, start, end, "accent bold")
    return row


def highlighted(row: Row, folded: str) -> Row:
    """Return `row` with every match of a folded text highlighted."""
    if not folded:
        return row
    done, parts, match = 0, list[Span](), "text selected bold"
    for start, end in spans(text_of(row), folded):
        parts += cut(row, done, start)
        parts += [(text, f"{style} {match}") for text, style in cut(row, start, end)]
        done = end
    return (*parts, *cut(row, done, sum(len(text) for text, _ in row))) if done else row


def wrap(row: Row, cells: int, first: Row = EMPTY, rest: Row | None = None) -> list[Row]:
    """Wrap a row of any length at `cells`, between words if possible. Returns at least one row.

    `first` is the prefix of the first line, such as a bullet. `rest` is the prefix of the others, which is
    not copied; by default spaces as wide as `first`. `cells` includes the prefixes.
    """
    if rest is None:
        rest = ((" " * width_of(first), ""),) if first else EMPTY
    room = max(1, cells - max(width_of(first), width_of(rest)))
    text = text_of(row)
    if cells_of(text) <= room:
        return [(*first, *row)]
    lines: list[Row] = []
    before = 0
    for start, end in breaks(text, room):
        joint = SPACED if start > before else GLUED
        lines.append((*rest, joint, *cut(row, start, end)) if lines else (*first, *cut(row, start, end)))
        before = end
    return lines


def breaks(text: str, cells: int) -> list[tuple[int, int]]:
    """Return the lines of at most `cells` that `text` wraps to, as pairs of character offsets.

    Spaces at a break belong to no line. Wide scripts break between any two characters, except before closing
    and after opening punctuation. A word longer than a line is cut.
    """
    if not text:
        return [(0, 0)]
    return _breaks_narrow(text, max(1, cells)) if text.isascii() else _breaks_any(text, max(2, cells))


def _breaks_narrow(text: str, cells: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    start, size = 0, len(text)
    while size - start > cells:
        space = text.rfind(" ", start + 1, start + cells + 1)
        end = space if space > start and not text[start:space].isspace() else start + cells
        stop = end
        while stop > start + 1 and text[stop - 1] == " ":
            stop -= 1
        lines.append((start, stop))
        while end < size and text[end] == " ":
            end += 1
        start = end
    if start < size or not lines:
        lines.append((start, size))
    return lines


def _cells(grapheme: str) -> int:
    """Return the cells of what a reader takes for one character."""
    return get_character_cell_size(grapheme) if len(grapheme) == 1 else cell_len(grapheme)


def _breaks_any(text: str, cells: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    start = used = index = 0
    places: list[tuple[int, int]] = []  # characters of the line, each with the cells before it
    for char in graphemes(text):
        width = _cells(char)
        if char != " " and index > start:
            places.append((index, used))
            while used + width > cells and start < index:
                # Only asked where a line ends: for each character, it takes most of the time.
                fitting = (place for place in reversed(places) if _may_break(text, place[0]))
                good, good_used = next(fitting, (index, used))
                places.clear()  # no line may end after `good`
                lines.append(_without_spaces(text, start, good))
                start, used = good, used - good_used
        used += width
        index += len(char)
    fits = not lines and used <= cells  # then nothing was wrapped, and trailing spaces are unchanged
    lines.append((start, len(text)) if fits else _without_spaces(text, start, len(text)))
    return lines


def _may_break(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index]
    if before == " ":
        return True
    if after in _NOT_FIRST or before in _NOT_LAST or get_character_cell_size(after) == 0:
        return False
    return get_character_cell_size(before) == 2 or get_character_cell_size(after) == 2


def _without_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start + 1 and text[end - 1] == " ":
        end -= 1
    return start, end


def copied(parts: Iterable[tuple[Row, int, int]]) -> str:
    """Return rows as text, with wrapped lines joined and without ornaments.

    `parts` are rows in order, each with its first and last selected character; an end below 0 means all.
    Spans of the style `aside` (the edge of code, the bar of a quote) are not copied.
    """
    lines: list[str] = []
    for row, start, end in parts:
        at = next((place for place, span in enumerate(row) if span in (GLUED, SPACED)), None)
        if lines and at is not None:  # the joint is followed by its own text
            joint = "" if row[at] == GLUED else " "
            lines[-1] += joint + _text_between(row, max(start, len(text_of(row[:at]))), end)
        else:
            lines.append(_text_between(row, start, end))
    return "\n".join([line.rstrip() for line in lines])


def _text_between(row: Row, start: int, end: int) -> str:
    size = len(text_of(row))
    spans = cut(row, start, size if end < 0 else end)
    return "".join([text for text, style in spans if "aside" not in style.split()]).rstrip()
