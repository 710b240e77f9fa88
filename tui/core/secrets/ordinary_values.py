"""Decides by name and shape of a configured value whether to search for it in text. Pure.

A value that occurs in ordinary text (`localhost`, `Europe/Berlin`, a path) does not count as a secret, even
if its name does: replacing it everywhere would damage results without hiding anything.
"""

import re
from collections.abc import Iterator

from tui.core.late_compiling import late
from tui.core.secrets.commands_and_urls import is_plain
from tui.core.secrets.secret_names import (
    describes_a_secret,
    is_an_identifier,
    may_be_secret,
    names_a_secret,
    only_refers_to_a_secret,
)
from tui.core.secrets.secret_shapes import looks_random, shapes_in

COMMON = frozenset(
    (
        "localhost administrator anonymous automatic basic bearer changeme client_credentials credentials"
        " database default developer development disabled disable enabled enable example external"
        " interactive internal optional password postgres postgresql production readonly read-only"
        " read-write required standard superuser testing undefined username unlimited verify-full"
    ).split()
)
"""Values of at least `MIN_SECRET` characters that are never secret. In lower case."""

_PATH = late(r"(?:~|\.{0,2})/[^\0]*|[A-Za-z]:\\[^\0]*")
_ADDRESS = late(r"[a-z][a-z0-9+.-]*://[^@]*", re.IGNORECASE)
_E_MAIL = late(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PASSPHRASE = late(r"[A-Za-z]+(?:[-_.][A-Za-z]+){4,}")
"""Five words or more in a row, which options and regions do not have."""

_BETWEEN = late(r"[\s\-_/.:,;=+~?&'\"()\[\]{}<>|]+")
_WORD = late(
    r"(?:[A-Za-z]?[a-z]{0,19}|[A-Z]{1,20}|[A-Z]?[a-z]+(?:[A-Z][a-z]{2,19}){1,3})\d{0,3}"  # debug, UTF8
    r"|\d{1,5}[a-z]|\d{1,12}"  # 4o, 11434, 20241022, the number of an account or a phone
)
_VARIANT = late(r"[a-z]{1,3}\d{1,4}[a-z]")
"""A piece like `cl100k` or `a3b`, next to words, in the name of a tokenizer or a model."""

_DATE = late(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?"
    r"|\d{8}T\d{4,6}Z?"
)
"""A date, or a date and a time (ISO 8601)."""

MIN_DIGITS = 5
"""Distinct digits from which a number is not ordinary text."""

MIN_LINE = 8
"""Minimum characters of a line; a shorter one would match ordinary text."""

MAX_LINES = 250
"""Maximum lines of a value that are searched for alone; an RSA key of 16,384 bits has 200."""

_LINE_BREAK = late(r"[\r\n\v\f\x85\u2028\u2029]+|(?<!\\)\\++[nr]")
_AROUND_A_LINE = " \t\"',"
_OF_A_KEY = late(r"[A-Za-z0-9+/=_-]+")


def is_ordinary(value: str) -> bool:
    """Return whether a value consists of words and short numbers: a region, a URL, a model, an option."""
    if is_plain(value) or _E_MAIL.fullmatch(value) or _DATE.fullmatch(value):
        return True
    if _PASSPHRASE.fullmatch(value):
        return False
    unknown = [piece for piece in _BETWEEN.split(value) if not _WORD.fullmatch(piece)]
    return not unknown or (len(unknown) == 1 and _VARIANT.fullmatch(unknown[0]) is not None)


def is_common(value: str) -> bool:
    """Return whether a value is never secret, whatever its name: a common word, a date, or a path."""
    if value.strip().lower() in COMMON or _DATE.fullmatch(value.strip()):
        return True
    return _PATH.fullmatch(value) is not None and not looks_random(value)


def is_searched(name: str, value: str) -> bool:
    """Return whether to search for the value of a variable or header in all outgoing text."""
    if is_common(value):
        return False
    if is_an_identifier(name):
        return has_a_shape(value)
    if describes_a_secret(name):
        return has_a_shape(value) or looks_random(value)
    if (may_be_secret(name) or names_a_secret(name)) and not only_refers_to_a_secret(name):
        return not (_ADDRESS.fullmatch(value) and is_ordinary(value))
    return not is_ordinary(value)


def has_a_shape(value: str) -> bool:
    """Return whether there is a secret of a known shape in a value."""
    return any(shapes_in(value.encode("utf-8", "surrogatepass"), placeholders=False))


def is_a_word(key: str) -> bool:
    """Return whether the key of an endpoint may be ordinary text: `lm-studio`, `not-needed`, `00000000`."""
    return is_ordinary(key) and len({char for char in key if char.isdigit()}) < MIN_DIGITS


def secret_lines(value: str) -> Iterator[str]:
    """Yield the lines of a value that are secrets of their own: a server may print it line by line.

    For a private key, these are all lines of at least MIN_LINE characters, otherwise only those that look
    generated. A line break may be escaped, as in variables that hold such a key.
    """
    lines = _LINE_BREAK.split(value)
    in_key = False
    for line in lines[:MAX_LINES] if len(lines) > 1 else ():
        text = line.strip(_AROUND_A_LINE)
        if "-----" in text:
            in_key = "-----BEGIN " in text
        elif len(text) >= MIN_LINE and (
            (in_key and _OF_A_KEY.fullmatch(text)) or not (is_ordinary(text) or is_common(text))
        ):
            yield text
