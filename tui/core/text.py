"""Text: cleaning what is untrusted before a person sees it, and comparing it without case. Pure.

Everything that a server or a model sends is hostile until cleaned: escape sequences, control characters,
bidirectional overrides and invisible characters are made visible, never obeyed. The stores keep the raw text;
it is cleaned on the way to a screen, a log, an export or a terminal.

Two texts match when they differ only in case (full case folding, in every script) or in composition (NFC,
NFD).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import category, normalize

PREVIEW_BYTES = 16 * 1024
PREVIEW_LINES = 200

# Ranges, not single code points: a class of ranges costs 6 ms per MiB, a class of points 930 ms.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u061c\u115f-\u1160\u180b-\u180f\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_ASCII_TABLE = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)} | {0x7F: 0x2421}


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if char in "\x85\u2028\u2029":
        return "\n"
    return "\ufffd"


def clean(text: str) -> str:
    """Return `text` with everything that could fool a terminal or a reader made visible.

    C0 controls and DEL become their Unicode pictures (ESC is shown as ␛), C1 controls, bidirectional
    overrides, invisible characters, tag characters and lone surrogates become U+FFFD, line separators become
    newlines and CR LF becomes LF. Newline and tab stay. The result is safe to encode as UTF-8.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.isascii():
        return text if text.isprintable() else text.translate(_ASCII_TABLE)
    return _JOINERS.sub("\ufffd", _UNSAFE.sub(_visible, text))


def octets(text: str) -> int:
    """Return the size of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class Cleaner:
    """Cleans a text that arrives in pieces; the result is the same as that of `clean`.

    A joiner is judged by its neighbours, a CR by the LF behind it: what may become part of such a sequence
    waits for the next piece.
    """

    def __init__(self) -> None:
        self._before = ""  # the last character that was returned, raw
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what is final so far."""
        text = self._held + text
        sure = text.rstrip("\r\u200c\u200d")
        self._held = text[len(sure) :]
        return self._cleaned(sure)

    def end(self) -> str:
        """Return the rest; the next piece starts another text."""
        rest = self._cleaned(self._held)
        self._held = self._before = ""
        return rest

    def _cleaned(self, text: str) -> str:
        if not text:
            return ""
        result = clean(self._before + text)[len(self._before) :]
        self._before = text[-1]
        return result


def clean_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned, as one line of at most `limit` characters, with white space collapsed.

    Only the first part of a long text is read, so the cost does not grow with its size.
    """
    head = text[: limit * 4 + 64]
    line = " ".join(clean(head).split())
    if len(line) > limit:
        return line[: limit - 1] + "…"
    return line + "…" if len(head) < len(text) else line


@dataclass(frozen=True, slots=True)
class Preview:
    """The part of a text that is shown at once, cleaned; `omitted` counts characters that are not shown."""

    text: str
    omitted: int


def preview(text: str, max_chars: int = PREVIEW_BYTES, max_lines: int = PREVIEW_LINES) -> Preview:
    """Return the head of `text` that a screen can show quickly whatever its size.

    A widget fed 3 MiB in one line is busy for 12 s (measured on Textual 8.2.8).
    """
    head = text[:max_chars]
    position = -1
    for _ in range(max_lines):
        position = head.find("\n", position + 1)
        if position < 0:
            break
    else:
        head = head[:position]
    return Preview(clean(head), len(text) - len(head))


def fold(text: str) -> str:
    """Return the form in which texts are compared: case-folded and canonically composed."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def composed(text: str) -> str:
    """Return a text canonically composed, as regular expressions and their subjects are."""
    return text if text.isascii() else normalize("NFC", text)


def spans(text: str, folded: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each match of a folded text in another text, from left to right.

    A match of a part of a character, such as an "s" of "ß", is that character, once.
    """
    whole = fold(text)
    at = whole.find(folded) if folded else -1
    if at < 0:
        return
    places = _places(text, len(whole))
    last = 0
    while at >= 0:
        start, end = places[at][0], places[at + len(folded) - 1][1]
        if start >= last:
            yield start, end
            last = end
        at = whole.find(folded, at + len(folded))


def _places(text: str, length: int) -> list[tuple[int, int]]:
    """Return for each character of a folded text the start and end of its origin in the text."""
    if length == len(text) and text.isascii():
        return [(at, at + 1) for at in range(length)]
    places: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and not is_boundary(text[end]):
            end += 1
        places += [(start, end)] * len(fold(text[start:end]))
        start = end
    return places


def is_boundary(char: str) -> bool:
    """Return whether a character never combines with the one before it."""
    return char < "\u0300" or not (category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")
