"""Rules about tool calls: `ACTION SERVER/TOOL [ARGUMENT=PATTERN …]`. Pure.

    allow weather/*
    ask files/* path=/etc/*
    deny */delete_*

Any number of rules may match a call. deny overrides ask, and ask overrides allow, wherever they are and
however specific: adding a rule that asks or denies can only make mcptui more careful, and a long list can be
read one line at a time.

Servers and models choose names and arguments, so ambiguous calls are decided cautiously: `ask` and `deny`
match if any reading of a call matches, `allow` only if all do (see `tui.core.permission.rule_values`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from tui.core.language.translate import message
from tui.core.permission.rule_values import Readings, covers_all, covers_any
from tui.core.ports import DecisionRecord
from tui.core.text import clean_line
from tui.core.tools import Tool

MAX_RULE = 2000
"""Maximum characters of a rule."""


class Verdict(StrEnum):
    """How to handle a call, according to one rule or to all of them."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STRICTEST_FIRST = (Verdict.DENY, Verdict.ASK, Verdict.ALLOW)


class RuleError(ValueError):
    """A text is not a rule; the message is for its author."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on an argument. `argument` is a dotted path, or `*` for any argument at any depth."""

    argument: str
    pattern: str

    def __str__(self) -> str:
        return f"{_quoted(self.argument, '=')}={_quoted(self.pattern)}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Its place does not affect equality: it is the `number`th, from 1, in the list `origin`."""

    action: Verdict
    server: str
    tool: str
    conditions: tuple[Condition, ...] = ()
    origin: str = field(default="", compare=False)
    number: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.action} {self.pattern}"

    @property
    def pattern(self) -> str:
        """The rule without its action, as it is written in a list of one action."""
        name = f"{_quoted(self.server, '=')}/{_quoted(self.tool, '=')}"
        return " ".join((name, *map(str, self.conditions)))

    def names(self, server: str, tool: str) -> bool:
        """Return whether it applies to a tool, regardless of arguments."""
        if self.action is Verdict.ALLOW:
            return fnmatchcase(server, self.server) and fnmatchcase(tool, self.tool)
        # A tool may have a slash in its name: `*/delete_*` also means `notes/old/delete_all`.
        return fnmatchcase(f"{server}/{tool}", f"{self.server}/{self.tool}")

    def matches(
        self, server: str, tool: str, arguments: Mapping[str, Any], readings: Readings | None = None
    ) -> bool:
        """Return whether it applies to a call, whose `readings` must match every condition."""
        covers = covers_all if self.action is Verdict.ALLOW else covers_any
        return self.names(server, tool) and all(
            covers(one.pattern, one.argument, arguments, readings) for one in self.conditions
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of the user, in the order of the configuration."""

    rules: tuple[Rule, ...] = ()

    @classmethod
    def parsed(
        cls,
        rules: Iterable[str] = (),
        *,
        allow: Iterable[str] = (),
        ask: Iterable[str] = (),
        deny: Iterable[str] = (),
    ) -> "Rules":
        """Return the rules in the lists of a configuration. Raises RuleError."""
        lists = {None: rules, Verdict.DENY: deny, Verdict.ASK: ask, Verdict.ALLOW: allow}
        return cls(
            tuple(
                replace(parse_rule(text, action), origin=action or "rules", number=number)
                for action, texts in lists.items()
                for number, text in enumerate(texts, 1)
            )
        )

    def deciding(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Rule | None:
        """Return the rule that decides a call: the first of those with the strictest action, or None."""
        return next(self.matching(server, tool, arguments), None)

    def matching(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Iterator[Rule]:
        """Yield the rules that match a call, the one that decides first."""
        readings = Readings()
        for action in STRICTEST_FIRST:
            for rule in self.rules:
                if rule.action is action and rule.matches(server, tool, arguments, readings):
                    yield rule

    def denying(self, tool: Tool) -> Rule | None:
        """Return the rule that denies every call of a tool, or None."""
        for rule in self.rules:
            if rule.action is Verdict.DENY and not rule.conditions and rule.names(tool.server, tool.name):
                return rule
        return None

    def offered(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the tools that no rule denies completely."""
        if not any(rule.action is Verdict.DENY for rule in self.rules):
            return tools
        return [tool for tool in tools if self.denying(tool) is None]


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that was sent to its server.

    Attributes:
        arguments: as they were recorded, or None if they cannot be read.
        when: seconds since the epoch.
        by_model: whether the model called. Rules do not apply to calls by the user.
        decided: the record of the decision, if there is one.
    """

    server: str
    tool: str
    arguments: Mapping[str, Any] | None
    when: float
    by_model: bool = True
    decided: DecisionRecord | None = None

    @property
    def before(self) -> str:
        """How it came to run, in words."""
        if not self.by_model:
            return "ran, called by hand"
        if self.decided is None:
            return "ran"
        if self.decided.asked:
            return "ran after approval"
        return f"ran by {self.decided.by}" if self.decided.by.startswith("rule ") else "ran without approval"

    def would_change(self, action: Verdict | None) -> bool:
        """Return whether rules with this verdict, None for no rule, would decide differently now."""
        was_asked = self.decided is not None and self.decided.asked
        match action:
            case Verdict.DENY:
                return True
            case Verdict.ASK | Verdict.ALLOW:
                return was_asked is (action is Verdict.ALLOW)
            case _:
                return self.decided is not None and self.decided.by.startswith("rule ")


class RuleCheck:
    """Compares past calls with rules.

    `denials` are how often each rule has denied a call, by the words of the record of decisions. These calls
    reached no server, so they are in no recording.

    Attributes:
        verdicts: how many calls the rules allow, ask about and deny, and how many no rule matches (None).
        changes: the calls that would be decided differently, as they were added, and what would decide.
        unreadable: calls whose arguments are not known, which are not in `verdicts`.
    """

    def __init__(self, rules: Rules, denials: Mapping[str, int] = MappingProxyType({})) -> None:
        self._rules = rules
        self._denials = denials
        self._matched: set[int] = set()
        self._decided: set[int] = set()
        self.verdicts: Counter[Verdict | None] = Counter()
        self.changes: list[tuple[PastCall, str]] = []
        self.unreadable = 0

    def add(self, call: PastCall) -> None:
        if call.arguments is None:
            self.unreadable += 1
            return
        matching = list(self._rules.matching(call.server, call.tool, call.arguments))
        self._matched.update(map(id, matching))
        self._decided.update(map(id, matching[:1]))
        action = matching[0].action if matching else None
        self.verdicts[action] += 1
        if call.would_change(action):
            self.changes.append((call, str(matching[0]) if matching else "no rule"))

    @property
    def calls(self) -> int:
        return self.verdicts.total()

    @property
    def unmatched(self) -> Sequence[Rule]:
        """The rules that match no call, and have denied none."""
        return [rule for rule in self._rules.rules if id(rule) not in self._matched and not self.denied(rule)]

    @property
    def denying(self) -> Sequence[Rule]:
        return [rule for rule in self._rules.rules if self.denied(rule)]

    def denied(self, rule: Rule) -> int:
        return self._denials.get(f"rule {rule}", 0)

    @property
    def overridden(self) -> Sequence[Rule]:
        """The rules that match calls, but decide none: another one always does."""
        only_matched = self._matched - self._decided
        return [rule for rule in self._rules.rules if id(rule) in only_matched]


def parse_rule(text: str, action: Verdict | None = None) -> Rule:
    r"""Return the rule that a text describes. In the list of an `action`, the text may omit it.

    Quotes keep spaces together, and `\"` is a quote within them: `deny "my server"/* text="* *"`.

    Raises:
        RuleError: it is not a rule.
    """
    if len(text) > MAX_RULE:
        raise RuleError(message("must have at most {n} characters", n=MAX_RULE))
    words = _words(text)
    if words and words[0][0] in {known.value for known in Verdict}:
        named = Verdict(words.pop(0)[0])
        if action is not None and named is not action:
            raise RuleError(
                message("says {named}, but is in the list `{action}`", named=named.value, action=action.value)
            )
        action = named
    if action is None:
        raise RuleError(message("must start with allow, ask or deny, like `ask files/* path=/etc/*`"))
    name = words[0][0] if words else ""
    server, slash, tool = name.partition("/")
    if not (server and slash and tool):
        raise RuleError(message("must be a pattern of server/tool, like `notes/*`"))
    return Rule(action, server, tool, tuple(_condition(*word) for word in words[1:]))


def _condition(word: str, equals: int) -> Condition:
    if equals < 1:
        shown = clean_line(word, 60)
        raise RuleError(
            message(
                "`{word}` must be ARGUMENT=PATTERN, like `path=/etc/*`. Put a name with spaces in quotes",
                word=shown,
            )
        )
    argument = word[:equals]
    if argument != "*" and not all(argument.split(".")):
        shown = clean_line(argument, 60)
        raise RuleError(message("`{word}` is not the path of an argument, like `options.path`", word=shown))
    return Condition(argument, word[equals + 1 :])


_PIECE = r'"((?:[^"\\]|\\.)*)("?)|([^\s"]+)'
_PIECES = re.compile(_PIECE, re.DOTALL)
_WORD = re.compile(f"(?:{_PIECE})+", re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


def _words(text: str) -> list[tuple[str, int]]:
    """Return the words, and the position of the first unquoted `=` in each, or -1."""
    words: list[tuple[str, int]] = []
    for written in _WORD.finditer(text):
        word, equals = "", -1
        for quoted, closing, plain in _PIECES.findall(written[0]):
            if not (plain or closing):
                raise RuleError(message('has a `"` without its closing `"`'))
            if equals < 0 and "=" in plain:
                equals = len(word) + plain.index("=")
            word += plain or _ESCAPED.sub(r"\1", quoted)
        words.append((word, equals))
    return words


def _quoted(text: str, special: str = "") -> str:
    if not any(one.isspace() or one == '"' or one in special for one in text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
