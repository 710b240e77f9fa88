"""The models that turn cases are run with: profiles, the active one, the demo, or those of a recording."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.recorded_endpoint import (
    RECORD_AGAIN,
    RecordedEndpoint,
    recorded_chat,
    recorded_profile,
)
from tui.addons.tests.turns.recorded_turns import RecordedTurns
from tui.core.background import Tasks
from tui.core.errors import McptuiError, UsageError, sentences
from tui.core.ports import ChatModel, MonotonicClock, Usage
from tui.core.text import clean_line
from tui.core.units import plural
from tui.model.endpoints.listing import Ability, ability_of
from tui.model.endpoints.profile import DEMO, ModelProfile
from tui.runtime.active_model import ActiveModel
from tui.runtime.profiles import import_model
from tui.runtime.runtime import Runtime

NO_MODEL = "no model: set up a profile, or use --demo"
CLOSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class NoModel:
    """Why a case cannot be run with a model. `is_skipped` if it names none, and there is none."""

    name: str
    problem: str
    is_skipped: bool = False


@dataclass(slots=True)
class CaseModel:
    """A model that answers a case: behind its endpoint, the demo, or one whose recorded turns are replayed.

    Attributes:
        profile: None for the demo.
        chat: returns what answers a run, counted from 0.
        window: tokens of its context window, None if unknown.
        runs: the number of runs that are possible, None for any.
        notes: sentences about the runs so far.
    """

    name: str
    profile: ModelProfile | None
    chat: Callable[[int], ChatModel]
    window: int | None = None
    runs: int | None = None
    notes: list[str] = field(default_factory=list)

    def cost_of(self, usage: Usage) -> float | None:
        """Return the cost of a request; the demo costs nothing."""
        return 0.0 if self.profile is None else self.profile.cost_of(usage)


class CaseModels:
    """Finds the models of a case, and closes them at the end.

    A model that the command line names replaces those of all cases. With `replay`, recorded models reply
    instead of their endpoints.
    """

    def __init__(self, runtime: Runtime, *, replay: RecordedTurns | None = None) -> None:
        self._runtime = runtime
        self._chosen = runtime.chosen_model
        self._replay = replay
        self._live: dict[str, CaseModel | NoModel] = {}
        self._closing = Tasks()

    async def of(self, case: TurnCase) -> Sequence[CaseModel | NoModel]:
        """Return the models of a case."""
        named = (self._chosen,) if self._chosen else tuple(dict.fromkeys(case.models))
        if (recorded := self._replay) is not None:
            there = (one for one in recorded.models if recorded.of(one, case.question))
            return [await self._replayed(one, case, recorded) for one in named or tuple(there) or ("",)]
        return [await self._found(name) for name in named or ("",)]

    async def close(self) -> None:
        for model in self._live.values():
            if isinstance(model, CaseModel):
                self._closing.start(model.chat(0).aclose(), "closing a model")
        await self._closing.settled(CLOSE_SECONDS)

    @cached_property
    def _active(self) -> ActiveModel:
        return self._runtime.conversations.active_model

    async def _found(self, name: str) -> CaseModel | NoModel:
        if name not in self._live:
            try:
                self._live[name] = await self._made(name)
            except McptuiError as error:
                problem = sentences(str(error), "")
                self._live[name] = NoModel(name, problem, is_skipped=isinstance(error, _NoModelError))
        return self._live[name]

    async def _made(self, name: str) -> CaseModel:
        """Return the model of a profile, "" for the active one. Raises McptuiError."""
        await self._begin()
        profile = await self._active.named(name) if name else self._wanted()
        if profile is not None and profile.lacks_key:
            raise UsageError(profile.lacks_key) if name else _NoModelError(f"no model: {profile.lacks_key}")
        await asyncio.to_thread(import_model, profile)
        chat = self._active.made(profile)
        await chat.connect()
        ability = await ability_of(profile) if profile is not None else Ability()
        chat.restrict(tools=ability.tools, images=ability.images)
        window = (profile.context_window if profile is not None else None) or ability.window
        return CaseModel(profile.name if profile is not None else DEMO, profile, lambda _: chat, window)

    async def _begin(self) -> None:
        """Have the runtime choose its model, and know all profiles."""
        active, loaded = self._active, self._runtime.configuration.loaded
        if not active.label and active.error is None and loaded is not None:
            await active.begin(loaded)

    def _wanted(self) -> ModelProfile | None:
        if self._active.error is not None:
            raise self._active.error
        if self._active.profile is None:
            raise _NoModelError(NO_MODEL)
        return self._active.profile

    async def _replayed(self, name: str, case: TurnCase, recorded: RecordedTurns) -> CaseModel | NoModel:
        turns = recorded.of(name, case.question)
        if not turns:
            why = recorded.why_none(clean_line(name, 60))
            return NoModel(name, sentences(why, RECORD_AGAIN))
        profile = await self._configured(name) or recorded_profile(turns[0])
        notes, clock, is_native = list[str](), MonotonicClock(), recorded.native(name)
        if len(turns) < case.runs:
            notes.append(f"the recording has {plural(len(turns), 'run')} of {case.runs}")

        def chat(run: int) -> ChatModel:
            endpoint = RecordedEndpoint(turns[run], self._runtime.traffic, notes)
            return recorded_chat(endpoint, profile, clock, native=is_native)

        return CaseModel(name, profile, chat, runs=len(turns), notes=notes)

    async def _configured(self, name: str) -> ModelProfile | None:
        """Return the profile of this name, which has prices and a dialect, if there is one."""
        loaded = self._runtime.configuration.loaded
        if loaded is None or name not in loaded.settings.models:
            return None
        await self._begin()
        with suppress(McptuiError):
            return await self._active.named(name, locked=True)
        return None


async def require_model(runtime: Runtime, replay: RecordedTurns | None = None) -> None:
    """Raise why the model that the command line names cannot be used: UsageError or ConfigError."""
    if not (name := runtime.chosen_model) or name == DEMO:
        return
    if replay is not None:
        if name not in replay.models:
            raise UsageError(f"{replay.why_none(clean_line(name, 60))}.", where="--model")
        return
    active, loaded = runtime.conversations.active_model, runtime.configuration.loaded
    if loaded is not None:
        await active.begin(loaded)
    await active.named(name, locked=True)


class _NoModelError(McptuiError):
    """There is no model, and the case names none."""
