"""LineEdit: a line of text with a cursor and editing keys, and the visible part of it. Pure."""

import unicodedata
from dataclasses import dataclass

from rich.cells import get_character_cell_size

from tui.core.text import clean

MOST_CHARS = 1024 * 1024


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


@dataclass(slots=True)
class LineEdit:
    """A text and a cursor, which is always within the text."""

    text: str = ""
    cursor: int = 0

    @classmethod
    def at_end(cls, text: str) -> "LineEdit":
        """Return it with the cursor after the last character."""
        return cls(text, len(text))

    def insert(self, letters: str) -> None:
        """Insert at the cursor; the text is truncated to `MOST_CHARS`."""
        letters = letters[: max(0, MOST_CHARS - len(self.text))]
        self.text = self.text[: self.cursor] + letters + self.text[self.cursor :]
        self.cursor += len(letters)

    def key(self, key: str) -> bool:
        """Handle an editing key; return False for any other key."""
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        match key:
            case "left":
                self.cursor = self._left()
            case "right":
                self.cursor = self._right()
            case "home":
                self.cursor = 0
            case "end":
                self.cursor = len(self.text)
            case "ctrl+left" | "alt+left":
                self.cursor = self._word_left()
            case "ctrl+right" | "alt+right":
                self.cursor = self._word_right()
            case "backspace":
                self.cursor = self._left()
                self.text = self.text[: self.cursor] + after
            case "delete":
                self.text = before + self.text[self._right() :]
            case "ctrl+w" | "ctrl+backspace" | "alt+backspace":
                self.cursor = self._word_left()
                self.text = self.text[: self.cursor] + after
            case "ctrl+u":
                self.text, self.cursor = after, 0
            case _:
                return False
        return True

    def _left(self) -> int:
        at = self.cursor - 1
        while at > 0 and unicodedata.combining(self.text[at]):
            at -= 1
        return max(0, at)

    def _right(self) -> int:
        at = self.cursor + 1
        while at < len(self.text) and unicodedata.combining(self.text[at]):
            at += 1
        return min(len(self.text), at)

    def _word_left(self) -> int:
        at = self.cursor
        while at > 0 and not _is_word(self.text[at - 1]):
            at -= 1
        while at > 0 and _is_word(self.text[at - 1]):
            at -= 1
        return at

    def _word_right(self) -> int:
        at = self.cursor
        while at < len(self.text) and not _is_word(self.text[at]):
            at += 1
        while at < len(self.text) and _is_word(self.text[at]):
            at += 1
        return at

    def window(self, cells: int) -> tuple[str, str, str]:
        """Return the cleaned text before, under and after the cursor that fits `cells`.

        After the last character, the cursor has its own cell.
        """
        under = _shown(self.text[self.cursor]) if self.cursor < len(self.text) else " "
        room = max(0, cells - _width(under))
        before = ""
        keep = room * 3 // 4 if self.cursor < len(self.text) else room
        for char in reversed(self.text[max(0, self.cursor - cells) : self.cursor]):
            sign = _shown(char)
            if _width(sign) > keep:
                break
            keep -= _width(sign)
            before = sign + before
        room -= sum(map(_width, before))
        after = ""
        for char in self.text[self.cursor + 1 : self.cursor + 1 + cells]:
            sign = _shown(char)
            if _width(sign) > room:
                break
            room -= _width(sign)
            after += sign
        return before, under, after


def _shown(char: str) -> str:
    """Return the displayed form of a character, always one character, so that positions stay the same."""
    sign = clean(char)[:1]
    return {"\n": "⏎", "\t": " ", "": " "}.get(sign, sign)


def _width(text: str) -> int:
    return sum(get_character_cell_size(char) for char in text)


def shown_text(text: str, limit: int = 2000) -> str:
    """Return a value as one cleaned line, with visible line breaks."""
    head = clean(text[:limit]).replace("\n", "⏎").replace("\t", " ")
    return head + ("…" if len(text) > limit else "")
