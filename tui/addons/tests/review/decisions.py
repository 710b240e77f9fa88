"""Reviewing what failed: a state machine over the failures of a run and the texts of their files. Pure.

A decision is first a `Change` of the text of a file. Whoever shows the review writes it, then calls `made`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.failures import Failure, has_same_members
from tui.addons.tests.review.files import read_again, with_accepted, with_varied
from tui.core.language.translate import N_, _, n_


class Decision(StrEnum):
    """What was decided about a failure."""

    OPEN = N_("open")
    ACCEPTED = N_("accepted")
    VARIES = N_("varies")
    """A part of it became a placeholder, and nothing else differs."""
    SKIPPED = N_("keeps failing")


def counted(decision: Decision, count: int) -> str:
    """Return how many failures have a decision: "1 varies", "2 keep failing"."""
    match decision:
        case Decision.ACCEPTED:
            return _("{n} accepted", n=count)
        case Decision.VARIES:
            return n_("{n} varies", "{n} vary", count)
        case Decision.SKIPPED:
            return n_("{n} keeps failing", "{n} keep failing", count)
    return _("{n} open", n=count)


@dataclass(frozen=True, slots=True)
class Change:
    """The text of a file before and after a decision about the failure with a number.

    `is_shown`: what it writes is shown before, because it is not only the values of the result.
    """

    path: Path
    before: str
    after: str
    number: int
    decision: Decision
    is_shown: bool = False


@dataclass(slots=True)
class Review:
    """The failures one after the other. `texts` are those of their files.

    `why_not` sentences are shown where a decision is impossible.
    """

    failures: list[Failure]
    texts: dict[Path, str]
    at: int = 0
    decisions: dict[int, Decision] = field(default_factory=dict)
    _made: list[tuple[Change, Failure]] = field(default_factory=list)

    @classmethod
    def of(cls, failures: Sequence[Failure], texts: Mapping[Path, str]) -> "Review":
        """Return the review of failures, as they are with the texts of their files."""
        known = [read_again(texts[one.path], one) for one in failures if one.path in texts]
        return cls(known, dict(texts))

    @property
    def current(self) -> Failure | None:
        return self.failures[self.at] if self.failures else None

    @property
    def progress(self) -> str:
        """The number of the current failure: "2 of 5"."""
        return _("{n} of {all}", n=self.at + 1, all=len(self.failures)) if self.failures else ""

    def decision(self, number: int) -> Decision:
        return self.decisions.get(number, Decision.OPEN)

    @property
    def open(self) -> int:
        """The number of failures without a decision."""
        return len(self.failures) - len(self.decisions)

    @property
    def can_undo(self) -> bool:
        return bool(self._made)

    def count(self, decision: Decision) -> int:
        return sum(one is decision for one in self.decisions.values())

    def step(self, step: int = 1) -> None:
        """Go to the next or previous failure; wraps around."""
        if self.failures:
            self.at = (self.at + step) % len(self.failures)

    def to_open(self) -> bool:
        """Go to the next failure without a decision; return whether there is one."""
        count = len(self.failures)
        following = ((self.at + step) % count for step in range(count))
        found = next((one for one in following if one not in self.decisions), None)
        self.at = self.at if found is None else found
        return found is not None

    def accept(self) -> Change | None:
        """Return the change that makes the result the expectation; None if it is impossible."""
        failure = self.current
        if failure is None or failure.why_not_accepted:
            return None
        text = self.texts[failure.path]
        after = with_accepted(text, failure)
        is_shown = not has_same_members(failure, read_again(after, failure))
        return Change(failure.path, text, after, self.at, Decision.ACCEPTED, is_shown)

    def vary(self, part: Part) -> Change | None:
        """Return the change that makes a part a placeholder; None if it is impossible."""
        failure = self.current
        if failure is None or failure.why_not_varied(part):
            return None
        text = self.texts[failure.path]
        after = with_varied(text, failure, part)
        return Change(failure.path, text, after, self.at, Decision.VARIES, is_shown=True)

    def skip(self) -> None:
        """Let the current failure fail, and go to the next one without a decision."""
        if self.failures:
            self.decisions[self.at] = Decision.SKIPPED
            self.to_open()

    def made(self, change: Change) -> None:
        """Take a change that was written. What still differs stays the current failure."""
        before = self.failures[change.number]
        self._made.append((change, before))
        self._take(change.path, change.after)
        if change.decision is Decision.ACCEPTED or not self.failures[change.number].differs:
            self.decisions[change.number] = change.decision
            self.to_open()

    def undo(self) -> Change | None:
        """Return the change that takes the last one back, None if there is none."""
        if not self._made:
            return None
        change, _ = self._made[-1]
        return replace(change, before=change.after, after=change.before, decision=Decision.OPEN)

    def undone(self) -> None:
        """Take the last change back, once that was written."""
        change, before = self._made.pop()
        self._take(change.path, change.before)
        self.failures[change.number] = before
        self.decisions.pop(change.number, None)
        self.at = change.number

    def _take(self, path: Path, text: str) -> None:
        self.texts[path] = text
        self.failures = [read_again(text, one) if one.path == path else one for one in self.failures]
