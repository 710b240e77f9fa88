"""Highlights code: lines -> styled rows. pygments is imported on first use."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from tui.core.text import clean_line
from tui.ui.widgets.rows import EMPTY, Row, Span, pad, spread, wrap

GROUND = "on panel"
PLAIN = "text on panel"
MAX_LINE = 512  # a longer line is not highlighted

# Language names of fences -> the lexer, "" for the one of this name. Only these: a lexer is a set of regular
# expressions, and those of rare languages were not made for hostile text.
_LEXERS = dict.fromkeys(
    """bash sh shell zsh c cpp c++ csharp cs c# css diff docker dockerfile go golang html http ini cfg java
    javascript js json kotlin lua make makefile php powershell ps1 pwsh python py python3 py3 r ruby rb rust
    rs scala sql swift toml typescript ts xml yaml""".split(),
    "",
) | {
    name: lexer
    for lexer, names in {
        "bash": "console",
        "c": "h",
        "cpp": "cc hpp cxx",
        "diff": "patch",
        "ini": "conf",
        "javascript": "jsx mjs",
        "json": "jsonc json5",
        "kotlin": "kt",
        "sql": "sqlite postgres postgresql mysql",
        "typescript": "tsx",
        "xml": "svg xhtml",
        "yaml": "yml",
    }.items()
    for name in names.split()
}

# Token families, most specific first -> style.
_ROLES = (
    ("Token.Comment", "dim italic"),
    ("Token.Keyword", "accent"),
    ("Token.Name.Function", "model"),
    ("Token.Name.Class", "model bold"),
    ("Token.Name.Tag", "accent"),
    ("Token.Name.Attribute", "model"),
    ("Token.Name.Builtin", "tool"),
    ("Token.Name.Decorator", "tool"),
    ("Token.Literal.String", "ok"),
    ("Token.Literal.Number", "warn"),
    ("Token.Operator.Word", "accent"),
    ("Token.Generic.Deleted", "bad"),
    ("Token.Generic.Inserted", "ok"),
    ("Token.Generic.Heading", "text bold"),
    ("Token.Generic.Subheading", "dim"),
    ("Token.Generic.Prompt", "dim"),
)


def language_of(info: str) -> str:
    """Return the language in a fence's info string, cleaned for display."""
    words = info.split(maxsplit=1)
    return clean_line(words[0], 24) if words else ""


def warm() -> None:
    """Import the highlighter and the lexer of arguments; for a thread.

    Others are imported at their first fence.
    """
    _lexer("json")


def highlighted(lines: Sequence[str], language: str) -> list[Row]:
    """Return one row per line; plain if the language is unknown or a line is very long."""
    lines = [line.expandtabs(4) for line in lines]
    lexer = _lexer(language) if max(map(len, lines), default=0) <= MAX_LINE else None
    if lexer is None:
        return [((line, PLAIN),) for line in lines]
    rows: list[Row] = []
    spans: list[Span] = []
    words: dict[object, str] = {}
    for kind, text in lexer.get_tokens("\n".join(lines)):
        style = words.get(kind)
        if style is None:
            roles = (f"{role} {GROUND}" for family, role in _ROLES if str(kind).startswith(family))
            style = words[kind] = next(roles, PLAIN)
        for number, piece in enumerate(text.split("\n")):
            if number:
                rows.append(tuple(spans))
                spans = []
            if piece:
                spans.append((piece, style))
    rows.append(tuple(spans))
    return rows[: len(lines)]


def panel(rows: Iterable[Row], width: int) -> list[Row]:
    """Return wrapped rows of code, on the background of code, as wide as `width`."""
    edge: Row = ((" ", f"{PLAIN} aside"),)
    return [
        pad(line, width, PLAIN)
        for row in rows
        for line in wrap(row, max(4, width - 1), first=edge, rest=((" ↪ ", "dim on panel"),))
    ]


def title(language: str, width: int) -> list[Row]:
    """Return the row above code that names its language, if any. It is not copied."""
    if not language:
        return []
    row = spread(EMPTY, ((language + " ", "dim"),), width)
    return [tuple([(text, f"{style or 'text'} {GROUND} aside") for text, style in row])]


def _lexer(language: str) -> Any:
    """Return the pygments lexer, which has no types, for a language; None if it is unknown."""
    name = _LEXERS.get(language.lower())
    if name is None:
        return None
    find = import_module("pygments.lexers").get_lexer_by_name
    return find(name or language.lower(), stripnl=False, ensurenl=False)
