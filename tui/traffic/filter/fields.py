"""The filter language: its syntax tree, its fields, and the notation of their values. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fnmatch import translate
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from tui.core.language.translate import N_, Message, message
from tui.core.matching import nearest_name
from tui.core.text import clean_line
from tui.core.traffic import BodyTerm, Direction, Kind, Outcome, Severity

LARGEST = 2**63 - 1
DAY_NS = 86_400_000_000_000

_PREFIXES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_SIZES = {f"{prefix}{unit}": number for prefix, number in _PREFIXES.items() for unit in ("", "b")}
_SECOND = 1_000_000_000
_TIMES = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000, "s": _SECOND}
_TIMES |= {"m": 60 * _SECOND, "min": 60 * _SECOND, "h": 3600 * _SECOND, "d": DAY_NS, "w": 7 * DAY_NS}
_PART = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([^\W\d_]*)")
_CLOCK = re.compile(
    r"(?:([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[tT]|$))?(?:([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
)


class BadValue(ValueError):
    """A value that cannot be read; the text says why, `instead` is a replacement."""

    def __init__(self, sentence: Message, instead: str = "") -> None:
        super().__init__(sentence)
        self.sentence, self.instead = sentence, instead


def shown(text: str) -> str:
    """Return a part of the filter as a message quotes it: cleaned, and not too long."""
    return clean_line(text, 40)


def count(text: str) -> int:
    """Return an integer."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadValue(message("“{value}” is not an integer.", value=shown(text)))
    return int(text)


def size(text: str) -> int:
    """Return bytes: "132", "10k", "1.5MB", "4KiB"."""
    found = _PART.fullmatch(text)
    unit = found[2].lower() if found else ""
    if not found or unit not in _SIZES:
        raise BadValue(message("“{value}” is not a size. Examples: 132, 10k, 1.5M, 4KiB.", value=shown(text)))
    return _whole_number(Fraction(found[1]) * _SIZES[unit], text)


def duration(text: str) -> int:
    """Return nanoseconds: "200ms", "1.5s", "1h30m"."""
    total, place = Fraction(0), 0
    for found in _PART.finditer(text):
        if found.start() != place or not found[2]:
            break
        if found[2].lower() not in _TIMES:
            break
        total += Fraction(found[1]) * _TIMES[found[2].lower()]
        place = found.end()
    if not text or place != len(text):
        number = _PART.fullmatch(text)
        if number and not number[2]:
            raise BadValue(
                message("“{value}” has no unit. Add us, ms, s, m or h.", value=shown(text)), f"{text}ms"
            )
        raise BadValue(message("“{value}” is not a duration. Examples: 200ms, 1.5s, 5m.", value=shown(text)))
    return _whole_number(total, text)


def clock(text: str) -> tuple[str, int]:
    """Return the day ("" for none) and nanoseconds since midnight: "14:05:30.2", "2026-11-20T14:05"."""
    found = _CLOCK.fullmatch(text)
    wrong = BadValue(
        message("“{value}” is not a time. Use an age (5m, 2h) or a time of day (14:05).", value=shown(text))
    )
    if not text or not found:
        raise wrong
    day, hours, minutes, seconds = found[1] or "", int(found[2] or 0), int(found[3] or 0), int(found[4] or 0)
    try:
        if day:
            date.fromisoformat(day)
    except ValueError:
        raise BadValue(message("“{value}” is not a valid date.", value=day)) from None
    if hours > 23 or minutes > 59 or seconds > 59:
        raise wrong
    fraction = int((found[5] or "0").ljust(9, "0"))
    return day, ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + fraction


def _whole_number(number: Fraction, text: str) -> int:
    if number > LARGEST:
        raise BadValue(message("“{value}” is too large.", value=shown(text)))
    return round(number)


@dataclass(frozen=True, slots=True)
class Name:
    """A name or word; with `glob`, `*` stands for anything and `?` for one character."""

    text: str
    glob: bool = False


class Between(NamedTuple):
    """A number from `low` to `high`, both included; None for no limit."""

    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Ago:
    """A moment before now, in nanoseconds."""

    ns: int


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day: nanoseconds since midnight on `day` ("2026-11-20"; "" if none is given)."""

    day: str
    ns: int


Value = Name | Between | Ago | ClockTime


@dataclass(frozen=True, slots=True)
class Term:
    """A field that has one of several values."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Words in a body, or in the name of a server, method or tool; case is ignored."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """Matches everything that `part` does not match."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """Matches what all parts match."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """Matches what any part matches."""

    parts: "tuple[Node, ...]"


Node = Term | Text | BodyTerm | Not | And | Or


def asks_for(node: Node | None, *fields: str, texts: bool = False) -> bool:
    """Whether a filter requires a value of one of the fields, or a text, and does not only exclude some."""
    match node:
        case Term(field, _):
            return field in fields or (texts and field == "body")
        case Text() | BodyTerm():
            return texts
        case And(parts) | Or(parts):
            return any(asks_for(part, *fields, texts=texts) for part in parts)
    return False


def keeps_pairs(node: Node | None) -> bool:
    """Whether an export with this filter also has the other half of each exchange.

    A filter by kind or direction means one half. The user marks one row, and means the call.
    """
    return asks_for(node, "marked", "note") and not asks_for(node, "kind", "dir")


_BARE = re.compile(r'[^\s"(),]+')


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(text: str, glob: bool = False) -> str:
    """Return a name in the notation of a value: bare if possible, else in quotes."""
    bare = _BARE.fullmatch(text) and (glob or not ("*" in text or "?" in text))
    return text if bare else quoted(text)


class ValueType(Enum):
    """The type of a field's values."""

    NAME = N_("a name, * and ? allowed")
    CHOICE = N_("one of its values")
    WHOLE = N_("a complete id")
    COUNT = N_("a number")
    ENTRY = N_("an entry number")
    SIZE = N_("a size")
    TIME = N_("a duration")
    MOMENT = N_("an age or a time of day")
    WORDS = N_("words")


@dataclass(frozen=True, slots=True)
class FilterField:
    """One field. `meaning` is for the completion and the help, `example` a complete term.

    For CHOICE, `choices` has each word with the numbers in the column that it stands for.
    """

    name: str
    takes: ValueType
    meaning: str
    example: str
    choices: Mapping[str, frozenset[int]] = field(default_factory=dict)


def _by_word(members: Iterable[Kind | Direction | Outcome]) -> dict[str, frozenset[int]]:
    return {member.name.lower(): frozenset({int(member)}) for member in members}


_ERRORS = frozenset({int(Outcome.ERROR), int(Outcome.TOOL_ERROR)})
_STATUS = _by_word(Outcome) | {
    # `error` includes tool errors; rpc_error does not.
    "error": _ERRORS,
    "rpc_error": frozenset({int(Outcome.ERROR)}),
    "failed": _ERRORS | {int(Outcome.LOST)},
}
_LINT = {"none": frozenset({int(Severity.NONE)})} | {
    word: frozenset(int(severity) for severity in Severity if severity >= least)
    for word, least in (("any", Severity.HINT), *((each.name.lower(), each) for each in Severity if each))
}
_MARKED = {"yes": frozenset({1}), "no": frozenset({0})}

FIELDS: Mapping[str, FilterField] = MappingProxyType(
    {
        known.name: known
        for known in (
            FilterField("server", ValueType.NAME, N_("the server, or model:NAME"), "server:weather"),
            FilterField("method", ValueType.NAME, N_("the method, also of the response"), "method:tools/*"),
            FilterField("tool", ValueType.NAME, N_("the tool, prompt or resource"), "tool:get_*"),
            FilterField("kind", ValueType.CHOICE, N_("the kind of entry"), "kind:request", _by_word(Kind)),
            FilterField("status", ValueType.CHOICE, N_("how the request ended"), "status:error", _STATUS),
            FilterField("dir", ValueType.CHOICE, N_("the direction"), "dir:out", _by_word(Direction)),
            FilterField("size", ValueType.SIZE, N_("size in bytes"), "size:>10k"),
            FilterField("latency", ValueType.TIME, N_("latency"), "latency:>200ms"),
            FilterField("since", ValueType.MOMENT, N_("not before this time"), "since:5m"),
            FilterField("until", ValueType.MOMENT, N_("not after this time"), "until:14:05"),
            FilterField("id", ValueType.WHOLE, N_("the JSON-RPC id"), "id:7"),
            FilterField("call", ValueType.WHOLE, N_("the tool call of the conversation"), "call:call_1"),
            FilterField("turn", ValueType.COUNT, N_("the turn, counted across all conversations"), "turn:3"),
            FilterField("step", ValueType.COUNT, N_("the step of the turn"), "step:2"),
            FilterField("seq", ValueType.COUNT, N_("the number of the entry"), "seq:100..200"),
            FilterField("pair", ValueType.ENTRY, N_("an entry and its counterpart"), "pair:7"),
            FilterField("root", ValueType.ENTRY, N_("all rounds of an entry's call"), "root:7"),
            FilterField(
                "lint", ValueType.CHOICE, N_("at least one finding of this severity"), "lint:error", _LINT
            ),
            FilterField("marked", ValueType.CHOICE, N_("marked by you or a test run"), "marked:yes", _MARKED),
            FilterField("note", ValueType.WORDS, N_("text in your note"), 'note:"ask them"'),
            FilterField("body", ValueType.WORDS, N_("text in the body only"), "body:milk"),
        )
    }
)

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "source": "server",
        "name": "tool",
        "outcome": "status",
        "direction": "dir",
        "after": "since",
        "before": "until",
        "mark": "marked",
        "took": "latency",
        "bytes": "size",
    }
)

_OPERATOR = re.compile(r"(>=|<=|>|<|=)(.*)", re.DOTALL)
_LIMITS: Mapping[str, Callable[[int], Between]] = {
    ">": lambda number: Between(number + 1),
    ">=": lambda number: Between(number),
    "<": lambda number: Between(0, number - 1),
    "<=": lambda number: Between(0, number),
    "=": lambda number: Between(number, number),
}
_NUMBERS: Mapping[ValueType, Callable[[str], int]] = {
    ValueType.COUNT: count,
    ValueType.SIZE: size,
    ValueType.TIME: duration,
}


def find(name: str) -> FilterField | None:
    """Return a field by its name or alias, in any case."""
    name = name.lower()
    return FIELDS.get(ALIASES.get(name, name))


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return the pattern of a glob: `*` anything, `?` one character, any case, linear time."""
    return re.compile(translate(glob.replace("[", "[[]")), re.IGNORECASE)


def read_value(known: FilterField, text: str, is_quoted: bool) -> Value:
    """Return the parsed value of a field; raises BadValue with a sentence about the problem."""
    match known.takes:
        case ValueType.WORDS if not text:
            raise BadValue(message("The quotes are empty."))
        case ValueType.NAME | ValueType.WORDS:
            return Name(text, not is_quoted and ("*" in text or "?" in text) and known.name != "body")
        case ValueType.CHOICE:
            return _choice(known, text)
        case ValueType.WHOLE if "*" in text and not is_quoted:
            raise BadValue(message("An id must match completely: {example}.", example=known.example))
        case ValueType.WHOLE:
            return Name(text)
        case ValueType.ENTRY:
            return _LIMITS["="](count(text))
        case ValueType.MOMENT if ":" not in text and text.count("-") != 2:
            return Ago(duration(text))
        case ValueType.MOMENT:
            day, ns = clock(text)
            is_whole_day = day and ":" not in text and known.name == "until"
            return ClockTime(day, DAY_NS - 1 if is_whole_day else ns)
        case ValueType.COUNT | ValueType.SIZE | ValueType.TIME:
            return _measured(known, text)


def _choice(known: FilterField, text: str) -> Name:
    word = text.lower().replace("-", "_")
    if word in known.choices:
        return Name(word)
    if "*" in word or "?" in word:
        if any(glob_pattern(word).match(choice) for choice in known.choices):
            return Name(word, True)
        none = N_("No {field} is like {value}: {choices}.")
        choices = ", ".join(known.choices)
        raise BadValue(message(none, field=known.name, value=shown(text), choices=choices))
    meant = nearest_name(word, known.choices)
    if meant:
        maybe = N_("Unknown {field} “{value}”. Did you mean {meant}?")
        raise BadValue(message(maybe, field=known.name, value=shown(text), meant=meant), meant)
    choices, unknown = ", ".join(known.choices), N_("Unknown {field} “{value}”. It is one of {choices}.")
    raise BadValue(message(unknown, field=known.name, value=shown(text), choices=choices))


def _measured(known: FilterField, text: str) -> Between:
    read = _NUMBERS[known.takes]
    operator = _OPERATOR.fullmatch(text)
    if operator:
        try:
            return _LIMITS[operator[1]](read(operator[2]))
        except BadValue as bad:
            raise BadValue(bad.sentence, bad.instead and operator[1] + bad.instead) from None
    if ".." in text:
        first, _, last = text.partition("..")
        low, high = read(first) if first else None, read(last) if last else None
        if low is None and high is None:
            need = N_("A range requires a number at one end: {field}:100..200.")
            raise BadValue(message(need, field=known.name))
        if low is not None and high is not None and low > high:
            raise BadValue(message("The start of the range is after its end."), f"{last}..{first}")
        return Between(low or 0, high)
    number = read(text)
    if known.takes is ValueType.TIME:
        # No duration is exactly 200 ms to the nanosecond, so a limit is required.
        limit = message("Use latency:>{value} or latency:<{value}.", value=shown(text))
        raise BadValue(limit, f">{text}")
    return _LIMITS["="](number)
