"""Tokens: one stands in the composer for text that is too large to be edited there, or for a file. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping

from tui.core import units
from tui.ui.chat.composer.references import Reference

MAX_CHARS = 4_000
MAX_LINES = 40

_TOKEN = re.compile(r"\[(?:pasted |@)[^\[\]\n]{1,260}\]")
_RESOURCE = re.compile(r"([^:/\s]+):([A-Za-z][\w+.-]*:.*)")


class Pastes:
    """What stands behind the tokens. Nothing is forgotten: a token may come back with undo or history."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._references: dict[str, Reference] = {}

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
        count = max(1, text.count("\n") + (not text.endswith("\n")))
        lines = f"{count:,} line{'' if count == 1 else 's'}".replace(",", " ")
        what = f"{units.size(len(text.encode('utf-8', 'surrogatepass')))}, {lines}"
        token, number = f"[pasted {what}]", 1
        while self._texts.get(token, text) != text:
            number += 1
            token = f"[pasted #{number} {what}]"
        self._texts[token] = text
        return token

    def refer(self, reference: Reference) -> str:
        """Return the token that stands for something attached; the model reads its name there."""
        token, number = f"[@{reference.name}]", 1
        while self._references.get(token, reference) != reference:
            number += 1
            token = f"[@{reference.name} #{number}]"
        self._references[token] = reference
        self._texts[token] = f"@{reference.name}"
        return token

    def references(self, text: str) -> tuple[Reference, ...]:
        """Return what is attached by the tokens of `text`, in order, each once."""
        return tuple(dict.fromkeys(self._references[token] for token in self.attached(text)))

    @staticmethod
    def plain(text: str) -> str:
        """Return text of a server so that nothing in it is taken for a token or a command."""
        text = _TOKEN.sub(lambda found: f"[ {found.group()[1:]}", text)
        return f" {text}" if text.startswith("/") else text

    def attached(self, text: str) -> tuple[str, ...]:
        """Return the tokens of `text` that stand for something attached."""
        tokens = (text[start:end] for start, end in self.spans(text))
        return tuple(dict.fromkeys(token for token in tokens if token in self._references))

    def recognise(self, tokens: Iterable[str]) -> None:
        """Let what was attached in an earlier run be found again by the names in its tokens."""
        for token in tokens:
            name = token[2:-1]
            if _TOKEN.fullmatch(token) and token.startswith("[@") and token not in self._texts:
                resource = _RESOURCE.fullmatch(name)
                self.refer(Reference.to_resource(*resource.groups()) if resource else Reference.to_file(name))

    def unfolded(self, text: str) -> str:
        """Return `text` with what was pasted in full; what is attached is still a token."""
        return self._replaced(text, attached=False)

    def expand(self, text: str) -> str:
        """Return `text` with every token replaced by what it stands for."""
        return self._replaced(text, attached=True)

    def _replaced(self, text: str, *, attached: bool) -> str:
        parts: list[str] = []
        position = 0
        for start, end in self.spans(text):
            if attached or text[start:end] not in self._references:
                parts += [text[position:start], self._texts[text[start:end]]]
                position = end
        return "".join([*parts, text[position:]])

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where tokens stand in `text`, in order, never overlapping."""
        for found in _TOKEN.finditer(text):
            if found.group() in self._texts:
                yield found.span()

    def widen(self, line: str, column: int, *, to_end: bool) -> int:
        """Return the nearest column that is not inside a token of `line`."""
        for start, end in self.spans(line):
            if start < column < end:
                return end if to_end else start
        return column
