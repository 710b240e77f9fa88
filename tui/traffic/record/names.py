"""Repeated names and ids as numbers."""

from collections.abc import Iterator, Sequence
from zlib import crc32

MAX_NAMES = 65_535
"""Maximum distinct names of one kind. Further ones become "(other)"."""


class Names:
    """Stores repeated texts as small numbers. Number 0 is ""."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        known = self._numbers.get(text)
        if known is not None:
            return known
        if not isinstance(text, str):
            raise TypeError(f"{text!r:.80} is not a name")
        if len(self.texts) >= MAX_NAMES:
            text = "(other)"
            if text in self._numbers:
                return self._numbers[text]
        self._numbers[text] = len(self.texts)
        self.texts.append(text)
        return len(self.texts) - 1

    def numbers(self, texts: Sequence[str]) -> Iterator[int]:
        """Yield the numbers of many texts; each distinct text is looked up once."""
        known = {text: self.number(text) for text in dict.fromkeys(texts)}
        return map(known.__getitem__, texts)


def mark_of(text: str) -> int:
    """Return a 32-bit hash of an id; different ids nearly always have different hashes."""
    return crc32(text.encode("utf-8", "replace")) if text else 0


def marks_of(texts: Sequence[str]) -> list[int]:
    """Return the `mark_of` each text, in half the time."""
    try:
        return [crc32(text.encode()) for text in texts]
    except UnicodeEncodeError:
        return list(map(mark_of, texts))
    except AttributeError as error:
        raise TypeError(str(error)) from error
