"""What a filter says, as values, and how it is written. Pure.

`query` makes these of a text; `filter` asks the columns with them. Two texts that mean
the same have equal nodes, and `unparse` writes a text of which the same nodes come back.
"""

import re
from dataclasses import dataclass
from typing import Literal

from tui.traffic.filter.units import duration_text, size_text

Op = Literal[">", ">=", "<", "<=", "="]


@dataclass(frozen=True, slots=True)
class Name:
    """A name or word; with `glob`, `*` stands for anything and `?` for one character."""

    text: str
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """A number beside a limit: bytes, nanoseconds, or a count, as its field has it."""

    op: Op
    number: int


@dataclass(frozen=True, slots=True)
class Between:
    """A number from `low` to `high`, both included; None for no limit."""

    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Ago:
    """A moment so many nanoseconds before now."""

    ns: int


@dataclass(frozen=True, slots=True)
class Clock:
    """A moment by the clock on the wall: nanoseconds of `day` ("2026-11-20"; "" if none is named)."""

    day: str
    ns: int


Value = Name | Compare | Between | Ago | Clock


@dataclass(frozen=True, slots=True)
class Term:
    """A field that has one of some values."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Words to be found in a body, or in the name of a server, method or tool; case does not count."""

    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression to be found in a body; `fold` is whether case does not count."""

    pattern: str
    fold: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """What `part` is not."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """What all parts are."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """What any part is."""

    parts: "tuple[Node, ...]"


Node = Term | Text | Pattern | Not | And | Or

_BARE = re.compile(r'[^\s"(),]+')
_NS_PER_MINUTE = 60_000_000_000


def quoted(text: str) -> str:
    """Return a text between quotes, as the language reads it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(text: str, glob: bool = False) -> str:
    """Return a name as a value is written: bare where that can be read, else between quotes."""
    bare = _BARE.fullmatch(text) and (glob or not ("*" in text or "?" in text))
    return text if bare else quoted(text)


def unparse(node: Node | None) -> str:
    """Return the text of a filter in its one canonical form; None (everything) is ""."""
    match node:
        case None:
            return ""
        case Term(field, values):
            return f"{field}:" + ",".join(_value(field, value) for value in values)
        case Text(text):
            return quoted(text)
        case Pattern(pattern, fold):
            return f"/{pattern}/{'i' if fold else ''}"
        case Not(part):
            return "not " + _inner(part, (And, Or))
        case And(parts):
            return " ".join(_inner(part, (Or,)) for part in parts)
        case Or(parts):
            return " or ".join(unparse(part) for part in parts)


def _inner(node: Node, loose: tuple[type, ...]) -> str:
    text = unparse(node)
    return f"({text})" if isinstance(node, loose) else text


def _value(field: str, value: Value) -> str:
    match value:
        case Name(text, glob):
            return written(text, glob)
        case Compare(op, number):
            return ("" if op == "=" else op) + _number(field, number)
        case Between(low, high):
            first = "" if low is None else _number(field, low)
            return f"{first}..{'' if high is None else _number(field, high)}"
        case Ago(ns):
            return duration_text(ns)
        case Clock(day, ns):
            return f"{day}T{clock_text(ns)}" if day else clock_text(ns)


def _number(field: str, number: int) -> str:
    write = {"latency": duration_text, "size": size_text}.get(field, str)
    return write(number)


def clock_text(ns: int) -> str:
    """Return nanoseconds of a day as a clock shows them: "14:05", "14:05:30.25"."""
    minutes, rest = divmod(ns, _NS_PER_MINUTE)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}"
    if not rest:
        return text
    seconds, fraction = divmod(rest, 1_000_000_000)
    return f"{text}:{seconds:02d}" + (f".{fraction:09d}".rstrip("0") if fraction else "")
