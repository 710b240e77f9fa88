"""Classifies a value: a known shape of secrets, part of a key, random, or ordinary text. Pure.

Endpoints quote a rejected key, truncated or masked like `sk-a***wxyz`. Only keys of endpoints are
searched for in this way: parts of other secrets, such as a URL in a header, are ordinary text.

A value that occurs in ordinary text (`localhost`, `Europe/Berlin`, a path) does not count as a secret, even
if its name does: replacing it everywhere would damage results without hiding anything.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from tui.core.secrets.secret_names import (
    describes_a_secret,
    is_an_identifier,
    may_be_secret,
    names_a_secret,
    only_refers_to_a_secret,
)
from tui.core.text import equal_start

# A shape starts at a word boundary; `\n` before it in a JSON text ends with a letter outside of any word.
_BEGINS = r"(?:(?<![A-Za-z0-9_]{0})|(?<=\\[bfnrt]{0}))"


class Shape(NamedTuple):
    """A known shape of secrets. They are the group `secret` of the pattern, or all of it without `other`.

    `gate` is a byte that it always contains: searching for one byte costs 20 ns, for a `hint` 200.
    """

    name: str
    gate: int
    hint: str
    pattern: re.Pattern[bytes]


def _shape(name: str, gate: str, hint: str, pattern: str) -> Shape:
    return Shape(name, ord(gate), hint, re.compile(pattern.encode()))


def _token(name: str, gate: str, hint: str, prefix: str, rest: str) -> Shape:
    return _shape(name, gate, hint, f"(?P<secret>{prefix}{_BEGINS.format(prefix)}{rest})")


_AWS = r"[\"'\\\s:=]{1,8}(?P<secret>(?:[A-Za-z0-9+/]|\\/){40})(?![A-Za-z0-9+/])"
_BEARER = r"(?: |%20|\+)+(?P<secret>(?:[A-Za-z0-9._~+/=-]|\\/){12,})"
# Each pattern starts with a literal, to which `re` skips instead of trying every byte.
SHAPES = (
    _token("key", "-", "sk-", "sk-", r"[A-Za-z0-9_-]{16,}"),
    _token("github", "_", "", "gh[pousr]_", r"[A-Za-z0-9]{20,}"),
    _token("github", "_", "b_pat_", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    _token("gitlab", "-", "glpat-", "glpat-", r"[A-Za-z0-9_-]{20,}"),
    _token("slack", "x", "xox", "xox[abeposr]-", r"[A-Za-z0-9-]{10,}"),
    _token("google", "I", "AIza", "AIza", r"[A-Za-z0-9_-]{35}"),
    _token("aws", "I", "IA", "A[KS]IA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape("aws", "c", "ccess", rf"ccess_?[Kk]ey{_AWS}"),
    _shape("aws", "K", "CCESS_KEY", rf"CCESS_KEY{_AWS}"),
    # Where none begins, none begins in the rest of these characters either: the search continues behind them.
    _shape(
        "jwt",
        "J",
        "eyJ",
        rf"eyJ{_BEGINS.format('eyJ')}"
        r"(?:[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+|(?P<other>[A-Za-z0-9_-]*+))",
    ),
    # Ends with its END line, or with the JSON string around it: a key contains no quote.
    _shape(
        "pem",
        "V",
        "PRIVATE",
        r"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^\"\\-]|\\+[nr/]|-(?!----))*"
        r"(?:-----END [A-Z ]*PRIVATE KEY-----)?)",
    ),
    _shape("bearer", "B", "earer", rf"earer(?<=Bearer){_BEARER}"),
    _shape("bearer", "b", "bearer", rf"bearer{_BEARER}"),
)


_PIECE = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[a-z]*(?:[A-Z][a-z]+)*[A-Z]*\d{0,4}|\d+[a-z]?")
"""A word, several words in camel case, a number, or words followed by a number."""

MIN_RANDOM_KEY = 16
"""Minimum characters of a random value."""

MIN_RANDOM = 12
"""Minimum characters of such a value that are not part of words."""

MIN_VARIETY = 8
"""Minimum number of different characters among these."""


def looks_random(value: str) -> bool:
    """Return whether a value looks generated, unlike the words `lm-studio` or `not-needed`."""
    if len(value) < MIN_RANDOM_KEY:
        return False
    pieces = "".join(piece for piece in _PIECE.findall(value) if not _WORD.fullmatch(piece))
    return len(pieces) >= MIN_RANDOM and len(set(pieces)) >= MIN_VARIETY


_FILLED = re.compile(rb"([xX*.0_-])\1{5}")
"""Occurs in placeholders like `sk-proj-xxxxxxxxxxxx`."""


def shapes_in(raw: bytes, *, placeholders: bool = True) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of each secret of a known shape; `placeholders` adds `sk-xxxxxxxx`."""
    text = raw.decode("latin-1")  # `in` finds several characters in a str in half the time (CPython 3.11)
    for name, gate, hint, pattern in SHAPES:
        if gate in raw and hint in text:
            for found in pattern.finditer(raw):
                groups = found.groupdict()
                if groups.get("other") is not None:
                    continue
                start, end = found.span("secret" if "secret" in groups else 0)
                if name != "pem" and not placeholders and _FILLED.search(raw, start, end):
                    continue
                yield start, end, name


MIN_KEY = 16
"""Minimum characters of a key; parts of a shorter one would match ordinary text."""

MIN_PART = 12
"""Minimum characters of a head or tail quoted alone: a shorter one may be public, like `sk-ant-api03-`."""

MIN_MASKED = 6
"""Minimum characters of the key that are visible around a mask."""

MIN_PRIVATE = 3
"""Minimum number of these that are not part of a public prefix: `sk-proj-...` is a placeholder."""

MAX_MASKS = 2000
"""Maximum masks checked in one body: a flood of dots must not keep the recorder busy."""

_MASK = re.compile(
    rb"\*{3,}|\.{3,}|[xX]{4,}|#{3,}|(?:\xe2\x80[\xa2\xa6]|\xe2\x97\x8f|\xc2\xb7)+|(?:\\u20(?:22|26)|\\u25cf)+"
)
_PUBLIC = re.compile(rb"AIza(?:Sy)?|(?:[a-z]{1,8}[0-9]{0,2}[-_])*")
"""Prefixes that all keys of a provider share: `sk-`, `sk-ant-api03-`, `github_pat_`."""

_MASK_HINTS = (b"***", b"...", b"xxxx", b"XXXX", b"###", b"\xe2\x80", b"\xe2\x97", b"\xc2\xb7", b"\\u2")


class PartialQuotes:
    """Finds parts of keys in bytes; keys shorter than `MIN_KEY` are ignored."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = {
            value: (octets, name, found.end() if (found := _PUBLIC.match(octets)) else 0)
            for value, name in keys.items()
            if len(octets := value.encode()) >= MIN_KEY
        }

    def spans_in(self, raw: bytes, kept: Collection[str] = ()) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of each part of a key, except of those `kept`."""
        keys = [key for value, key in self._keys.items() if value not in kept]
        for key, name, public in keys:
            for start, end in (
                *_beginnings(raw, key, max(MIN_PART, public + MIN_PRIVATE)),
                *_tails(raw, key),
            ):
                yield start, end, name
        masks = keys and any(hint in raw for hint in _MASK_HINTS)
        for found in islice(_MASK.finditer(raw), MAX_MASKS) if masks else ():
            start, end = found.span()
            for key, name, public in keys:
                head, tail = _head_before(raw, start, key), _tail_behind(raw, end, key)
                if head + tail >= MIN_MASKED and max(0, head - public) + tail >= MIN_PRIVATE:
                    yield start - head, end + tail, name


def _beginnings(raw: bytes, key: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    start = raw.find(key[:shortest])
    while start >= 0:
        length = equal_start(raw[start : start + len(key)], key)
        yield start, start + length
        start = raw.find(key[:shortest], start + length)


def _tails(raw: bytes, key: bytes) -> Iterator[tuple[int, int]]:
    place = raw.find(key[-MIN_PART:])
    while place >= 0:
        end = place + MIN_PART
        before = raw[max(0, end - len(key)) : end]
        yield end - equal_start(before[::-1], key[::-1]), end
        place = raw.find(key[-MIN_PART:], end)


def _head_before(raw: bytes, place: int, key: bytes) -> int:
    longest = min(place, len(key) - 1) if raw[place - 1 : place] in key else 0
    return next((size for size in range(longest, 0, -1) if raw.startswith(key[:size], place - size)), 0)


def _tail_behind(raw: bytes, place: int, key: bytes) -> int:
    longest = min(len(raw) - place, len(key) - 1) if raw[place : place + 1] in key else 0
    return next((size for size in range(longest, 0, -1) if raw.startswith(key[-size:], place)), 0)


COMMON = frozenset(
    (
        "localhost administrator anonymous automatic basic bearer changeme client_credentials credentials"
        " database default developer development disabled disable enabled enable example external"
        " interactive internal optional password postgres postgresql production readonly read-only"
        " read-write required standard superuser testing undefined username unlimited verify-full"
    ).split()
)
"""Values of at least `MIN_SECRET` characters that are never secret. In lower case."""

_PLAIN = re.compile(r"[A-Za-z]+|[-+]?[\d.,:]+|(?:~|\.{0,2})/[^\0]*|[A-Za-z]:\\[^\0]*")
"""A word, a number, a path: the value of a harmless variable."""
_PATH = re.compile(r"(?:~|\.{0,2})/[^\0]*|[A-Za-z]:\\[^\0]*")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^@]*", re.IGNORECASE)
_E_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PASSPHRASE = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+){4,}")
"""Five words or more in a row, which options and regions do not have."""

_BETWEEN = re.compile(r"[\s\-_/.:,;=+~?&'\"()\[\]{}<>|]+")
_ORDINARY_WORD = re.compile(
    r"(?:[A-Za-z]?[a-z]{0,19}|[A-Z]{1,20}|[A-Z]?[a-z]+(?:[A-Z][a-z]{2,19}){1,3})\d{0,3}"  # debug, UTF8
    r"|\d{1,5}[a-z]|\d{1,12}"  # 4o, 11434, 20241022, the number of an account or a phone
)
_VARIANT = re.compile(r"[a-z]{1,3}\d{1,4}[a-z]")
"""A piece like `cl100k` or `a3b`, next to words, in the name of a tokenizer or a model."""

_DATE = re.compile(
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

_LINE_BREAK = re.compile(r"[\r\n\v\f\x85\u2028\u2029]+|(?<!\\)\\++[nr]")
_AROUND_A_LINE = " \t\"',"
_OF_A_KEY = re.compile(r"[A-Za-z0-9+/=_-]+")


def is_plain(value: str) -> bool:
    """Return whether a value is just a word, a number or a path."""
    return _PLAIN.fullmatch(value) is not None


def is_ordinary(value: str) -> bool:
    """Return whether a value consists of words and short numbers: a region, a URL, a model, an option."""
    if is_plain(value) or _E_MAIL.fullmatch(value) or _DATE.fullmatch(value):
        return True
    if _PASSPHRASE.fullmatch(value):
        return False
    unknown = [piece for piece in _BETWEEN.split(value) if not _ORDINARY_WORD.fullmatch(piece)]
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
