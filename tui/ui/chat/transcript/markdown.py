"""Markdown -> rows: headings, lists, quotes, tables, code, rules, paragraphs. Pure.

Only the block structure is parsed here; what stands inside a line is read when it is drawn. Raw HTML is
text like any other, link definitions are shown as written (a definition that comes late would change
what was already read), and nothing is clickable.
"""

import re
from typing import TYPE_CHECKING

from tui.ui.chat.transcript import code
from tui.ui.chat.transcript.inline import inline_rows
from tui.ui.chat.transcript.tables import table_rows
from tui.ui.widgets.rows import EMPTY, Row, pad, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BULLETS = ("•", "◦", "▪")
_TASK = re.compile(r"\[([ xX])\] ")
_HEADINGS = {"h1": "accent bold", "h2": "accent bold", "h3": "text bold"}
NARROWEST = 10


class Markdown:
    """A parser for what models write, and the rows of what it reads."""

    def __init__(self) -> None:
        self._parser = _new_parser()

    def blocks(self, source: str) -> "list[Token]":
        """Return the block tokens of a text; top-level ones have level 0 and know their lines."""
        tokens: list[Token] = []
        self._parser.block.parse(source, self._parser, {}, tokens)
        return tokens

    def rows(self, source: str, width: int) -> list[Row]:
        """Return the rows of a text at a width."""
        return _Drawing(self._parser).rows(self.blocks(source), width, "text")


def _new_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["table", "strikethrough"]).disable(["reference"])


def _end_of(tokens: "list[Token]", start: int) -> int:
    """Return the index of the token that closes the one at `start`."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


class _Drawing:
    """Turns block tokens into rows."""

    def __init__(self, parser: "MarkdownIt") -> None:
        self._parser = parser
        self._depth = 0

    def rows(self, tokens: "list[Token]", width: int, base: str) -> list[Row]:
        """Return the rows of blocks that stand below each other."""
        rows: list[Row] = []
        start, tight = 0, True
        while start < len(tokens):
            end = _end_of(tokens, start)
            opening = tokens[start]
            if rows and not (tight and (opening.hidden or opening.type.endswith("list_open"))):
                rows.append(EMPTY)
            rows += self._block(tokens[start : end + 1], width, base)
            tight = opening.hidden
            start = end + 1
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
                return self._quote(inside, width)
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

    def _quote(self, tokens: "list[Token]", width: int) -> list[Row]:
        bar: Row = (("▎ ", "rule aside"),) if width > NARROWEST else EMPTY
        return [(*bar, *row) for row in self.rows(tokens, max(NARROWEST, width - 2), "dim")]

    def _list(self, opening: "Token", tokens: "list[Token]", width: int, base: str) -> list[Row]:
        items = self._items(tokens)
        ordered = opening.type == "ordered_list_open"
        first = int(opening.attrs.get("start", 1)) if ordered else 0
        signs = [f"{first + number}." if ordered else "" for number in range(len(items))]
        wide = max(len(sign) for sign in signs) if ordered else 1
        loose = any(
            token.type == "paragraph_open" and not token.hidden
            for token in tokens
            if token.level == opening.level + 2
        )
        bullet = _BULLETS[min(self._depth, len(_BULLETS) - 1)]
        rows: list[Row] = []
        self._depth += 1
        for sign, item in zip(signs, items, strict=True):
            if loose and rows:
                rows.append(EMPTY)
            mark: Row = ((f"{sign or bullet:>{wide}} ", "dim"),)
            rows += self._item(item, mark, wide + 1, width, base)
        self._depth -= 1
        return rows

    def _item(self, tokens: "list[Token]", mark: Row, indent: int, width: int, base: str) -> list[Row]:
        task = _task_of(tokens)
        if task is not None:
            mark = pad(task, indent)
        if width - indent < NARROWEST:
            indent, mark = 0, EMPTY
        rows = self.rows(tokens, width - indent, base) or [EMPTY]
        blank: Row = ((" " * indent, ""),) if indent else EMPTY
        return [(*(blank if number else mark), *row) for number, row in enumerate(rows)]

    @staticmethod
    def _items(tokens: "list[Token]") -> "list[list[Token]]":
        items = []
        start = 0
        while start < len(tokens):
            end = _end_of(tokens, start)
            items.append(tokens[start + 1 : end])
            start = end + 1
        return items

    def _table(self, tokens: "list[Token]", width: int, base: str) -> list[Row]:
        lines: list[list[Row]] = []
        aligns: list[str] = []
        style = base
        for token in tokens:
            match token.type:
                case "tr_open":
                    lines.append([])
                case "th_open":
                    aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
                    style = "text bold"
                case "td_open":
                    style = base
                case "inline":
                    cell = inline_rows(self._parser, token.content, style)
                    lines[-1].append(cell[0])
                case _:
                    pass
        return table_rows(lines[0], lines[1:], aligns, width) if lines else []


def _task_of(tokens: "list[Token]") -> Row | None:
    """Take the box of a task off an item; return its sign, or None if the item is no task."""
    if len(tokens) < 2 or tokens[1].type != "inline" or not (found := _TASK.match(tokens[1].content)):
        return None
    tokens[1].content = tokens[1].content[found.end() :]
    return (("☐ ", "dim"),) if found.group(1) == " " else (("✓ ", "ok"),)
