"""Lines for the terminal: colored, broken at words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tui.core.text import cells_of

_WORD = re.compile(r"(?:^ +)?[^ ]+")
_SHELL_WORD = re.compile(r"""(?:^ +)?(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])+""", re.DOTALL)


_CODES = {"dim": "2", "bold": "1", "bad": "31", "bad bold": "31;1", "ok": "32", "warn": "33"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colors texts, if the terminal shows colors."""

    colored: bool

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colored and style and text.strip() else text


def wrapped(text: str, cells: int, indent: str = "") -> list[str]:
    """Return the lines of a text, each of at most `cells` unless a word is longer.

    Lines that follow a break begin with `indent`. What fits stays as it is.
    """
    found: list[str] = []
    for line in text.split("\n"):
        found += [line] if cells_of(line) <= cells else _filled(_WORD.findall(line), cells, indent)
    return found


def wrapped_command(text: str, cells: int, indent: str = "") -> list[str]:
    """Return a command of a shell in lines that can be copied together: a backslash ends all but the last.

    It is only broken outside of quotes.
    """
    if cells_of(text) <= cells:
        return [text]
    lines = _filled(_SHELL_WORD.findall(text), cells - 2, indent)
    return [*(f"{line} \\" for line in lines[:-1]), *lines[-1:]]


def _filled(words: Iterable[str], cells: int, indent: str) -> list[str]:
    lines = list[str]()
    for word in words:
        if lines and cells_of(lines[-1]) + 1 + cells_of(word) <= cells:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}{word}" if lines else word)
    return lines
