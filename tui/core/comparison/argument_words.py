"""The arguments of a call in a line, so that calls that look alike can be told apart. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from tui.core.text import clean_line, compact, truncated

MOST_MEMBERS = 8
VALUE_CHARS = 40
COMPARED_CHARS = 4_000
"""Maximum characters of a value to look for the place where it differs from another."""

BEFORE = 6
"""Characters to show before the place where two long values begin to differ."""


class Written(str):
    """A value that is JSON-like text already, such as a preview."""


def argument_words(given: Any, near: Sequence[Any]) -> str:
    """Return the arguments of a call in a line, the ones that differ from those of the calls `near` it first.

    Of a long value that begins like that of another call, shows the part that differs.
    """
    members = _members(given)
    others = [_members(one) for one in near]

    def differs(name: str) -> bool:
        return any(other.get(name, _MISSING) != members[name] for other in others)

    ordered = sorted(members, key=lambda name: not differs(name))[:MOST_MEMBERS]
    texts = [
        _value_words(members[name], [other[name] for other in others if name in other]) for name in ordered
    ]
    if len(members) > 1:  # otherwise all lines would show the same name, and there is little room
        texts = [f"{clean_line(name, 24)} {text}" for name, text in zip(ordered, texts, strict=True)]
    return ", ".join(texts)


_MISSING = object()


def _members(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {"": given}


def _value_words(value: Any, others: Iterable[Any]) -> str:
    text = _line(value, COMPARED_CHARS)
    for other in others:
        pairs = zip(text, _line(other, COMPARED_CHARS), strict=False)
        same = sum(1 for one in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if VALUE_CHARS - BEFORE <= same < len(text):
            return f"…{text[same - BEFORE : same + VALUE_CHARS]}"
    return _line(value, VALUE_CHARS)


def _line(value: Any, limit: int) -> str:
    return truncated(value, limit) if isinstance(value, Written) else compact(value, limit)
