"""Consent for the servers and models of this run: the user's own and the samples need none."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.errors import McptuiError, UsageError
from tui.core.language.translate import message
from tui.core.permission.consent import (
    MAX_ON_SCREEN,
    ConsentGate,
    ConsentQuestion,
    ConsentsQuestion,
    fitting,
    question_of,
)
from tui.core.permission.launch import Launch
from tui.core.ports import BY_DEFAULT, BY_KEY, USER, DecisionKind, DecisionLog, DecisionRecord
from tui.core.questions import Action, QuestionAnswer, Questioner
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name, truncated
from tui.runtime.permission.subjects import launch_of, model_subject, server_subject, subjects_of
from tui.settings.state.permission.stored_consents import StoredConsents, Subject
from tui.settings.state.permission.stored_decisions import StoredDecisions

if TYPE_CHECKING:
    from tui.settings.load import Loaded

BY_FLAG = "option --trust-config"
BY_NOBODY = f"{BY_DEFAULT} (no screen to ask on)"
MAX_COMMAND = 2000
LOOKED_THROUGH = 4_000
"""Maximum characters of a server that are searched at once; more in a thread, so that keys keep working."""

ONE_BY_ONE = QuestionAnswer(Action.CANCEL, each=True)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    """A pending question, and the number of starts that wait for its answer."""

    task: asyncio.Task[bool]
    starts: int = 0


class SharedQuestion:
    """One question about several servers of one source. Withdrawn servers are removed from it."""

    def __init__(
        self,
        questions: Sequence[ConsentQuestion],
        subjects: Mapping[str, Subject],
        questioner: Questioner,
    ) -> None:
        self.subjects = subjects
        self._questions = {one.server: one for one in questions}
        self._questioner = questioner
        self._asking: asyncio.Task[QuestionAnswer] | None = None

    async def answer(self, server: str) -> QuestionAnswer:
        """Wait for the answer; a server that asks after it was given gets a question of its own."""
        asking = self._asking
        if asking is not None and asking.done() and not asking.cancelled():
            return ONE_BY_ONE
        try:
            while True:
                if self._asking is None or self._asking.cancelled():
                    self._asking = asyncio.create_task(self._ask())
                asking = self._asking
                await asyncio.wait({asking})
                if not asking.cancelled():
                    return asking.result()
        except asyncio.CancelledError:
            self.leave(server)
            raise

    def leave(self, server: str) -> None:
        """Withdraw the question about a server. The others that wait ask again."""
        if self._questions.pop(server, None) is not None and self._asking is not None:
            self._asking.cancel()

    async def _ask(self) -> QuestionAnswer:
        if len(self._questions) < 2:
            return ONE_BY_ONE
        return await self._questioner.ask(ConsentsQuestion(list(self._questions.values())))


class RunConsent(ConsentGate):
    """Asks once for each server, one question at a time.

    Models need the same consent. Belongs to the event loop. `trust`: the command line gives consent.
    """

    def __init__(
        self,
        questioner: Questioner,
        decisions: DecisionLog,
        store: StoredConsents | None = None,
        *,
        trust: bool = False,
    ) -> None:
        self.questioner = questioner
        self.decisions = decisions
        self.trust = trust
        self._store = store or StoredConsents()
        self._agreed: set[str] = set()
        self._waiting: dict[str, _Waiting] = {}
        self._shared: dict[str, SharedQuestion] = {}
        self._told: set[str] = set()
        self._models = asyncio.Lock()

    def allows(self, spec: ServerSpec) -> bool:
        return self.has(server_subject(spec))

    def has(self, subject: Subject | None) -> bool:
        """Return whether there is consent, or none is needed."""
        if subject is None:
            return True
        if self.trust:
            self._record(subject, allowed=True, by=BY_FLAG)
            return True
        return subject.digest in self._agreed or self._store.has(subject.digest)

    def refuses(self, spec: ServerSpec) -> bool:
        return self.refused(server_subject(spec))

    def refused(self, subject: Subject | None) -> bool:
        """Return whether the user declined it as it is now."""
        return subject is not None and not self.has(subject) and bool(self._store.refused_at(subject))

    async def ask_model(self, subject: Subject | None) -> bool:
        """Ask for consent to a model that needs it, one at a time; return whether the user just gave it.

        Raises ConfigError or OSError if it cannot be written.
        """
        async with self._models:
            if subject is None or self.has(subject):
                return False
            action = await self._asked(subject)
            if action is Action.ACCEPT:
                self._record(subject, allowed=True, by=BY_KEY)
                await asyncio.to_thread(self._store.add, subject)
            elif action is Action.DECLINE:
                await self._answered(subject, is_yes=False)
            return action is Action.ACCEPT

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
        asked = [spec for spec in specs if spec.name not in self._waiting and not self.allows(spec)]
        subjects = list(filter(None, map(server_subject, asked)))
        for source in dict.fromkeys(one.source for one in subjects):
            short = [one for one in subjects if one.source == source and one.launch.length <= MAX_ON_SCREEN]
            questions = fitting(question_about(one, self._store) for one in short)
            if len(questions) > 1:
                shared = SharedQuestion(questions, {one.name: one for one in short}, self.questioner)
                self._shared |= {one.server: shared for one in questions}

    async def _ask(self, spec: ServerSpec) -> bool:
        if (shared := self._shared.pop(spec.name, None)) is not None:
            answer = await shared.answer(spec.name)
            is_yes = answer.action is Action.ACCEPT
            if answer.action is not Action.CANCEL:
                await self._answered(shared.subjects[spec.name], is_yes=is_yes)
            if not (is_yes or answer.each):
                return False
        # Asks again if something has changed since the question was shown, such as a link.
        while (subject := server_subject(spec)) is not None and not self.has(subject):
            action = await self._asked(subject)
            if action is not Action.CANCEL:
                await self._answered(subject, is_yes=action is Action.ACCEPT)
            if action is not Action.ACCEPT:
                return False
        return True

    async def _asked(self, subject: Subject) -> Action:
        if subject.launch.length <= LOOKED_THROUGH:
            question = question_about(subject, self._store)
        else:
            question = await asyncio.to_thread(question_about, subject, self._store)
        return (await self.questioner.ask(question)).action

    async def _answered(self, subject: Subject, *, is_yes: bool) -> None:
        self._record(subject, allowed=is_yes, by=BY_KEY)
        await self._stored(subject, is_yes=is_yes)

    async def _stored(self, subject: Subject, *, is_yes: bool) -> None:
        """Store an answer. If that fails, a consent lasts until mcptui exits."""
        if is_yes:
            self._agreed.add(subject.digest)
        try:
            await asyncio.to_thread(self._store.add if is_yes else self._store.refuse, subject)
        except (McptuiError, OSError) as error:
            _log.warning("cannot save the answer about %s: %s", subject.name, error)

    async def keep(self, spec: ServerSpec) -> None:
        """Store consent for a server that the user has typed."""
        if (subject := server_subject(spec)) is not None:
            await self._stored(subject, is_yes=True)

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
        if (subject := server_subject(spec)) is not None:
            self._record(subject, allowed=False, by=BY_NOBODY)

    def _record(self, subject: Subject, *, allowed: bool, by: str) -> None:
        key = f"{subject.digest} {allowed} {by}"
        if by not in (BY_FLAG, BY_NOBODY) or key not in self._told:
            self.decisions.add(decision_of(subject, allowed=allowed, by=by))
        self._told.add(key)


def require_consent(spec: ServerSpec, *, trust: bool) -> None:
    """Raise UsageError if a server needs consent, for commands without a runtime. Blocks."""
    with closing(StoredDecisions()) as decisions:
        RunConsent(Questioner(), decisions, trust=trust).require([spec])


def missing_consents(path: Path, env: Mapping[str, str]) -> list[tuple[Subject, ConsentQuestion]]:
    """Return the servers and models of a file that need consent, each with its question.

    Blocks. Raises ConfigError if the file cannot be read.
    """
    store = StoredConsents()
    subjects = (one for one in subjects_of(path, env) if not store.has(one.digest))
    return [(one, question_about(one, store)) for one in subjects]


def agree(path: Path, name: str, env: Mapping[str, str], *, by: str, expected: Launch | None = None) -> str:
    """Store consent for a server or model of a file, if it needs any; return why that failed, or "". Blocks.

    `expected` is what was shown. Consent does not cover what has changed since.
    """
    try:
        subject = next((one for one in subjects_of(path, env) if one.name == name), None)
        if expected is not None and (subject is None or expected.digest() != subject.digest):
            return message("{name} has changed in the meantime.", name=quoted_name(name))
    except (McptuiError, OSError) as error:
        return str(error)
    return "" if subject is None else store_answer(subject, allowed=True, by=by)


def store_answer(subject: Subject, *, allowed: bool, by: str) -> str:
    """Store and record an answer; return why it could not be stored, or "". Blocks."""
    store = StoredConsents()
    try:
        (store.add if allowed else store.refuse)(subject)
    except (McptuiError, OSError) as error:
        return str(error)
    with closing(StoredDecisions()) as decisions:
        decisions.add(decision_of(subject, allowed=allowed, by=by))
    return ""


def question_about(subject: Subject, store: StoredConsents) -> ConsentQuestion:
    """Return the question about a server or model, with the changes since the user last agreed."""
    changes = store.changes(subject)
    return question_of(subject.name, subject.source, subject.launch, changes, store.damage())


def blocked(name: str, loaded: "Loaded", env: Mapping[str, str], *, trust: bool) -> str:
    """Return why a model of `loaded` may not be used, or "". Reads a small file."""
    if trust or (subject := model_subject(name, loaded, env)) is None:
        return ""
    store = StoredConsents()
    if store.has(subject.digest):
        return ""
    why = message("this model comes from {source} and needs your consent", source=loaded.source)
    damage = store.damage().removesuffix(".")
    return message("{why}. {more}", why=why, more=damage) if damage else why


def decision_of(subject: Subject, *, allowed: bool, by: str) -> DecisionRecord:
    """Return the record of the decision about a server or a model."""
    launch = subject.launch
    what = "use" if launch.is_model else "connect" if launch.url else "start"
    digest, asked = subject.digest[:16], by == BY_KEY
    return DecisionRecord(
        DecisionKind.CONSENT, subject.name, what, allowed, by, USER, asked=asked, digest=digest
    )


CONSENT_STEP = (
    "If you trust all of this, add --trust-config for this run. To review each server and save your answers, "
    "run mcptui config trust (for another file, with --config FILE)."
)


def described(spec: ServerSpec) -> list[str]:
    """Return the text of the question about a server for a refusal: what would run, and its risks."""
    question = question_of(spec.name, spec.source, launch_of(spec))
    lines = (clean_line(spec.name, 64), *question.lines()[1:])
    return [f"  {truncated(one, MAX_COMMAND)}" for one in lines]
