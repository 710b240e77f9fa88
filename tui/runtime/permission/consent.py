"""Consent for the servers of this run: the user's own and the samples need none."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.files.programs import find_program
from tui.core.permission.consent import (
    MAX_ON_SCREEN,
    ConsentQuestion,
    ConsentsQuestion,
    consent_question,
    fitting,
)
from tui.core.permission.launch import Launch
from tui.core.ports import BY_DEFAULT, BY_KEY, USER, DecisionKind, DecisionLog, DecisionRecord
from tui.core.questions import Action, ConsentsAnswer, Refuser, UserQuestioner
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name
from tui.settings.locations import consents_file, decisions_file, default_servers
from tui.settings.state.permission.stored_consents import StoredConsents
from tui.settings.state.permission.stored_decisions import StoredDecisions

BY_FLAG = "option --trust-config"
BY_NOBODY = f"{BY_DEFAULT} (no screen to ask on)"
MAX_COMMAND = 2000
MAX_PATH = 4096
LOOKED_THROUGH = 4_000
"""Maximum characters of a server that are searched at once; more in a thread, so that keys keep working."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    """A pending question, and the number of starts that wait for its answer."""

    task: asyncio.Task[bool]
    starts: int = 0


class SharedQuestion:
    """One question about several servers of one source. Withdrawn servers are removed from it."""

    def __init__(
        self, questions: Sequence[ConsentQuestion], launches: Mapping[str, Launch], questioner: UserQuestioner
    ) -> None:
        self.launches = launches
        self._questions = {one.server: one for one in questions}
        self._questioner = questioner
        self._asking: asyncio.Task[None] | None = None
        self._answered: asyncio.Future[ConsentsAnswer] = asyncio.get_running_loop().create_future()

    async def answer(self, server: str) -> ConsentsAnswer:
        """Wait for the answer; a server that asks after it was given gets `EACH`."""
        if self._answered.done():
            return ConsentsAnswer.EACH
        if self._asking is None:
            self._ask()
        try:
            return await asyncio.shield(self._answered)
        except asyncio.CancelledError:
            self.leave(server)
            raise

    def leave(self, server: str) -> None:
        """Withdraw the question about a server, and ask about the others again."""
        self._questions.pop(server, None)
        if self._asking is not None:
            self._asking.cancel()
            if self._questions and not self._answered.done():
                self._ask()

    def _ask(self) -> None:
        self._asking = asyncio.create_task(self._put())

    async def _put(self) -> None:
        answer = ConsentsAnswer.EACH
        try:
            if len(self._questions) > 1:
                answer = await self._questioner.consents(ConsentsQuestion(list(self._questions.values())))
        except asyncio.CancelledError:
            return  # asked again, or no start waits
        if not self._answered.done():
            self._answered.set_result(answer)


class RunConsent:
    """A `core.permission.consent.ConsentGate`: asks once for each server, one question at a time.

    Attributes:
        questioner: asks the user.
        decisions: the record of decisions.
        trust: the command line gives consent for this run.

    Belongs to the event loop.
    """

    def __init__(
        self,
        store: StoredConsents,
        questioner: Callable[[], UserQuestioner],
        decisions: DecisionLog,
        *,
        trust: bool = False,
    ) -> None:
        self._store = store
        self.questioner = questioner
        self.decisions = decisions
        self.trust = trust
        self._agreed: set[str] = set()
        self._waiting: dict[str, _Waiting] = {}
        self._shared: dict[str, SharedQuestion] = {}
        self._told: set[str] = set()

    @classmethod
    def over_file(
        cls, questioner: Callable[[], UserQuestioner], decisions: DecisionLog, *, trust: bool
    ) -> "RunConsent":
        """Return a gate that stores consent in a file."""
        return cls(StoredConsents(consents_file()), questioner, decisions, trust=trust)

    def allows(self, spec: ServerSpec) -> bool:
        if not spec.source or is_sample(spec):
            return True
        launch = launch_of(spec)
        if self.trust:
            self._record(spec, launch, allowed=True, by=BY_FLAG)
            return True
        return launch.digest() in self._agreed or self._store.has(launch.digest())

    def refuses(self, spec: ServerSpec) -> bool:
        return not self.allows(spec) and bool(self._store.refused(launch_of(spec).digest()))

    async def ask(self, spec: ServerSpec) -> bool:
        if self.allows(spec):
            return True
        waiting = self._waiting.get(spec.name)
        if waiting is None:
            waiting = self._waiting[spec.name] = _Waiting(asyncio.create_task(self._ask(spec)))
        waiting.starts += 1
        try:
            return await asyncio.shield(waiting.task)
        except asyncio.CancelledError:
            if waiting.task.cancelled():  # withdrawn
                return False
            raise
        finally:
            waiting.starts -= 1
            if not waiting.starts:
                waiting.task.cancel()
                if self._waiting.get(spec.name) is waiting:
                    del self._waiting[spec.name]

    def together(self, specs: Sequence[ServerSpec]) -> None:
        missing = [spec for spec in specs if spec.name not in self._waiting and not self.allows(spec)]
        for source in dict.fromkeys(spec.source for spec in missing):
            launches = {spec.name: launch_of(spec) for spec in missing if spec.source == source}
            short = _quick_to_search(launches)
            asked = fitting([self._question(one, launches[one.name]) for one in missing if one.name in short])
            if len(asked) > 1:
                shared = SharedQuestion(asked, launches, self.questioner())
                self._shared |= {one.server: shared for one in asked}

    async def _question_of(self, spec: ServerSpec, launch: Launch) -> ConsentQuestion:
        """Return the question about a server; build a long one in a thread, so as not to block the screen."""
        if launch.length <= LOOKED_THROUGH:
            return self._question(spec, launch)
        return await asyncio.to_thread(self._question, spec, launch)

    def _question(self, spec: ServerSpec, launch: Launch) -> ConsentQuestion:
        changes = self._store.changes(spec.name, spec.source, launch)
        return consent_question(spec, launch, changes, self._store.damage())

    async def _ask(self, spec: ServerSpec) -> bool:
        shared = self._shared.pop(spec.name, None)
        answer = None if shared is None else await shared.answer(spec.name)
        if shared is not None and answer in (ConsentsAnswer.ALL, ConsentsAnswer.NONE):
            is_yes = answer is ConsentsAnswer.ALL
            await self._answered(spec, shared.launches[spec.name], is_yes=is_yes)
            if not is_yes:
                return False
            if self.allows(spec):
                return True
        if answer is ConsentsAnswer.LATER:
            return False
        while True:
            launch = launch_of(spec)
            action = await self.questioner().consent(await self._question_of(spec, launch))
            if action is Action.CANCEL:
                return False
            is_yes = action is Action.ACCEPT
            await self._answered(spec, launch, is_yes=is_yes)
            if not is_yes:
                return False
            if self.allows(spec):  # a link may have changed since the question was shown
                return True

    async def _answered(self, spec: ServerSpec, launch: Launch, *, is_yes: bool) -> None:
        self._record(spec, launch, allowed=is_yes, by=BY_KEY)
        if is_yes:
            await self.keep(spec, launch)
        else:
            await self._save(spec, lambda: self._store.refuse(launch.digest()))

    async def keep(self, spec: ServerSpec, launch: Launch | None = None) -> None:
        """Store consent for a server. If that fails, it lasts until mcptui exits."""
        found = launch or launch_of(spec)
        self._agreed.add(found.digest())
        await self._save(spec, lambda: self._store.add(spec.name, spec.source, found))

    async def _save(self, spec: ServerSpec, save: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(save)
        except (McptuiError, OSError) as error:
            _log.warning("cannot save the consent to start %s: %s", spec.name, error)

    def withdraw(self, server: str) -> None:
        if (shared := self._shared.pop(server, None)) is not None:
            shared.leave(server)
        if (waiting := self._waiting.pop(server, None)) is not None:
            waiting.task.cancel()

    def require(self, specs: Iterable[ServerSpec]) -> None:
        """Raise UsageError if one of the servers needs consent, because there is no user to ask."""
        missing = [spec for spec in specs if not spec.problem and not self.allows(spec)]
        if not missing:
            return
        for spec in missing:
            self.refuse(spec)
        lines = [line for spec in missing for line in described(spec)]  # in full: consent covers all of it
        origin = ", ".join(dict.fromkeys(clean_line(spec.source, 300) for spec in missing))
        head = f"This server was not started. It comes from {origin} and needs your consent:"
        if len(missing) > 1:
            head = f"These servers were not started. They come from {origin} and need your consent:"
        damage = [damage] if (damage := self._store.damage()) else []
        raise UsageError("\n".join((head, *lines, *damage, CONSENT_STEP)))

    def refuse(self, spec: ServerSpec) -> None:
        """Record that a server was not started because there was no user to ask."""
        self._record(spec, launch_of(spec), allowed=False, by=BY_NOBODY)

    def _record(self, spec: ServerSpec, launch: Launch, *, allowed: bool, by: str) -> None:
        key = f"{launch.digest()} {allowed} {by}"
        if by in (BY_FLAG, BY_NOBODY) and key in self._told:
            return
        self._told.add(key)
        self.decisions.add(decision_of(spec.name, launch, allowed=allowed, by=by))


def require_consent(spec: ServerSpec, *, trust: bool) -> None:
    """Raise UsageError if a server needs consent, for commands without a runtime. Blocks."""
    with closing(StoredDecisions(decisions_file())) as decisions:
        RunConsent.over_file(Refuser, decisions, trust=trust).require([spec])


def _sourced(path: Path, env: Mapping[str, str]) -> Iterator[ServerSpec]:
    """Yield the usable servers of a configuration file, each with its source."""
    from tui.settings.config_file import ConfigFile
    from tui.settings.load import load
    from tui.settings.specs import server_specs

    loaded = load(path, env, required=True)
    source = ConfigFile(str(path), env).source
    if not loaded.readable:
        raise ConfigError(str(loaded.problems[0]))
    for spec in server_specs(loaded) if loaded.names_servers else ():
        yield replace(spec, source=source) if source else spec


def missing_consents(path: Path, env: Mapping[str, str]) -> list[tuple[ServerSpec, list[str]]]:
    """Return the servers of a file that need consent, each with the changes since it was last given.

    Blocks. Raises ConfigError if the file cannot be read.
    """
    store = StoredConsents(consents_file())
    return [
        (spec, store.changes(spec.name, spec.source, launch))
        for spec in _sourced(path, env)
        if spec.source and not is_sample(spec) and not store.has((launch := launch_of(spec)).digest())
    ]


def agree(path: Path, server: str, env: Mapping[str, str], *, by: str, expected: Launch | None = None) -> str:
    """Store consent for a server of a file, if it needs any; return why that failed, or "". Blocks.

    `expected` is what was shown. Consent does not cover a server that has changed since.
    """
    try:
        spec = next((one for one in _sourced(path, env) if one.name == server), None)
        if spec is None:
            return f"the configuration of {quoted_name(server)} is not complete."
        if not spec.source or is_sample(spec):
            return ""
        launch = launch_of(spec)
        if expected is not None and expected.digest() != launch.digest():
            return f"{quoted_name(server)} has changed in the meantime."
        StoredConsents(consents_file()).add(spec.name, spec.source, launch)
        with closing(StoredDecisions(decisions_file())) as decisions:
            decisions.add(decision_of(spec.name, launch, allowed=True, by=by))
    except (McptuiError, OSError) as error:
        return str(error)
    return ""


def refuse(name: str, launch: Launch, decisions: DecisionLog) -> None:
    """Store and record that the user refused a server or a model; `name` is that of the question.

    Blocks. If it cannot be written, it applies until mcptui exits.
    """
    decisions.add(decision_of(name, launch, allowed=False, by=BY_KEY))
    try:
        StoredConsents(consents_file()).refuse(launch.digest())
    except (McptuiError, OSError) as error:
        _log.warning("cannot save the answer about %s: %s", name, error)


def damaged_answers() -> str:
    """Return why earlier answers cannot be read, or "". Blocks."""
    return StoredConsents(consents_file()).damage()


def refused_at(launch: Launch) -> int:
    """Return when the user refused it, in seconds since the epoch; 0 for never. Blocks."""
    return StoredConsents(consents_file()).refused(launch.digest())


def decision_of(name: str, launch: Launch, *, allowed: bool, by: str) -> DecisionRecord:
    """Return the record of the decision about a server or a model; `name` is that of the question."""
    subject = "use" if launch.is_model else "connect" if launch.url else "start"
    digest, asked = launch.digest()[:16], by == BY_KEY
    return DecisionRecord(DecisionKind.CONSENT, name, subject, allowed, by, USER, asked=asked, digest=digest)


CONSENT_STEP = (
    "If you trust all of this, add --trust-config for this run. To review each server and save your answers, "
    "run mcptui config trust, with the same --config if you gave one."
)


def described(spec: ServerSpec) -> list[str]:
    """Return the text of the question about a server for a refusal: what would run, and its risks."""
    lines = (clean_line(spec.name, 64), *consent_question(spec, launch_of(spec)).lines()[1:])
    return [f"  {one if len(one) <= MAX_COMMAND else one[: MAX_COMMAND - 1] + '…'}" for one in lines]


def _quick_to_search(launches: Mapping[str, Launch]) -> set[str]:
    """Return the names of servers that may fit on a screen together, and are quick to search."""
    found, left = set(), MAX_ON_SCREEN
    for name, launch in launches.items():
        if launch.length <= left:
            found.add(name)
            left -= launch.length
    return found


def launch_of(spec: ServerSpec) -> Launch:
    """Return what a start of the server would run now."""
    launch = Launch.of(spec, _program)
    return replace(launch, links=dict(_links(spec, launch.program)))


def _links(spec: ServerSpec, program: str) -> Iterator[tuple[str, str]]:
    """Yield the symbolic links that determine what a server runs, each with its place and target."""
    if not spec.command:
        return
    folder = spec.starts_in or os.getcwd()
    places = [("program", program), ("cwd", spec.cwd or "")]
    for number, word in enumerate(spec.args):
        path = os.path.join(folder, word)
        if "\0" not in word and len(word) < MAX_PATH and os.path.isfile(path):
            places.append((f"args.{number}", path))
    for place, path in places:
        if path and (real := os.path.realpath(path)) != os.path.abspath(path):
            yield place, real


def _program(spec: ServerSpec) -> str:
    """Return the path of the program that a start of the server would find, or ""."""
    command = os.path.expanduser(spec.command)
    if "\0" in command:
        return ""
    if os.sep in command:
        path = os.path.normpath(os.path.join(spec.starts_in or os.getcwd(), command))
        return path if os.path.isfile(path) else ""
    return find_program(command, {**os.environ, **spec.env}) or ""


def is_sample(spec: ServerSpec) -> bool:
    """Return whether a server is a shipped sample, by its path, not its name."""
    if spec.command != sys.executable or len(spec.args) != 1 or spec.cwd or spec.url:
        return False
    try:
        known = default_servers()
        servers = os.path.dirname(os.path.realpath(known[0].args[0]))
        script = os.path.realpath(spec.args[0])
    except (OSError, ValueError):
        return False
    if os.path.dirname(script) != servers:
        return False
    return not spec.env or any(one.args == (spec.args[0],) and one.env == spec.env for one in known)
