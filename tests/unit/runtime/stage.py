"""Conversations of one run of the program, with the model and servers of a test."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.scripted_model import Reply, ScriptedModel
from tests.unit.core.stand_ins import FunctionToolbox, HandClock, ScriptedApprover, policy_of
from tui.core.events import Event, TurnEnded
from tui.core.permission.approval_policy import Mode
from tui.core.ports import Undecided
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerStatus
from tui.core.turn.limits import Limits
from tui.host.host import Host
from tui.host.server.host_context import HostContext
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.active_model import ActiveModel
from tui.runtime.configuration import Configuration
from tui.runtime.conversations import Conversations
from tui.runtime.options import Options
from tui.runtime.permission.consent import RunConsent
from tui.runtime.recording import RunRecording
from tui.runtime.request_context import RequestContext
from tui.runtime.turn import TurnContext
from tui.settings.config_file import ConfigFile
from tui.settings.load import Loaded
from tui.settings.state.project_file import ProjectFile
from tui.storage.sessions.store import SessionStore


def configuration_of(
    path: Path,
    *,
    env: Mapping[str, str] | None = None,
    options: Options | None = None,
    take_over: Callable[[Loaded], None] = lambda loaded: None,
) -> Configuration:
    """Return a configuration over a file that is not read yet, without servers."""

    async def follow_model(loaded: Loaded) -> Sequence[str]:
        return ()

    return Configuration(
        ConfigFile(str(path), env or {}, trust=options is not None and options.trust_config),
        options or Options(disabled_too=True),
        Redactor(),
        host=Host((), HostContext(lambda *_: None)),
        trusted=lambda spec: spec,
        take_over=take_over,
        follow_model=follow_model,
    )


class Servers:
    """The tools, states and instructions of servers that a test sets."""

    def __init__(self) -> None:
        self.toolbox = FunctionToolbox()
        self.model_resources = None
        self.servers: list[ServerStatus] = []
        self.told: dict[str, str] = {}
        self.revision = 0

    def statuses(self) -> Sequence[ServerStatus]:
        return self.servers

    def instructions(self) -> Mapping[str, str]:
        return self.told

    async def closed(self, server: str) -> None:
        await asyncio.Event().wait()


class Around(TurnContext):
    """The servers, limits and clock of a test; `seen` are the events of its turns."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        super().__init__(
            Servers(),
            policy_of(mode=Mode.ALL),
            Limits(),
            HandClock(),
            Redactor(),
            Undecided(),
            self.seen.append,
            RunRecording(Redactor),
        )


def active(
    consent: RunConsent | None = None,
    env: Mapping[str, str] | None = None,
    redactor: Redactor | None = None,
    **options: Any,
) -> ActiveModel:
    """Return an active model that has not chosen one yet."""
    redactor = redactor or Redactor()
    return ActiveModel(Options(**options), env or {}, HandClock(), lambda captured: None, redactor, consent)


def request_of(folder: Path, asked: ActiveModel, around: Around, **more: bool) -> RequestContext:
    return RequestContext(ProjectFile(folder / "answers.json", always=True), asked, around, **more)


class Stage:
    """Conversations of one run of the program, with a scripted model."""

    def __init__(self, folder: Path, *replies: Reply, profile: ModelProfile | None = None) -> None:
        self.model = ScriptedModel(replies)
        self.asked = active()
        self.asked._model, self.asked.profile = self.model, profile
        self.around = Around()
        self.request = request_of(folder, self.asked, self.around, wanted=False)
        store = SessionStore(folder, Redactor)
        self.conversations = Conversations(self.asked, self.around, self.request, store)

    async def ask(self, text: str) -> TurnEnded:
        events = [event async for event in self.conversations.ask(text, ScriptedApprover()).events()]
        assert isinstance(events[-1], TurnEnded)
        return events[-1]

    async def reopen(self) -> None:
        """Leave the conversation on screen, and open it again."""
        session = self.conversations.info
        assert session is not None
        await self.conversations.new()
        await self.conversations.resume(session.id)

    async def next_run(self, other: "Stage") -> "Stage":
        """End, and continue the conversation in another run."""
        session = self.conversations.info
        assert session is not None
        await self.conversations.close()
        await other.conversations.resume(session.id)
        return other


Make = Callable[..., Stage]


def texts(messages: Sequence[object]) -> list[str]:
    return [getattr(message, "text", "") for message in messages]
