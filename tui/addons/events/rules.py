"""Rules by which events are asked about: what they say, their confirmation and their limits. Pure.

A rule is confirmed by its text: one that was changed in the file is asked about again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from tui.core.language.translate import N_, message
from tui.core.ports import digest_of
from tui.core.text import list_in, mapping, text_in
from tui.core.units import bounded, number_limit, whole

HOUR, DAY = 3_600.0, 86_400.0
MAX_TURNS = 100
"""Turns that are remembered, besides those of a day."""


ON = "on"
"""The label of the pattern of events."""


@dataclass(frozen=True, slots=True)
class EventRule:
    """A rule of the configuration; see `tui.settings.schema.EventRuleSettings`."""

    on: str
    prompt: str
    profile: str | None = None
    turns_per_hour: int = 4
    turns_per_day: int = 20
    cost_per_day: float | None = None

    @property
    def digest(self) -> str:
        """A hash of everything that it says."""
        return digest_of(asdict(self))

    def matches(self, server: str, event: str) -> bool:
        return fnmatchcase(f"{server}/{event}", self.on)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield everything that it says, with labels."""
        yield ON, self.on
        yield message("question"), self.prompt
        yield message("model"), self.profile or message("the selected one")
        limits = {"hour": self.turns_per_hour, "day": self.turns_per_day}
        yield message("limits"), message("{hour} turns an hour, {day} a day", **limits)
        most = "" if self.cost_per_day is None else f"{self.cost_per_day:g}"
        yield message("cost"), message("at most {cost} a day", cost=most) if most else message("no limit")


@dataclass(frozen=True, slots=True)
class ActedTurn:
    """A turn that events started. `outcome` says how it ended, `title` names its conversation."""

    digest: str
    at: float
    title: str
    events: int
    outcome: str = ""
    cost: float | None = None


@dataclass(slots=True)
class ActingState:
    """What outlives a run: the digests of the confirmed rules, and the last turns, oldest first."""

    confirmed: list[str] = field(default_factory=list)
    turns: list[ActedTurn] = field(default_factory=list)

    def confirm(self, rule: EventRule) -> None:
        self.confirmed = [*(one for one in self.confirmed if one != rule.digest), rule.digest][-200:]

    def withdraw(self, rule: EventRule) -> None:
        self.confirmed = [one for one in self.confirmed if one != rule.digest]

    def add(self, turn: ActedTurn) -> None:
        """Record a turn. The limits need all of a day."""
        self.turns = [one for one in self.turns[:-MAX_TURNS] if turn.at - one.at < DAY] + [
            *self.turns[-MAX_TURNS:],
            turn,
        ]

    def replace(self, turn: ActedTurn, by: ActedTurn) -> None:
        """Record how a turn has ended."""
        self.turns = [by if one is turn else one for one in self.turns]

    def why_not_now(self, rule: EventRule, now: float) -> str:
        """Return the limit of a rule that is reached, or ""."""
        mine = [one for one in self.turns if one.digest == rule.digest and now - one.at < DAY]
        if sum(now - one.at < HOUR for one in mine) >= rule.turns_per_hour:
            return N_("limit per hour reached")
        if len(mine) >= rule.turns_per_day:
            return N_("limit per day reached")
        if (left := self.cost_left(rule, now)) is not None and left <= 0:
            return N_("cost limit reached")
        return ""

    def cost_left(self, rule: EventRule, now: float) -> float | None:
        """Return what the turns of a rule may still cost today, None without a limit."""
        if rule.cost_per_day is None:
            return None
        mine = (one for one in self.turns if one.digest == rule.digest and now - one.at < DAY)
        return rule.cost_per_day - sum(one.cost or 0.0 for one in mine)


def rules_of(settings: Sequence[Any]) -> list[EventRule]:
    """Return the rules of the configuration (`EventRuleSettings`)."""
    return [EventRule(**one.model_dump()) for one in settings]


def acting_entry(state: ActingState) -> dict[str, Any]:
    """Return the state as JSON."""
    return {"confirmed": state.confirmed, "turns": [asdict(one) for one in state.turns]}


def read_acting(entry: Mapping[str, Any]) -> ActingState:
    """Return the state from JSON, without invalid parts."""
    confirmed = [one for one in list_in(entry, "confirmed") if isinstance(one, str)]
    turns = []
    for one in map(mapping, list_in(entry, "turns")):
        if digest := text_in(one, "digest"):
            cost = number_limit(one.get("cost"))
            at, events = bounded(one.get("at")) or 0.0, whole(one.get("events")) or 0
            turns.append(ActedTurn(digest, at, text_in(one, "title"), events, text_in(one, "outcome"), cost))
    return ActingState(confirmed, turns)
