"""Which configured values are searched for in text: decided by the name and by the shape of the value. Pure.

A value that occurs in ordinary text (`localhost`, `Europe/Berlin`, a path) is no secret even if its name is
that of one: replacing it everywhere would damage results without hiding anything.
"""

import re

from tui.core.secrets.places import is_plain, may_be_secret, only_refers_to_a_secret
from tui.core.secrets.shapes import looks_random

COMMON = frozenset(
    (
        "localhost anonymous basic bearer changeme client_credentials credentials database default"
        " development disabled disable enabled enable example external internal optional password"
        " postgres postgresql production readonly read-only read-write required standard testing"
        " undefined username unlimited verify-full"
    ).split()
)
"""Values of at least `MIN_SECRET` characters that say nothing, whatever they belong to. In lower case."""

_PATH = re.compile(r"(?:~|\.{0,2})/[^\0]*|[A-Za-z]:\\[^\0]*")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^@]*", re.IGNORECASE)
_E_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PASSPHRASE = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+){4,}")
"""Five words or more in a row, which options and regions do not have."""

_BETWEEN = re.compile(r"[\s\-_/.:,;=+~?&'\"()\[\]{}<>|]+")
_WORD = re.compile(
    r"(?:[A-Za-z]?[a-z]{0,19}|[A-Z]{1,20}|[A-Z]?[a-z]+(?:[A-Z][a-z]{2,19}){1,3})\d{0,3}"  # debug, UTF8
    r"|\d{1,5}[a-z]?|(?:19|20)\d{6}"  # 4o, 11434, 20241022
)


def is_ordinary(value: str) -> bool:
    """Return whether a value consists of words and short numbers: a region, a URL, a model, an option."""
    if is_plain(value) or _E_MAIL.fullmatch(value):
        return True
    if _PASSPHRASE.fullmatch(value):
        return False
    return all(_WORD.fullmatch(piece) for piece in _BETWEEN.split(value))


def is_common(value: str) -> bool:
    """Return whether a value is no secret whatever its name is: a common word, or a path."""
    if value.strip().lower() in COMMON:
        return True
    return _PATH.fullmatch(value) is not None and not looks_random(value)


def is_searched(name: str, value: str) -> bool:
    """Return whether the value of a variable or header is searched for wherever text leaves."""
    if is_common(value):
        return False
    if may_be_secret(name) and not only_refers_to_a_secret(name):
        return not (_ADDRESS.fullmatch(value) and is_ordinary(value))
    return not is_ordinary(value)
