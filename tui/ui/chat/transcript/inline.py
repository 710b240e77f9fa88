"""Markdown inside a line: the tokens of a paragraph or a cell -> styled rows. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tui.core.text import clean_line
from tui.ui.widgets.rows import Row, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Emphasis and links cost the square of their number in the worst case (measured: 60 ms for 4 KiB of
# "!["), so a paragraph with more of them than anyone writes is shown as it was written.
MAX_INLINE = 4096
MAX_BRACKETS = 256
_ATTRIBUTES = {"strong": "bold", "em": "italic", "s": "strike", "link": "underline"}


@lru_cache(maxsize=512)
def _words(base: str, attributes: tuple[str, ...]) -> str:
    return " ".join((base, *dict.fromkeys(attributes)))


def inline_rows(parser: "MarkdownIt", text: str, base: str) -> list[Row]:
    """Return the lines of a paragraph, not yet wrapped; `base` are the words of its style.

    A line break in the source breaks the line: models mean it where they write one.
    """
    text = text.expandtabs(4)
    if len(text) > MAX_INLINE or text.count("[") > MAX_BRACKETS:
        return [((line, base),) for line in text.split("\n")]
    tokens: list[Token] = []
    parser.inline.parse(text, parser, {}, tokens)
    return _Line(base).read(tokens)


class _Line:
    """Collects the spans of a paragraph while its tokens are read."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._attributes: list[str] = []
        self._rows: list[Row] = []
        self._spans: list[Span] = []
        self._link = ""
        self._label: list[str] = []

    def read(self, tokens: "Sequence[Token]") -> list[Row]:
        for token in tokens:
            self._take(token)
        self._break()
        return self._rows

    def _take(self, token: "Token") -> None:
        match token.type:
            case "text" | "text_special":
                self._add(token.content)
            case "softbreak" | "hardbreak":
                self._break()
            case "code_inline":
                self._add(token.content, "tool")
            case "image":
                self._add(token.content or "image")
                self._address(token.attrs.get("src"))
            case "link_open":
                self._link = str(token.attrs.get("href", ""))
                self._label.clear()
                self._attributes.append("underline")
            case "link_close":
                self._attributes.remove("underline")
                if "".join(self._label) not in (self._link, self._link.removeprefix("mailto:")):
                    self._address(self._link)
                self._link = ""
            case kind if kind.endswith("_open"):
                self._attributes.append(_ATTRIBUTES.get(kind[:-5], "italic"))
            case kind if kind.endswith("_close"):
                self._attributes.remove(_ATTRIBUTES.get(kind[:-6], "italic"))
            case _:
                self._add(token.content)

    def _add(self, text: str, base: str = "") -> None:
        if not text:
            return
        if self._link:
            self._label.append(text)
        style = _words(base or self._base, tuple(self._attributes))
        if self._spans and self._spans[-1][1] == style:
            text = self._spans.pop()[0] + text
        self._spans.append((text, style))

    def _address(self, url: object) -> None:
        self._spans.append((f" ({clean_line(str(url or ''))})", "dim"))

    def _break(self) -> None:
        self._rows.append(tuple(self._spans))
        self._spans.clear()
