"""Reads fault rules: `method:tools/call tool:create_* lose=answer 1/3 seed=7`. Pure.

A rule is a filter of the traffic, one fault, how often it happens, and a seed. Whether a match is hit depends
on the seed and the number of the match alone, so the same seed gives the same faults.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from tui.addons.faults.breakpoints_filter import Test, can_match, fields_of, parse_breakpoint, test_of
from tui.core.language.translate import N_, message
from tui.core.matching import nearest_name
from tui.core.text import clean_line
from tui.core.traffic import Direction, Kind
from tui.traffic.filter.fields import BadValue, duration, size


class Target(Enum):
    """The messages that a fault can happen to, unless the filter says more.

    With `dir:`, those of the other side too. So it is for any message with a filter that no response matches.
    """

    REQUEST = N_("requests to the server")
    ANSWER = N_("responses of the server")
    MESSAGE = N_("messages of the server")

    @property
    def kinds(self) -> frozenset[Kind]:
        return _KINDS[self]

    @property
    def direction(self) -> Direction:
        return Direction.OUT if self is Target.REQUEST else Direction.IN


_BOTH = frozenset({Direction.IN, Direction.OUT})
_RESPONSES = frozenset({Kind.RESPONSE, Kind.ERROR})
_KINDS = {
    Target.REQUEST: frozenset({Kind.REQUEST, Kind.NOTIFICATION}),  # of the latter, only lose=request
    Target.ANSWER: _RESPONSES,
    Target.MESSAGE: frozenset({Kind.REQUEST, Kind.NOTIFICATION, *_RESPONSES}),
}


class Amount(Enum):
    """What a fault takes after `=`."""

    NONE = ""
    TIME = "2s±0.5"
    SIZE = "100"
    RATE = "200B/s"
    CODE = "-32603"
    STATUS = "503"
    WORD = "answer"

    @property
    def form(self) -> str:
        """What it must be, with an example."""
        return _FORMS[self]


_FORMS = {
    Amount.NONE: message("no value"),
    Amount.TIME: message("a time, such as 2s or 2s±0.5"),
    Amount.SIZE: message("a size of at most 15MiB, such as 100 or 5kB"),
    Amount.RATE: message("bytes a second, such as 200B/s"),
    Amount.CODE: message("an integer, such as -32603"),
    Amount.STATUS: message("a status from 400 to 599, such as 503"),
    Amount.WORD: message("answer, request or connection"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault."""

    amount: Amount
    target: Target
    meaning: str
    is_http: bool = False


FAULTS: Mapping[str, Fault] = {
    "delay": Fault(Amount.TIME, Target.MESSAGE, N_("comes later")),
    "lose": Fault(Amount.WORD, Target.ANSWER, N_("is lost")),
    "repeat": Fault(Amount.NONE, Target.MESSAGE, N_("comes twice")),
    "reorder": Fault(Amount.NONE, Target.MESSAGE, N_("comes after the next message")),
    "error": Fault(Amount.CODE, Target.REQUEST, N_("is answered with an error, and not sent")),
    "status": Fault(Amount.STATUS, Target.REQUEST, N_("is answered with an HTTP status, and not sent"), True),
    "expire": Fault(Amount.NONE, Target.REQUEST, N_("is answered with 401, and not sent"), True),
    "cut": Fault(Amount.SIZE, Target.MESSAGE, N_("ends after so many bytes")),
    "garbage": Fault(Amount.NONE, Target.MESSAGE, N_("is replaced by random bytes")),
    "stray-output": Fault(Amount.NONE, Target.MESSAGE, N_("comes after a line that is not a message")),
    "vanish": Fault(Amount.NONE, Target.ANSWER, N_("misses a tool, in a list")),
    "slow": Fault(Amount.RATE, Target.MESSAGE, N_("takes time by its size")),
    "invalid-result": Fault(Amount.NONE, Target.ANSWER, N_("violates its schema")),
    "big": Fault(Amount.SIZE, Target.ANSWER, N_("is made larger")),
}

_CALLS = "method:tools/call,resources/read,prompts/get"
PRESETS: Mapping[str, Sequence[str]] = {
    "flaky": ("error=-32603 1/5",),
    "slow": ("delay=2s±1s",),
    "lost-answers": ("lose=answer 1/3",),
    "bad-network": ("delay=300ms±200ms", "reorder 1/5", "repeat 1/10", "lose=answer 1/20"),
    "expired-token": ("expire 1/3",),
}
"""The rules that a word stands for, for calls unless it has a filter."""

LOSSES = ("answer", "request", "connection")
LARGEST = 15 * 1024 * 1024
"""Maximum bytes of a message that is made larger: less than a line may have."""

_WORD = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+')
_RATE = re.compile(r"(\d{1,9})/(\d{1,9})|(\d{1,3})%")
_TIME = re.compile(r"(.*?)(?:(?:±|\+-)(.*))?")
_UNIT = re.compile(r"[a-z]+$")
_OF_ONE_MESSAGE = frozenset({"dir", "kind", "status", "size"})
"""Fields that tell a request from its response."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        text: as it was written.
        said: the fault with its amount, such as "delay=2s".
        test: whether its filter matches a message.
        fields: the fields of its filter.
        directions: of the messages that it happens to.
        amount, spread: nanoseconds, bytes, bytes a second, or a code.
    """

    text: str
    fault: str
    said: str
    test: Test
    fields: frozenset[str]
    directions: frozenset[Direction]
    amount: int = 0
    spread: int = 0
    rate: tuple[int, int] = (1, 1)
    seed: int = 0

    @property
    def target(self) -> Target:
        return _target(self.fault, self.said)

    @property
    def is_of_call(self) -> bool:
        """Whether the filter judges a call, by its request or its response, and not one message."""
        return not self.fields & _OF_ONE_MESSAGE

    def hits(self, match: int) -> bool:
        """Whether the fault happens to a match, which are counted from 1."""
        return self.drawn(match) * self.rate[1] < self.rate[0] << 64

    def drawn(self, match: int, purpose: str = "") -> int:
        """Return a number below 2**64 for a match."""
        text = f"{self.seed} {self.said} {match} {purpose}"
        return int.from_bytes(sha256(text.encode()).digest()[:8])

    def delay_ns(self, match: int) -> int:
        """Return the delay of a match, between `amount` less and more `spread`."""
        return max(0, self.amount - self.spread + (2 * self.spread * self.drawn(match, "delay") >> 64))


def parse_rules(texts: Sequence[str], *, transport: str = "") -> list[Rule]:
    """Return the rules of some texts, each a rule or a preset; `transport` is "" if it is not known yet.

    Raises:
        ValueError: a bad rule; the text says why.
    """
    rules = [rule for text in texts for rule in _parse(text)]
    if transport not in ("", "stdio", "http", "sse"):
        raise ValueError(message("faults need stdio or HTTP, not {transport}.", transport=transport))
    for rule in rules:
        if transport == "stdio" and FAULTS[rule.fault].is_http:
            needs = N_("{fault} needs HTTP. Use error=-32603 for a server over stdio.")
            raise ValueError(message(needs, fault=rule.said))
    return rules


def examples() -> dict[str, str]:
    """Return every fault and preset as it may be written, with what it does."""
    found = dict[str, str]()
    for name, fault in FAULTS.items():
        amounts = LOSSES if fault.amount is Amount.WORD else [fault.amount.value]
        found |= {f"{name}={amount}" if amount else name: fault.meaning for amount in amounts}
    found["lose=connection"] = N_("breaks off the connection")
    return found | {name: ", ".join(rules) for name, rules in PRESETS.items()}


def _parse(text: str) -> list[Rule]:
    shown = clean_line(text, 200)
    words: list[str] = []
    faults: list[tuple[str, str]] = []
    rates: list[tuple[int, int]] = []
    seeds: list[int] = []
    for word in _WORD.findall(text):
        name, equals, value = word.partition("=")
        if found := _RATE.fullmatch(word):
            rates.append(_rate(found))
        elif name == "seed" and equals:
            seeds.append(_seed(value))
        elif name in FAULTS or word in PRESETS:
            faults.append((name, value))
        elif equals and re.fullmatch(r"[a-z-]+", name):
            meant = nearest_name(name, FAULTS)
            unknown = N_("Unknown fault “{name}”. Faults: {faults}.")
            if meant:
                unknown = N_("Unknown fault “{name}”. Did you mean {meant}=?")
            given = clean_line(word, 40)
            raise ValueError(message(unknown, name=given, meant=meant, faults=", ".join(FAULTS)))
        else:
            words.append(word)
    if problem := _miscounted(shown, faults, rates, seeds):
        raise ValueError(problem)
    if not faults:
        raise ValueError(_no_fault(shown, words))
    (name, value), seed = faults[0], sum(seeds)
    scope = " ".join(words)
    if name in PRESETS and not (name in FAULTS and value):
        often = f" {rates[0][0]}/{rates[0][1]}" if rates else ""
        each = [f"{scope or _CALLS} {_without_rate(one) + often if often else one}" for one in PRESETS[name]]
        return [rule for one in each for rule in _parse(f"{one} seed={seed}")]
    query = parse_breakpoint(scope)
    if query.problems:
        raise ValueError(message("“{rule}”: {problem}", rule=shown, problem=query.problems[0].sentence))
    amount, spread = _amount(name, value)
    said = f"{name}={value}" if value else name
    rate = rates[0] if rates else (1, 1)
    fields, target = fields_of(query), _target(name, said)
    is_both = "dir" in fields or (target is Target.MESSAGE and not can_match(query, _RESPONSES, _BOTH))
    directions = _BOTH if is_both else frozenset({target.direction})
    rule = Rule(shown, name, said, test_of(query), fields, directions, amount, spread, rate, seed)
    if not can_match(query, target.kinds, directions):
        never = N_("“{rule}” never matches: {fault} happens to {messages}.")
        raise ValueError(message(never, rule=shown, fault=said, messages=message(target.value)))
    return [rule]


def _miscounted(rule: str, *parts: Sequence[object]) -> str:
    """Return that there are several faults, rates or seeds, or ""."""
    several = (
        N_("“{rule}” has several faults. Write a rule for each."),
        N_("“{rule}” has several rates. Write one."),
        N_("“{rule}” has several seeds. Write one."),
    )
    found = (text for text, part in zip(several, parts, strict=True) if len(part) > 1)
    return next((message(text, rule=rule) for text in found), "")


def _rate(found: re.Match[str]) -> tuple[int, int]:
    rate = (int(found[1]), int(found[2])) if found[1] else (int(found[3]), 100)
    if not 0 < rate[0] <= rate[1]:
        raise ValueError(message("“{value}” is not a rate. Examples: 1/3, 20%.", value=found[0]))
    return rate


def _seed(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 20):
        raise ValueError(message("seed= takes an integer, not “{value}”.", value=clean_line(value, 40)))
    return int(value)


def _no_fault(rule: str, words: Sequence[str]) -> str:
    """Return that a rule has no fault, and the one that a word may misspell, or else the names of all."""
    plain = [word for word in words if re.fullmatch(r"[a-z-]+", word)]
    meant = next(filter(None, (nearest_name(word, (*FAULTS, *PRESETS)) for word in plain)), "")
    none = N_("“{rule}” has no fault. Faults: {faults}. Presets: {presets}.")
    if meant:
        none = N_("“{rule}” has no fault. Did you mean {meant}?")
    faults, presets = ", ".join(FAULTS), ", ".join(PRESETS)
    return message(none, rule=rule, meant=meant, faults=faults, presets=presets)


def _target(fault: str, said: str) -> Target:
    if said == "lose=request":
        return Target.REQUEST
    return Target.MESSAGE if said == "lose=connection" else FAULTS[fault].target


def _without_rate(rule: str) -> str:
    return " ".join(word for word in rule.split() if not _RATE.fullmatch(word))


def _amount(name: str, value: str) -> tuple[int, int]:
    """Return the amount and the spread of a fault. Raises ValueError."""
    takes = FAULTS[name].amount
    takes_words = N_("{fault}= takes {form}, not “{value}”.") if value else N_("{fault}= takes {form}.")
    wrong = ValueError(message(takes_words, fault=name, form=takes.form, value=clean_line(value, 40)))
    try:
        match takes:
            case Amount.NONE if value:
                raise ValueError(message("{fault} takes no value.", fault=name))
            case Amount.WORD if value not in LOSSES:
                raise wrong
            case Amount.TIME:
                return _time(value)
            case Amount.SIZE:
                return _within(size(value), 0, LARGEST, wrong), 0
            case Amount.RATE:
                return _within(size(value.removesuffix("/s")), 1, 1 << 40, wrong), 0
            case Amount.CODE:
                return _within(int(value), -(1 << 53), 1 << 53, wrong), 0
            case Amount.STATUS:
                return _within(int(value), 400, 599, wrong), 0
    except BadValue:
        raise wrong from None
    except ValueError as error:
        raise (error if str(error).startswith(name) else wrong) from None
    return 0, 0


def _time(value: str) -> tuple[int, int]:
    found = _TIME.fullmatch(value)
    assert found is not None
    middle, spread = found[1], found[2] or "0ns"
    if not _UNIT.search(spread) and (unit := _UNIT.search(middle)):
        spread += unit[0]
    amount, more = duration(middle), 0 if spread == "0ns" else duration(spread)
    if more > amount:
        negative = N_("delay={value} may be negative. Its spread is at most {middle}.")
        raise ValueError(message(negative, value=clean_line(value, 40), middle=middle))
    return amount, more


def _within(number: int, least: int, most: int, wrong: ValueError) -> int:
    if not least <= number <= most:
        raise wrong
    return number
