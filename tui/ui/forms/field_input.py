"""The input of a form field: a text with a cursor and editing keys, and values that a server suggests."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tui.core.forms.spec import FieldKind, FormField, Path
from tui.core.language.translate import _
from tui.core.matching import nearest
from tui.core.text import (
    cells_of,
    clean,
    clean_line,
    grapheme_end,
    grapheme_start,
    graphemes,
    truncated,
)
from tui.core.workbench import Completions
from tui.ui.widgets.rows import Row, crop

DEBOUNCE_SECONDS = 0.15
MOST_ROWS = 6

AskValues = Callable[[str, str, Mapping[str, str]], Awaitable[Completions]]
"""Returns values for an argument, from its name, its typed text, and the values of the other arguments."""


class ValueSuggestions:
    """The list below the current field; `changed` is called after changes."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.ask: AskValues | None = None  # None for a form whose values are not completed
        self._changed = changed
        self._found = Completions()
        self._marked = -1
        self._question: tuple[str, str, Mapping[str, str]] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return bool(self._found.values)

    def look(self, name: str, typed: str, others: Mapping[str, str]) -> None:
        """Request values for an argument, unless the last request was the same."""
        question = (name, typed, others)
        if self.ask is None or question == self._question:
            return
        if self._question is not None and self._question[0] != name:
            self.close()
        else:  # until the response, only values that match the typed text are offered
            values = tuple(nearest(self._found.values, typed))
            self._found, self._marked = replace(self._found, values=values), -1
        self._question = question
        self._stop()
        self._task = asyncio.create_task(self._fill(self.ask, question), name="suggested values")

    async def _fill(self, ask: AskValues, question: tuple[str, str, Mapping[str, str]]) -> None:
        await asyncio.sleep(DEBOUNCE_SECONDS)
        found = await ask(*question)
        if found.values == (question[1],):
            found = Completions()  # the value is already typed completely
        self._found, self._marked = found, -1
        self._changed()

    def close(self) -> bool:
        """Close the list until the text changes; return whether it was open."""
        was_open = self.is_open
        self._stop()
        self._found, self._marked = Completions(), -1
        return was_open

    def forget(self) -> None:
        """Close the list; the same request may be sent again."""
        self.close()
        self._question = None

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def step(self, direction: int) -> None:
        """Mark the next (1) or previous (-1) value."""
        count = len(self._found.values)
        first = 0 if direction > 0 else count - 1
        self._marked = (self._marked + direction) % count if self._marked >= 0 else first

    @property
    def marked(self) -> str | None:
        return self.at(self._marked)

    @property
    def best(self) -> str | None:
        """The marked value, by default the first one."""
        return self.at(max(0, self._marked))

    def at(self, index: int) -> str | None:
        return self._found.values[index] if 0 <= index < len(self._found.values) else None

    def rows(self, indent: int, columns: int, cursor: str) -> Iterator[tuple[int, Row]]:
        """Yield the visible values as rows, each with its index; -1 for the note that there are more."""
        values = self._found.values
        first = max(0, min(self._marked - MOST_ROWS + 1, len(values) - MOST_ROWS))
        for index, value in enumerate(values[first : first + MOST_ROWS], first):
            lead = cursor if index == self._marked else " "
            style = "text bold" if index == self._marked else "text"
            row: Row = ((" " * indent, ""), (f"{lead} ", "accent"), (clean_line(value, 200), style))
            yield index, crop(row, columns)
        hidden = len(values) - first - MOST_ROWS
        if hidden > 0 or self._found.more:
            words = _("{n} more", n=hidden) if not self._found.more else _("more, type to narrow the list")
            yield -1, crop(((" " * (indent + 2), ""), (f"… {words}", "dim")), columns)


AHEAD_SECONDS = 1.0
"""A letter within this time after another one continues its word."""

ALSO = {"true": ("yes", "on", "1"), "false": ("no", "off", "0")}
"""Other words for booleans."""


class TypeAhead:
    """Selects a label by its first letters, as a list in a browser does."""

    def __init__(self) -> None:
        self._field: Path | None = None
        self._typed = ""
        self._at = 0.0

    def choose(self, labels: Sequence[str], field: FormField, letter: str) -> str:
        """Return the label that a letter selects, or "". One letter again selects the next label with it."""
        now, goes_on = time.monotonic(), field.path == self._field
        self._typed = self._typed if goes_on and now - self._at < AHEAD_SECONDS else ""
        self._field, self._at = field.path, now
        typed = self._typed + letter.casefold()
        current = field.arms[field.arm] if field.arms and not field.spec.choices else field.text
        for self._typed in dict.fromkeys((typed, letter.casefold())):
            after = list(labels).index(current) + (len(self._typed) == 1) if current in labels else 0
            for label in (*labels[after:], *labels[:after]):
                words = (label, *ALSO.get(label, ())) if field.kind is FieldKind.BOOLEAN else (label,)
                if any(word.casefold().startswith(self._typed) for word in words):
                    return label
        self._typed = ""
        return ""


MOST_CHARS = 1024 * 1024
PER_CELL = 8
"""Code points per cell that are looked at: emoji have several."""


_KEYS = {
    "left": ("left", False),
    "right": ("right", False),
    "home": ("start", False),
    "end": ("end", False),
    **dict.fromkeys(("ctrl+left", "alt+left"), ("word left", False)),
    **dict.fromkeys(("ctrl+right", "alt+right"), ("word right", False)),
    "backspace": ("left", True),
    "delete": ("right", True),
    **dict.fromkeys(("ctrl+w", "ctrl+backspace", "alt+backspace"), ("word left", True)),
    "ctrl+u": ("start", True),
}
"""Editing keys: where each moves the cursor, and whether it deletes the text up to there."""


@dataclass(slots=True)
class LineEdit:
    """A text and a cursor, which is always within the text; typing replaces a text that is `selected`."""

    text: str = ""
    cursor: int = 0
    selected: bool = False

    @classmethod
    def at_end(cls, text: str) -> "LineEdit":
        """Return it with the cursor after the last character."""
        return cls(text, len(text))

    def insert(self, letters: str) -> None:
        """Insert at the cursor; the text is truncated to `MOST_CHARS`."""
        if self.selected:
            self.text, self.cursor, self.selected = "", 0, False
        letters = letters[: max(0, MOST_CHARS - len(self.text))]
        self.text = self.text[: self.cursor] + letters + self.text[self.cursor :]
        self.cursor += len(letters)

    def key(self, key: str) -> bool:
        """Handle an editing key; return False for any other key."""
        self.selected = False
        place, deletes = _KEYS.get(key, ("", False))
        match place:
            case "left":
                to = grapheme_start(self.text, max(0, self.cursor - 1))
            case "right":
                to = self._right()
            case "word left":
                to = self.cursor - _word(self.text[: self.cursor][::-1])
            case "word right":
                to = self.cursor + _word(self.text[self.cursor :])
            case "start" | "end":
                to = 0 if place == "start" else len(self.text)
            case _:
                return False
        first, last = sorted((to, self.cursor))
        self.text = self.text[:first] + self.text[last:] if deletes else self.text
        self.cursor = first if deletes else to
        return True

    def _right(self) -> int:
        return grapheme_end(self.text, min(len(self.text), self.cursor + 1))

    def window(self, cells: int) -> tuple[str, str, str]:
        """Return the cleaned text before, under and after the cursor that fits `cells`.

        After the last character, the cursor has its own cell.
        """
        end = self._right()
        under = _shown(self.text[self.cursor : end]) or " "
        room = max(0, cells - cells_of(under))
        first = grapheme_start(self.text, max(0, self.cursor - cells * PER_CELL))
        signs = reversed(list(graphemes(self.text[first : self.cursor])))
        left = _fitting(signs, room * 3 // 4 if self.cursor < len(self.text) else room)
        before = "".join(reversed(left))
        after = _fitting(graphemes(self.text[end : end + cells * PER_CELL]), room - cells_of(before))
        return before, under, "".join(after)


def _fitting(graphemes: Iterable[str], cells: int) -> list[str]:
    """Return the displayed forms of as many of the first characters as fit."""
    signs: list[str] = []
    for sign in map(_shown, graphemes):
        if (cells := cells - cells_of(sign)) < 0:
            break
        signs.append(sign)
    return signs


def _word(text: str) -> int:
    """Return the length of the first word, with what precedes it."""
    found = re.match(r"\W*\w*", text)
    return found.end() if found is not None else 0


def _shown(char: str) -> str:
    sign = clean(char)
    return {"\n": "⏎", "\t": " "}.get(sign, sign)


def shown_text(text: str, limit: int = 2000) -> str:
    """Return a value as one cleaned line, with visible line breaks."""
    return clean(truncated(text, limit)).replace("\n", "⏎").replace("\t", " ")
