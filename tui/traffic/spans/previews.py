"""Values and results made small enough to stand in a trace. Pure, and bounded in time by its limits.

Nothing here looks at more of a value than it shows, so that arguments or results of many megabytes cost
the same as short ones. Everything returned is cleaned text.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from tui.core.text import Preview, clean, clean_line, preview

VALUE_CHARS = 400
"""At most so many characters of one argument are kept."""

MAX_ARGUMENTS = 40
"""At most so many arguments of one call are kept."""

RESULT_CHARS = 2_000
RESULT_LINES = 24
MAX_DEPTH = 12


def compact(value: Any, limit: int = VALUE_CHARS) -> str:
    """Return `value` as one line of JSON-like text of at most `limit` characters, cut with an ellipsis.

    Works for any value, also one that is no JSON (NaN, a deep or self-referencing structure).
    """
    text = ""
    for piece in _pieces(value, limit, 0):
        text += piece
        if len(text) > limit:
            return text[: limit - 1] + "…"
    return text


def argument_lines(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the arguments of a call as (name, value) pairs of cleaned one-line text, in order.

    More than `MAX_ARGUMENTS` are summed up in a last pair ("…", "12 more").
    """
    lines = [
        (clean_line(str(name), 64), compact(value))
        for name, value in islice(arguments.items(), MAX_ARGUMENTS)
    ]
    more = len(arguments) - len(lines)
    if more > 0:
        lines.append(("…", f"{more} more"))
    return tuple(lines)


def result_preview(text: str) -> Preview:
    """Return the head of a result: a few lines of cleaned text, and how much is not shown."""
    return preview(text.strip() if len(text) <= RESULT_CHARS else text, RESULT_CHARS, RESULT_LINES)


def _pieces(value: Any, limit: int, depth: int) -> Iterator[str]:
    match value:
        case str():
            yield _quoted(value, limit)
        case bool() | None:
            yield {True: "true", False: "false", None: "null"}[value]
        case int():
            # A number of thousands of digits would take quadratic time, or be refused by Python.
            yield str(value) if value.bit_length() < 1024 else "…"
        case float():
            yield repr(value)
        case Mapping() | list() | tuple() if depth >= MAX_DEPTH:
            yield "…"
        case Mapping():
            yield from _mapping_pieces(value, limit, depth)
        case list() | tuple():
            for index, item in enumerate(value):
                yield ", " if index else "["
                yield from _pieces(item, limit, depth + 1)
            yield "]" if value else "[]"
        case _:
            yield f"<{type(value).__name__}>"


def _mapping_pieces(value: Mapping[Any, Any], limit: int, depth: int) -> Iterator[str]:
    for index, (name, item) in enumerate(value.items()):
        yield (", " if index else "{") + _quoted(str(name), limit) + ": "
        yield from _pieces(item, limit, depth + 1)
    yield "}" if value else "{}"


def _quoted(text: str, limit: int) -> str:
    head = (
        clean(text[:limit])
        .replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\t", "\\t")
    )
    return f'"{head}"' if len(text) <= limit else f'"{head}…"'
