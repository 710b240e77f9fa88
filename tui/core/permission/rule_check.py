"""Compares past calls with rules. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tui.core.permission.rules import Rule, Rules, Verdict
from tui.core.ports import DecisionRecord


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


@dataclass(frozen=True, slots=True)
class Change:
    """A call that would be decided differently now, and the rule that decides it, if any."""

    call: PastCall
    rule: Rule | None

    @property
    def after(self) -> str:
        """The rule that would decide now, in words, or "no rule"."""
        return "no rule" if self.rule is None else str(self.rule)


class RuleCheck:
    """Compares calls with rules.

    `denials` are how often each rule has denied a call, by the words of the record of decisions. These calls
    reached no server, so they are in no recording.

    Attributes:
        verdicts: how many calls the rules allow, ask about and deny, and how many no rule matches (None).
        changes: the calls that would change, in the order in which they were added.
        unreadable: calls whose arguments are not known, which are not in `verdicts`.
    """

    def __init__(self, rules: Rules, denials: Mapping[str, int] = MappingProxyType({})) -> None:
        self._rules = rules
        self._denials = denials
        self._matched: set[int] = set()
        self._decided: set[int] = set()
        self.verdicts: Counter[Verdict | None] = Counter()
        self.changes: list[Change] = []
        self.unreadable = 0

    def add(self, call: PastCall) -> None:
        """Compare one call with the rules."""
        if call.arguments is None:
            self.unreadable += 1
            return
        matching = list(self._rules.matching(call.server, call.tool, call.arguments))
        self._matched.update(map(id, matching))
        rule = matching[0] if matching else None
        if rule is not None:
            self._decided.add(id(rule))
        self.verdicts[rule.action if rule is not None else None] += 1
        if _differs(call, rule):
            self.changes.append(Change(call, rule))

    @property
    def calls(self) -> int:
        """The number of compared calls."""
        return self.verdicts.total()

    @property
    def unmatched(self) -> Sequence[Rule]:
        """The rules that match no call, and have denied none."""
        return [rule for rule in self._rules.rules if id(rule) not in self._matched and not self.denied(rule)]

    @property
    def denying(self) -> Sequence[Rule]:
        """The rules that have denied calls."""
        return [rule for rule in self._rules.rules if self.denied(rule)]

    def denied(self, rule: Rule) -> int:
        """Return how many calls a rule has denied."""
        return self._denials.get(f"rule {rule}", 0)

    @property
    def overridden(self) -> Sequence[Rule]:
        """The rules that match calls, but decide none: another one always does."""
        matched = (rule for rule in self._rules.rules if id(rule) in self._matched)
        return [rule for rule in matched if id(rule) not in self._decided]


def _differs(call: PastCall, rule: Rule | None) -> bool:
    decided = call.decided
    was_asked = decided is not None and decided.asked
    match rule.action if rule is not None else None:
        case Verdict.DENY:
            return True
        case Verdict.ASK:
            return not was_asked
        case Verdict.ALLOW:
            return was_asked
        case _:
            return decided is not None and decided.by.startswith("rule ")
