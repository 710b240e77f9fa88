"""Known shapes of secrets in bytes: found without being configured, at a microsecond for 300 bytes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# A known shape begins where no word goes on; `\n` before it in a JSON text ends with a letter and is no word.
_BEGINS = r"(?:(?<![A-Za-z0-9_]{0})|(?<=\\[bfnrt]{0}))"


class Shape(NamedTuple):
    """A known shape of secrets.

    Attributes:
        name: what its mark says.
        gate: a byte without which it cannot be there: looking for one byte costs 20 ns, for several 200.
        hint: text without which it cannot be there, or "".
        pattern: where it is, as the group `secret`.
    """

    name: str
    gate: int
    hint: str
    pattern: re.Pattern[bytes]


def _shape(name: str, gate: str, hint: str, pattern: str) -> Shape:
    return Shape(name, ord(gate), hint, re.compile(pattern.encode()))


def _token(name: str, gate: str, hint: str, prefix: str, rest: str) -> Shape:
    return _shape(name, gate, hint, f"(?P<secret>{prefix}{_BEGINS.format(prefix)}{rest})")


# Each pattern begins with a literal: `re` then skips to it instead of trying every byte.
SHAPES = (
    _token("key", "-", "sk-", "sk-", r"[A-Za-z0-9_-]{16,}"),
    _token("github", "_", "", "gh[pousr]_", r"[A-Za-z0-9]{20,}"),
    _token("github", "_", "b_pat_", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    _token("gitlab", "-", "glpat-", "glpat-", r"[A-Za-z0-9_-]{20,}"),
    _token("slack", "x", "xox", "xox[abeposr]-", r"[A-Za-z0-9-]{10,}"),
    _token("google", "I", "AIza", "AIza", r"[A-Za-z0-9_-]{35}"),
    _token("aws", "I", "IA", "A[KS]IA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape(
        "aws",
        "c",
        "ccess",
        r"ccess_?[Kk]ey[\"'\\\s:=]{1,8}(?P<secret>(?:[A-Za-z0-9+/]|\\/){40})(?![A-Za-z0-9+/])",
    ),
    _shape(
        "aws",
        "K",
        "CCESS_KEY",
        r"CCESS_KEY[\"'\\\s:=]{1,8}(?P<secret>(?:[A-Za-z0-9+/]|\\/){40})(?![A-Za-z0-9+/])",
    ),
    _token("jwt", "J", "eyJ", "eyJ", r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"),
    # Ends with its END line, or with the string of JSON it stands in: a key holds no quote.
    _shape(
        "pem",
        "V",
        "PRIVATE",
        r"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^\"\\-]|\\+[nr/]|-(?!----))*"
        r"(?:-----END [A-Z ]*PRIVATE KEY-----)?)",
    ),
    _shape(
        "bearer",
        "B",
        "earer",
        r"earer(?<=Bearer)(?: |%20|\+)+(?P<secret>(?:[A-Za-z0-9._~+/=-]|\\/){12,})",
    ),
    _shape(
        "bearer",
        "b",
        "bearer",
        r"bearer(?: |%20|\+)+(?P<secret>(?:[A-Za-z0-9._~+/=-]|\\/){12,})",
    ),
)


_PIECE = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[a-z]*(?:[A-Z][a-z]+)*[A-Z]*\d{0,4}|\d+[a-z]?")
"""A word, several words in camel case, a number, or words with a number behind them."""

MIN_RANDOM_KEY = 16
"""Characters of a value that can be random."""

MIN_RANDOM = 12
"""Characters of such a value in pieces that are no words."""

MIN_VARIETY = 8
"""Different characters in these pieces."""


def looks_random(value: str) -> bool:
    """Return whether a value looks generated, and not like a word, as of `lm-studio` or `not-needed`."""
    if len(value) < MIN_RANDOM_KEY:
        return False
    pieces = "".join(piece for piece in _PIECE.findall(value) if not _WORD.fullmatch(piece))
    return len(pieces) >= MIN_RANDOM and len(set(pieces)) >= MIN_VARIETY


_FILLED = re.compile(rb"([xX*.0_-])\1{5}")
"""What placeholders like `sk-proj-xxxxxxxxxxxx` hold."""


def shapes_in(raw: bytes, *, placeholders: bool = True) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and name of every secret of a known shape.

    Args:
        raw: any bytes.
        placeholders: yield `sk-xxxxxxxxxxxxxxxx` too.
    """
    text = raw.decode("latin-1")  # `in` finds several characters in a str in half the time (CPython 3.11)
    for name, gate, hint, pattern in SHAPES:
        if gate in raw and hint in text:
            for found in pattern.finditer(raw):
                if name != "pem" and not placeholders and _FILLED.search(found["secret"]):
                    continue
                yield *found.span("secret"), name
