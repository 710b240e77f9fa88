"""Hidden text made readable: decoded, or counted by character, in brackets; and look-alikes. Pure, linear."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

from tui.core.text import FLAG, clean, clean_line

FAR_BLANKS = 60
"""Columns of blanks in a row that move the following text off the screen."""

FAR_LINES = 8
"""Line breaks in a row that move the following text off the screen."""

MAX_KINDS = 4
"""Maximum kinds of characters listed per run; the rest is only counted."""

_TAB = 4
_BLANK = "\\s\u2800\u115f\u1160\u3164\uffa0\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_BLANKS = re.compile(rf"[{_BLANK}]{{{FAR_LINES + 1},}}")
_IS_BLANK = re.compile(f"[{_BLANK}]")
_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_NO_COLUMN = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]")

TAGS = re.compile("[\U000e0000-\U000e007f]+")
_PARTS = re.compile(
    f"(?P<flag>{FLAG})|(?P<tags>{TAGS.pattern})"
    "|(?P<selectors>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,})"
    "|(?:(?![\U000e0000-\U000e007f]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}).)+",
    re.DOTALL,
)


def gaps(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of blanks, of any kind, that hides what follows it."""
    last = len(text)
    while last and _IS_BLANK.match(text, last - 1):
        last -= 1
    for gap in _BLANKS.finditer(text, 0, last):
        lines = _BREAK.split(gap.group())
        if gap.end() < last and (len(lines) > FAR_LINES + 1 or max(map(_columns, lines)) >= FAR_BLANKS):
            yield gap.span()


def readable(text: str) -> str:
    """Return `text` as `clean` does, but with hidden text readable.

    Tag characters and runs of variation selectors become the letters that they stand for: `[tag: …]`.
    Other characters without a shape become their number and count: `[U+200B ×24]`. Blanks that hide what
    follows become `[80 blanks]`.
    """
    if not text.isascii():
        text = text.replace("\r\n", "\n")
        text = "".join(_pieces(text, clean(text)))
    else:
        text = clean(text)
    return "".join(_folded(text))


def readable_line(text: str, limit: int = 200) -> str:
    """Return `text` readable, as one line of at most `limit` characters, with white space collapsed."""
    return clean_line(text, limit, readable)


def hidden_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of characters that `clean` replaces; `text` has no CR LF."""
    yield from (found.span() for found in re.finditer("\ufffd+", clean(text)))


def tags_in(text: str) -> str:
    """Return the letters that tag characters stand for."""
    return "".join(chr(ord(char) - 0xE0000) for char in text if "\U000e0020" <= char <= "\U000e007e")


def _pieces(text: str, cleaned: str) -> Iterator[str]:
    at = 0
    known: dict[tuple[bool, str], str] = {}  # a text may repeat the same run many times
    for found in re.finditer("\ufffd+", cleaned):
        start, end = found.span()
        run = text.startswith("\U0001f3f4", start - 1) if start else False, text[start:end]
        if (shown := known.get(run)) is None:
            shown = known[run] = in_numbers(text, start, end)
        yield cleaned[at:start]
        yield shown
        at = end
    yield cleaned[at:]


def in_numbers(text: str, start: int = 0, end: int | None = None) -> str:
    """Return a run of hidden characters as text: `[tag: …]`, `[variation selectors: …]`, `[U+200B ×24]`."""
    return "".join(map(_shown, _PARTS.finditer(text, start, len(text) if end is None else end)))


def _shown(part: re.Match[str]) -> str:
    hidden = part.group()
    if part.lastgroup == "flag":
        return f"[flag: {tags_in(hidden)}]"
    if part.lastgroup == "tags" and (letters := tags_in(hidden)):
        return f"[tag: {letters}]"
    if part.lastgroup == "selectors":  # each may encode a byte
        numbers = (ord(char) - (0xFE00 if char <= "\ufe0f" else 0xE0100 - 16) for char in hidden)
        letters = bytes(numbers).decode("utf-8", "replace")
        if letters.isprintable() and "\ufffd" not in letters and clean(letters) == letters:
            return f"[variation selectors: {letters}]"
    honest = "\ufffd" * hidden.count("\ufffd")
    counts = Counter(hidden.replace("\ufffd", "")).items()
    words = [f"U+{ord(char):04X}" + (f" ×{many}" if many > 1 else "") for char, many in counts]
    if len(words) > MAX_KINDS:
        words = [*words[:MAX_KINDS], f"{len(words) - MAX_KINDS} more kinds"]
    return honest + (f"[{', '.join(words)}]" if words else "")


def _folded(text: str) -> Iterator[str]:
    at = 0
    for start, end in gaps(text):
        blanks = text[start:end]
        breaks = len(_BREAK.findall(blanks))
        yield text[at:start]
        yield f" [{breaks} line breaks] " if breaks > FAR_LINES else f" [{end - start} blanks] "
        at = end
    yield text[at:]


def _columns(line: str) -> int:
    shown = _NO_COLUMN.sub("", line)
    return len(shown) + (_TAB - 1) * shown.count("\t") + shown.count("\u3000")


_CYRILLIC = dict(zip("аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅԌ", "aeopcyxijshdqwlABEKMHOPCTYXIJSG", strict=True))
_GREEK = dict(zip("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX", strict=True))
_GREEK_ALIKE = dict(zip("αικνρυ", "aikvpu", strict=True))
_OTHERS = dict(zip("ɑɡıոսօᴀᴄᴅᴇᴊᴋᴍɴᴏᴘᴛᴜᴠᴡᴢ", "aginuoacdejkmnoptuvwz", strict=True))

_FOREIGN = re.compile("[^\x00-\x7f]")
_MIXED = "".join((*_CYRILLIC, *_GREEK))
_WORD = re.compile(rf"(?<![A-Za-z{_MIXED}])[A-Za-z{_MIXED}]++(?![^\W_])")
_MIX = re.compile(rf"[A-Za-z][{_MIXED}]|[{_MIXED}][A-Za-z]")
_ENDING = re.compile(rf"[A-Za-z]+[{_MIXED}]{{1,3}}")
_NATIVE = re.compile(rf"(?=[\u0370-\u03ff\u0400-\u052f])[^{_MIXED}]")


@cache
def _latin() -> dict[int, str]:
    """Return the letters of mathematical and fullwidth alphabets, and of others that look like Latin ones."""
    table = _CYRILLIC | _GREEK | _GREEK_ALIKE | _OTHERS
    for first, last in ((0x2100, 0x214F), (0xFF01, 0xFF5E), (0x1D400, 0x1D7FF), (0x24B6, 0x24E9)):
        for code in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(code))
            if len(plain) == 1 and plain.isascii():
                table[chr(code)] = plain
    return {ord(char): plain for char, plain in table.items()}


def as_latin(text: str) -> str:
    """Return a text of the same length with Latin letters in place of those that look like them."""
    return text.translate(_latin()) if _FOREIGN.search(text) else text


def mixed_word(text: str) -> tuple[int, int] | None:
    """Return where the first word is that mixes Latin letters with look-alikes of another script, or None.

    In a Russian or Greek text, a Latin word with an ending of that language (`JSONа`) does not count.
    """
    if not _FOREIGN.search(text):
        return None
    is_native = cache(lambda: _NATIVE.search(text) is not None)  # once for all words
    for found in _WORD.finditer(text):
        before = text[found.start() - 1 : found.start()]
        if before.isalnum() or not _MIX.search(found[0]):
            continue
        if len(found[0]) > 2 and not (_ENDING.fullmatch(found[0]) and is_native()):
            return found.span()
    return None
