"""A turn that is about to be kept: its question, the calls to expect, its server and its file."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tui.addons.tests.keep.home import Origin
from tui.addons.tests.keep.keeping import MOST_UP, after_keeping
from tui.addons.tests.keep.target import Target, default_target, target_at, write
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.suite.change import turn_toml, with_server
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.turns.keep import MadeTurn
from tui.core.errors import UsageError
from tui.core.secrets import encodings, secret_names
from tui.core.text import clean_line

MOST_TITLE = 60


@dataclass(frozen=True, slots=True)
class TurnKeeping:
    """What is about to be kept of a turn, for the suite of one of its servers.

    Attributes:
        origins: how each server that was called is started, by name.
        name: of the case; "" for its question.
        off: the calls that are not expected, as patterns.
        by_name: whether a configured server is named, or its command is written out.
    """

    turn: MadeTurn
    server: str
    origins: Mapping[str, Origin]
    current: Path
    redact: Callable[[str], str]
    name: str = ""
    off: frozenset[str] = field(default_factory=frozenset)
    by_name: bool = True

    @classmethod
    def of(
        cls,
        turn: MadeTurn,
        origins: Mapping[str, Origin],
        current: Path,
        redact: Callable[[str], str],
        server: str = "",
    ) -> "TurnKeeping":
        """Return a turn as it is proposed, for a `server` or the first that was called.

        Raises UsageError if it has no call that can be expected, or contains a secret.
        """
        servers = [one for one in turn.servers if one in origins]
        if not servers:
            raise UsageError("No call of this turn can be expected: none worked, or its server is gone.")
        made = cls(turn, server if server in servers else servers[0], origins, current, redact)
        texts = (turn.question, *(call for one in servers for call in turn.case(one).calls))
        if any(redact(text) != text or _has_mark(text) for text in texts):
            raise UsageError("The question or a call contains a secret, which must not be in a test file.")
        return made

    @property
    def servers(self) -> list[str]:
        """The servers whose suite the turn may be kept in."""
        return [one for one in self.turn.servers if one in self.origins]

    @property
    def calls(self) -> tuple[str, ...]:
        """All calls of the server, as patterns."""
        return self.turn.case(self.server).calls

    @property
    def case(self) -> TurnCase:
        """The case as it will be written."""
        kept = tuple(one for one in self.calls if one not in self.off)
        return replace(self.turn.case(self.server), name=self.name, calls=kept)

    @property
    def origin(self) -> Origin:
        return self.origins[self.server]

    def named(self, name: str) -> "TurnKeeping":
        """Return this with another name of the case."""
        return replace(self, name=name)

    def switched(self, call: str) -> "TurnKeeping":
        """Return this with a call switched on or off."""
        return replace(self, off=self.off ^ {call})

    def for_next_server(self) -> "TurnKeeping":
        """Return this for the next server that was called."""
        servers = self.servers
        after = servers[(servers.index(self.server) + 1) % len(servers)]
        return replace(self, server=after, off=frozenset())

    def free_name(self, target: Target) -> str:
        """Return a name that no other turn case of the file has, "" if the question is one."""
        taken = _titles(target)
        if self.turn.question not in taken:
            return ""
        title = clean_line(self.turn.question, MOST_TITLE)
        numbered = (f"{title} ({number})" for number in range(2, 1_000))
        return next((name for name in numbered if name not in taken), title)

    def target(self, typed: str = "") -> Target:
        """Return the file that the user typed, or the default. Raises UsageError or SuiteError."""
        if typed.strip():
            path = self.current / os.path.expanduser(typed.strip())
            return target_at(path, self.origin, self.redact, by_name=self.by_name)
        return default_target(self.origin, self.current, self.redact, by_name=self.by_name)

    def shown_path(self, path: Path) -> str:
        """Return a path as the user types it."""
        return shown_path(path, str(self.current), MOST_UP)

    def preview(self, target: Target) -> str:
        """Return what will be added to the file."""
        text = turn_toml(self.case)
        return f"{with_server('', target.server.server)}\n{text}" if target.is_new else text

    def problem(self, target: Target) -> str:
        """Return why the turn cannot be written to a file as it is, or ""."""
        if not self.case.calls:
            return "A turn case expects at least one call."
        if self.case.title in _titles(target):
            what = "name" if self.name else "question"
            return f"{self.shown_path(target.path)} already has a turn case with this {what}."
        return ""

    def keep(self, target: Target) -> str:
        """Write the case, and return what to say. Blocks. Raises UsageError or SuiteError."""
        if problem := self.problem(target):
            raise UsageError(problem)
        write(target, [self.case])
        return after_keeping(target, self.origin, self.shown_path(target.path), is_own=True)


def _titles(target: Target) -> frozenset[str]:
    turns = target.suite.turns if target.suite is not None else ()
    return frozenset(turn.title for turn in turns)


def _has_mark(text: str) -> bool:
    return encodings.MARK in text or secret_names.MARK.search(text) is not None
