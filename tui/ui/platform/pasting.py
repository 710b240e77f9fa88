"""Separates pasted text from keys in what a terminal sends, whatever the text contains. Pure.

Terminals send pasted text between two markers ("bracketed paste", DEC mode 2004) and some leave escape
characters in it. Read as keys, such an escape splits the text and its line ends become the enter key: half
a log would be sent as messages (seen with tmux).
"""

from collections.abc import Generator, Iterator

BEGIN = "\x1b[200~"
END = "\x1b[201~"


class PasteGate:
    """Splits a terminal's characters into keys and pastes; `open` during a paste."""

    def __init__(self) -> None:
        self.open = False
        self._pasted: list[str] = []
        self._held = ""
        self._lone_escape = False

    def feed(self, data: str) -> Iterator[tuple[bool, str]]:
        """Take the next characters and yield (is a paste, text) in order."""
        if self._lone_escape and data.startswith(BEGIN[1:]):
            # The key parser has already read the first character of the marker: give it an empty paste.
            yield False, BEGIN[1:] + END
            data = data[len(BEGIN) - 1 :]
            self.open = True
        self._lone_escape = False
        data, self._held = self._held + data, ""
        while data:
            if self.open:
                data = yield from self._inside(data)
            else:
                data = yield from self._outside(data)

    def give_up(self) -> str:
        """Return a paste whose end is missing, and stop waiting for the end."""
        text = "".join(self._pasted) + self._held
        self._pasted.clear()
        self.open, self._held = False, ""
        return text

    def _outside(self, data: str) -> Generator[tuple[bool, str], None, str]:
        keys, mark, rest = data.partition(BEGIN)
        if mark:
            self.open = True
        else:
            kept = _overlap(keys, BEGIN)
            if kept == 1:  # most likely the escape key, which must not be delayed
                self._lone_escape = True
            elif kept:
                keys, self._held = keys[:-kept], keys[-kept:]
        if keys:
            yield False, keys
        return rest

    def _inside(self, data: str) -> Generator[tuple[bool, str], None, str]:
        text, mark, rest = data.partition(END)
        if not mark:
            if kept := _overlap(text, END):
                text, self._held = text[:-kept], text[-kept:]
            self._pasted.append(text)
            return ""
        self._pasted.append(text)
        whole = "".join(self._pasted)
        self._pasted.clear()
        self.open = False
        yield True, whole
        return rest


def _overlap(text: str, mark: str) -> int:
    """Return how many characters at the end of `text` may be the start of `mark`."""
    return next((size for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), 0)
