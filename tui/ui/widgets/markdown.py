"""Markdown -> rows. Raw HTML is text, and nothing is clickable.

Link definitions are shown as written: a late one would change text above it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from tui.core.text import clean_line
from tui.ui.widgets import code
from tui.ui.widgets.rows import EMPTY, Row, Span, pad, width_of, wrap

if TYPE_CHECKING:  # not needed for the first frame
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

GAP = 3
NARROWEST_CELL = 6
# Emphasis and links cost the square of their number in the worst case (measured: 60 ms for 4 KiB of "!["), so
# a paragraph with an absurd number of them is shown as plain text.
MAX_INLINE = 4096

MAX_BRACKETS = 256
_ATTRIBUTES = {"strong": "bold", "em": "italic", "s": "strike", "link": "underline"}
_BULLETS = ("•", "◦", "▪")
_TASK = re.compile(r"\[([ xX])\] ")
_HEADINGS = {"h1": "model bold", "h2": "model bold", "h3": "text bold"}
NARROWEST = 10


def table_rows(
    head: Sequence[Row], body: Sequence[Sequence[Row]], aligns: Sequence[str], width: int
) -> list[Row]:
    """Return a table as rows: the head, a thin line, the body. Cells wrap within their column.

    Lines of `body` may be shorter than the head; `aligns` are "left", "right" or "center".
    """
    columns = len(head)
    widths = _widths([head, *body], columns, width)
    if widths is None:
        return _stacked(head, body, width)
    rows = [*_line(head, widths, aligns), (("─" * (sum(widths) + GAP * (columns - 1)), "rule"),)]
    tall = any(width_of(cell) > widths[i] for line in body for i, cell in enumerate(line[:columns]))
    for number, line in enumerate(body):
        rows += [EMPTY] if tall and number else []
        rows += _line(line, widths, aligns)
    return rows


def _widths(lines: Sequence[Sequence[Row]], columns: int, width: int) -> list[int] | None:
    """Return the widths of the columns; None if there are too many for the width."""
    room = width - GAP * (columns - 1)
    wanted = [
        max([width_of(line[i]) for line in lines if i < len(line)], default=1) or 1 for i in range(columns)
    ]
    if sum(wanted) <= room:
        return wanted
    if columns * NARROWEST_CELL > room:
        return None
    # Narrow columns keep their width, wide ones share the rest.
    widths = wanted[:]
    for done, column in enumerate(sorted(range(columns), key=lambda i: wanted[i])):
        widths[column] = min(wanted[column], max(NARROWEST_CELL, room // (columns - done)))
        room -= widths[column]
    return widths


def _line(cells: Sequence[Row], widths: Sequence[int], aligns: Sequence[str]) -> list[Row]:
    full = [*cells, *[EMPTY] * len(widths)]
    wrapped = [wrap(cell, width) for cell, width in zip(full, widths, strict=False)]
    rows: list[Row] = []
    for parts in zip_longest(*wrapped, fillvalue=EMPTY):
        row: Row = EMPTY
        for i, part in enumerate(parts):
            gap: Row = ((" " * GAP, ""),) if i else EMPTY
            row = (*row, *gap, *_aligned(part, widths[i], aligns[i] if i < len(aligns) else "left"))
        rows.append(row)
    return rows


def _aligned(part: Row, width: int, align: str) -> Row:
    part = tuple([span for span in part if span[0]])  # lines of a cell are never joined
    spare = max(0, width - width_of(part))
    before = {"right": spare, "center": spare // 2}.get(align, 0)
    return pad(((" " * before, ""), *part) if before else part, width)


def _stacked(head: Sequence[Row], body: Sequence[Sequence[Row]], width: int) -> list[Row]:
    """Return a table that does not fit as one name and value per line."""
    rows: list[Row] = []
    for number, line in enumerate(body):
        if number:
            rows.append(EMPTY)
        for name, cell in zip(head, line, strict=False):
            rows += wrap((*name, ("  ", ""), *cell), width, rest=(("  ", ""),))
    return rows or [row for cell in head for row in wrap(cell, width)]


def inline_rows(parser: "MarkdownIt", text: str, base: str) -> list[Row]:
    """Return the lines of a paragraph, not yet wrapped; `base` is their style.

    A line break in the source breaks the line: models expect that.
    """
    text = text.expandtabs(4)
    if len(text) > MAX_INLINE or text.count("[") > MAX_BRACKETS:
        return [((line, base),) for line in text.split("\n")]
    tokens: list[Token] = []
    parser.inline.parse(text, parser, {}, tokens)
    return _spans_of(tokens, base)


def _spans_of(tokens: "Sequence[Token]", base: str) -> list[Row]:
    rows: list[list[Span]] = [[]]
    attributes: list[str] = []
    link, label = "", ""

    def add(text: str, base: str = base) -> None:
        style = " ".join((base, *dict.fromkeys(attributes)))
        if rows[-1] and rows[-1][-1][1] == style:
            text = rows[-1].pop()[0] + text
        if text:
            rows[-1].append((text, style))

    for token in tokens:
        address = ""
        match token.type:
            case "softbreak" | "hardbreak":
                rows.append([])
            case "image":
                add(token.content or "image")
                label += token.content or "image"
                address = clean_line(str(token.attrs.get("src", ""))) or " "
            case "link_open":
                link, label = str(token.attrs.get("href", "")), ""
                attributes.append("underline")
            case "link_close":
                attributes.remove("underline")
                is_shown = label in (link, link.removeprefix("mailto:"))
                address = "" if is_shown or not link else clean_line(link) or " "
            case kind if kind.endswith(("_open", "_close")):
                name, _, change = kind.rpartition("_")
                word = _ATTRIBUTES.get(name, "italic")
                (attributes.append if change == "open" else attributes.remove)(word)
            case _:
                add(token.content, "tool" if kind == "code_inline" else base)
                label += token.content
        if address:
            rows[-1].append((f" ({address.strip()})", "dim"))
    return [tuple(row) for row in rows]


def _parts(tokens: "list[Token]") -> "Iterator[list[Token]]":
    """Yield the tokens of each block, with those inside it."""
    start = depth = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1
    if start < len(tokens):
        yield tokens[start:]


class Markdown:
    """Parses the Markdown of models, and returns rows of it."""

    def __init__(self) -> None:
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark", {"html": False})
        self._parser = parser.enable(["table", "strikethrough"]).disable(["reference"])

    def blocks(self, source: str) -> "list[Token]":
        """Return the block tokens of a text; top-level tokens have level 0 and line numbers."""
        tokens: list[Token] = []
        self._parser.block.parse(source, self._parser, {}, tokens)
        return tokens

    def rows(self, source: str, width: int) -> list[Row]:
        return self._rows(self.blocks(source), width, "text")

    def _rows(self, tokens: "list[Token]", width: int, base: str) -> list[Row]:
        rows: list[Row] = []
        tight = True
        for part in _parts(tokens):
            opening = part[0]
            if rows and not (tight and (opening.hidden or opening.type.endswith("list_open"))):
                rows.append(EMPTY)
            rows += self._block(part, width, base)
            tight = opening.hidden
        return rows

    def _block(self, tokens: "list[Token]", width: int, base: str) -> list[Row]:
        opening = tokens[0]
        inside = tokens[1:-1]
        match opening.type:
            case "paragraph_open":
                return self._lines(inside, width, base)
            case "heading_open":
                return self._lines(inside, width, _HEADINGS.get(opening.tag, "text bold"))
            case "bullet_list_open" | "ordered_list_open":
                return self._list(opening, inside, width, base)
            case "blockquote_open":
                for token in inside:  # levels count lists, which have other bullets at each
                    token.level -= 1
                bar: Row = (("▎ ", "rule aside"),) if width > NARROWEST else EMPTY
                return [(*bar, *row) for row in self._rows(inside, max(NARROWEST, width - 2), "dim")]
            case "table_open":
                return self._table(inside, width, base)
            case "fence" | "code_block":
                language = code.language_of(opening.info)
                lines = opening.content.removesuffix("\n").split("\n")
                return code.title(language, width) + code.panel(code.highlighted(lines, language), width)
            case "hr":
                return [(("─" * min(width, 60), "rule"),)]
            case _:
                return [row for line in opening.content.split("\n") for row in wrap(((line, base),), width)]

    def _lines(self, tokens: "list[Token]", width: int, base: str) -> list[Row]:
        text = "\n".join(token.content for token in tokens)
        return [row for line in inline_rows(self._parser, text, base) for row in wrap(line, width)]

    def _list(self, opening: "Token", tokens: "list[Token]", width: int, base: str) -> list[Row]:
        items = [part[1:-1] for part in _parts(tokens)]
        ordered = opening.type == "ordered_list_open"
        first = int(opening.attrs.get("start", 1)) if ordered else 0
        signs = [f"{first + number}." if ordered else "" for number in range(len(items))]
        wide = max(len(sign) for sign in signs) if ordered else 1
        loose = any(
            token.type == "paragraph_open" and not token.hidden
            for token in tokens
            if token.level == opening.level + 2
        )
        bullet = _BULLETS[min(opening.level // 2, len(_BULLETS) - 1)]
        rows: list[Row] = []
        for sign, item in zip(signs, items, strict=True):
            if loose and rows:
                rows.append(EMPTY)
            mark: Row = ((f"{sign or bullet:>{wide}} ", "dim"),)
            rows += self._item(item, mark, wide + 1, width, base)
        return rows

    def _item(self, tokens: "list[Token]", mark: Row, indent: int, width: int, base: str) -> list[Row]:
        text = tokens[1] if len(tokens) > 1 and tokens[1].type == "inline" else None
        if text is not None and (found := _TASK.match(text.content)):
            text.content = text.content[found.end() :]
            mark = pad((("☐ ", "dim") if found.group(1) == " " else ("✓ ", "ok"),), indent)
        if width - indent < NARROWEST:
            indent, mark = 0, EMPTY
        rows = self._rows(tokens, width - indent, base) or [EMPTY]
        blank: Row = ((" " * indent, ""),) if indent else EMPTY
        return [(*(blank if number else mark), *row) for number, row in enumerate(rows)]

    def _table(self, tokens: "list[Token]", width: int, base: str) -> list[Row]:
        lines: list[list[Row]] = []
        aligns: list[str] = []
        for token in tokens:
            if token.type == "tr_open":
                lines.append([])
            elif token.type == "th_open":
                aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
            elif token.type == "inline":
                style = "text bold" if len(lines) == 1 else base
                lines[-1].append(inline_rows(self._parser, token.content, style)[0])
        return table_rows(lines[0], lines[1:], aligns, width) if lines else []
