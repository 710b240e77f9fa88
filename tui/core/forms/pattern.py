"""Regular expressions of a schema, tried while a person types: only those that cannot take long. Pure.

Python's `re` cannot be stopped, and `^(a+)+$` on forty letters takes hours. So a pattern is only tried where
a bound on its work is known beforehand; the rest is left to the check before the call, which runs in a
process of its own under a deadline.
"""

import re
import warnings

MAX_WORK = 50_000
"""Ways in which a match may be tried; some 5 ms at the worst."""
MAX_PATTERN = 500

_ATOM = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|\(\?:|.", re.DOTALL)
_QUANTIFIER = re.compile(r"[*+?]|\{(\d{1,4})(,(\d{0,4}))?\}")


def quick_pattern(pattern: str) -> re.Pattern[str] | None:
    """Return the pattern compiled, or None if nothing is known of its cost or it is none of Python's."""
    if not pattern or len(pattern) > MAX_PATTERN or _choices_per_character(pattern) is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


def matches(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is found in `text`; True where it would be too much work to know."""
    ways = _choices_per_character(pattern.pattern)
    if ways is None or len(text) > MAX_WORK:
        return True
    unbounded, fixed = ways
    anchored = pattern.pattern.startswith("^") and "|" not in pattern.pattern
    starts = 0 if anchored else 1
    if fixed * (len(text) + 1) ** (unbounded + starts) > MAX_WORK:
        return True
    return pattern.search(text) is not None


def _choices_per_character(pattern: str) -> tuple[int, int] | None:
    """Return how many quantifiers may take any number of characters, and the product of all other choices.

    Choices multiply only if no quantifier stands within another's reach: a repeated group has no such
    bound, nor has a reference back or a look around. None for those.
    """
    unbounded, fixed, place, after_group = 0, 1, 0, False
    while place < len(pattern):
        if quantifier := _QUANTIFIER.match(pattern, place):
            if after_group and quantifier[0] != "?":
                return None
            spread = _spread(quantifier)
            unbounded += spread is None
            fixed *= spread or 1
            place, after_group = quantifier.end(), False
            continue
        atom = _ATOM.match(pattern, place)
        special = pattern.startswith("(?", place) and not pattern.startswith("(?:", place)
        if atom is None or special or re.fullmatch(r"\\[1-9]", atom[0]):
            return None
        fixed *= 2 if atom[0] == "|" else 1
        after_group = atom[0] == ")"
        place = atom.end()
        if fixed > MAX_WORK:
            return None
    return unbounded, fixed


def _spread(quantifier: re.Match[str]) -> int | None:
    """Return in how many ways a quantifier can be met, or None for as many as there are characters."""
    if quantifier[0] in "*+":
        return None
    if quantifier[0] == "?":
        return 2
    least = int(quantifier[1])
    if quantifier[2] is None:
        return 1
    return int(quantifier[3]) - least + 1 if quantifier[3] else None
