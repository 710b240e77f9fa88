"""Big pastes: a token stands in the composer for text that is too large to be edited there. Pure."""

from collections.abc import Iterator, Mapping

from tui.core import units

MAX_CHARS = 4_000
MAX_LINES = 40


class Pastes:
    """The texts behind the tokens. Nothing is forgotten: a token may come back with undo or history."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    @property
    def texts(self) -> Mapping[str, str]:
        """Every token with its text."""
        return self._texts

    @staticmethod
    def is_big(text: str) -> bool:
        """Whether `text` should not be put into the composer as it is."""
        return len(text) > MAX_CHARS or text.count("\n") >= MAX_LINES

    def keep(self, text: str) -> str:
        """Keep `text` and return the token that stands for it, one line."""
        lines = f"{text.count(chr(10)) + 1:,}".replace(",", " ")
        what = f"{units.size(len(text.encode('utf-8', 'surrogatepass')))}, {lines} lines"
        token, number = f"[pasted {what}]", 1
        while self._texts.get(token, text) != text:
            number += 1
            token = f"[pasted #{number} {what}]"
        self._texts[token] = text
        return token

    def expand(self, text: str) -> str:
        """Return `text` with every token replaced by what it stands for."""
        parts: list[str] = []
        position = 0
        for start, end in self.spans(text):
            parts += [text[position:start], self._texts[text[start:end]]]
            position = end
        return "".join([*parts, text[position:]])

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where tokens stand in `text`, in order, never overlapping."""
        position = 0
        while True:
            begin = text.find("[pasted ", position)
            if begin < 0:
                return
            end = text.find("]", begin) + 1
            if end and text[begin:end] in self._texts:
                yield begin, end
                position = end
            else:
                position = begin + 1

    def widen(self, line: str, column: int, *, to_end: bool) -> int:
        """Return the nearest column that is not inside a token of `line`."""
        for start, end in self.spans(line):
            if start < column < end:
                return end if to_end else start
        return column
