"""A turn that is about to be kept: its question, the calls to expect, its server and its file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tui.addons.tests.keep.draft import free_name
from tui.addons.tests.keep.home import Origin
from tui.addons.tests.keep.keeping import MOST_UP, after_keeping
from tui.addons.tests.keep.target import Target, target_for, write
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.suite.case_text import turn_toml
from tui.addons.tests.suite.change import with_server
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.turns.keep import KeptCall, MadeTurn
from tui.core.errors import UsageError
from tui.core.secrets import encodings, secret_names
from tui.core.text import clean_line

MOST_TITLE = 60
RUNS, PASSING = 5, 0.8
"""Of a kept turn: models do not always choose alike."""


@dataclass(frozen=True, slots=True)
class TurnKeeping:
    """What is about to be kept of a turn, for the suite of one of its servers.

    Attributes:
        origins: how each server that was called is started, by name.
        calls: of the server, as they are proposed or switched.
        name: of the case; "" for its question.
    """

    turn: MadeTurn
    server: str
    origins: Mapping[str, Origin]
    current: Path
    redact: Callable[[str], str]
    calls: tuple[KeptCall, ...] = ()
    name: str = ""

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
        made = cls(turn, "", origins, current, redact)._for(server if server in servers else servers[0])
        if made._has_secret(turn.question):
            raise UsageError("The question contains a secret, which must not be in a test file.")
        return made

    @property
    def servers(self) -> list[str]:
        """The servers whose suite the turn may be kept in."""
        return [one for one in self.turn.servers if one in self.origins]

    @property
    def case(self) -> TurnCase:
        """The case as it will be written."""
        calls = tuple(str(one) for one in self.calls if one.is_on)
        return TurnCase(self.turn.question, 1, self.name, calls, runs=RUNS, passing=PASSING)

    @property
    def origin(self) -> Origin:
        return self.origins[self.server]

    def named(self, name: str) -> "TurnKeeping":
        """Return this with another name of the case."""
        return replace(self, name=name)

    def switched(self, call: int, argument: int | None = None) -> "TurnKeeping":
        """Return this with a call switched on or off, or one of its arguments."""
        calls = list(self.calls)
        calls[call] = calls[call].switched(argument)
        return replace(self, calls=tuple(calls))

    def for_next_server(self) -> "TurnKeeping":
        """Return this for the next server that was called."""
        servers = self.servers
        return self._for(servers[(servers.index(self.server) + 1) % len(servers)])

    def _for(self, server: str) -> "TurnKeeping":
        """Return this for a server, without the secret arguments that the question does not say."""
        calls = []
        for call in self.turn.calls_of(server):
            shown = (
                one for one in call.arguments if one.is_said or not self._has_secret(str(one.pattern.value))
            )
            calls.append(replace(call, arguments=tuple(shown)))
        return replace(self, server=server, calls=tuple(calls))

    def _has_secret(self, text: str) -> bool:
        has_mark = encodings.MARK in text or secret_names.MARK.search(text) is not None
        return has_mark or self.redact(text) != text

    def free_name(self, target: Target) -> str:
        """Return a name that no other turn case of the file has, "" if the question is one."""
        taken = {one.title for one in _turns(target)}
        if self.turn.question not in taken:
            return ""
        title = clean_line(self.turn.question, MOST_TITLE)
        return free_name(title, {*taken, title})

    def target(self, typed: str = "") -> Target:
        """Return the file that the user typed, or the default. Raises UsageError or SuiteError."""
        return target_for(typed, self.origin, self.current, self.redact)

    def shown_path(self, path: Path) -> str:
        """Return a path as the user types it."""
        return shown_path(path, str(self.current), MOST_UP)

    def preview(self, target: Target) -> str:
        """Return what will be added to the file."""
        text = turn_toml(self.case)
        return f"{with_server('', target.server.server)}\n{text}" if target.is_new else text

    def problem(self, target: Target) -> str:
        """Return why the turn cannot be written to a file as it is, or ""."""
        case, file = self.case, self.shown_path(target.path)
        if not case.calls:
            return "A turn case expects at least one call."
        if any(map(self._has_secret, case.calls)):
            return "A call contains a secret, which must not be in a test file."
        for there in _turns(target):
            if (there.question, there.calls) == (case.question, case.calls):
                return f"{file} already expects these calls for this question."
            if there.title == case.title:
                return f"{file} already has a turn case with this {'name' if self.name else 'question'}."
        return ""

    def keep(self, target: Target) -> str:
        """Write the case, and return what to say. Blocks. Raises UsageError or SuiteError."""
        if problem := self.problem(target):
            raise UsageError(problem)
        write(target, [self.case])
        return after_keeping(target, self.origin, self.shown_path(target.path), is_own=True)


def _turns(target: Target) -> Sequence[TurnCase]:
    return target.suite.turns if target.suite is not None else ()
