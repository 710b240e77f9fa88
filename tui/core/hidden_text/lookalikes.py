"""Letters that look like Latin ones, and words that mix both. Pure, linear."""

import re
import unicodedata
from functools import cache

_CYRILLIC = dict(zip("аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅԌ", "aeopcyxijshdqwlABEKMHOPCTYXIJSG", strict=True))
_GREEK = dict(zip("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX", strict=True))
_GREEK_ALIKE = dict(zip("αικνρυ", "aikvpu", strict=True))
_OTHERS = dict(zip("ɑɡıոսօᴀᴄᴅᴇᴊᴋᴍɴᴏᴘᴛᴜᴠᴡᴢ", "aginuoacdejkmnoptuvwz", strict=True))

_FOREIGN = re.compile("[^\x00-\x7f]")
_MIXED = "".join((*_CYRILLIC, *_GREEK))
_WORD = re.compile(rf"(?<![A-Za-z{_MIXED}])[A-Za-z{_MIXED}]++(?!\w)")
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
    """Return start and end of the first word that mixes Latin letters with look-alikes of another script.

    None if there is none.

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
