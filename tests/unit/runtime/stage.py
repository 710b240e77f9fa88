"""Conversations of one run of the program, with the model and servers of a test."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.scripted_model import Reply, ScriptedModel
from tests.unit.core.stand_ins import FunctionToolbox, HandClock, ScriptedApprover
from tui.core.events import Event, TurnEnded
from tui.core.permission.approval_policy import Mode, Policy
from tui.core.ports import Approver, Undecided
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerStatus
from tui.core.tools import Tool
from tui.core.turn.limits import Limits
from tui.host.host import Host
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.active_model import ActiveModel
from tui.runtime.configuration import Configuration
from tui.runtime.conversations import Conversations
from tui.runtime.options import Options
from tui.runtime.redaction import RedactedApprover
from tui.runtime.turn import ServersStarting
from tui.settings.config_file import ConfigFile
from tui.settings.load import Loaded
from tui.storage.sessions.store import SessionStore


def configuration_of(
    path: Path,
    host: Callable[[], Host],
    *,
    env: Mapping[str, str] | None = None,
    options: Options | None = None,
    take_over: Callable[[Loaded], None] = lambda loaded: None,
) -> Configuration:
    """Return a configuration over a file that is not read yet."""

    async def follow_model(loaded: Loaded) -> Sequence[str]:
        return ()

    return Configuration(
        ConfigFile(str(path), env or {}, trust=options is not None and options.trust_config),
        options or Options(disabled_too=True),
        Redactor(),
        host=host,
        trusted=lambda spec: spec,
        take_over=take_over,
        follow_model=follow_model,
    )


class Around:
    """The tools, limits and clock of a test."""

    def __init__(self) -> None:
        self.toolbox = FunctionToolbox()
        self.policy = Policy(mode=Mode.ALL)
        self.limits = Limits()
        self.clock = HandClock()
        self.recording_name = lambda: "now.mcptrace"
        self.instructions = lambda: ""
        self.look = lambda: None
        self.resources = None
        self.turned_off = tuple
        self.decisions = Undecided()
        self.redactor = Redactor()
        self.servers: list[ServerStatus] = []
        self.starting = ServersStarting(lambda: self.servers, self.clock)
        self.seen: list[Event] = []

    def offered(self, server: str = "") -> Sequence[Tool]:
        tools = self.toolbox.tools()
        return self.policy.rules.offered([one for one in tools if one.server == server] if server else tools)

    def asking(self, approver: Approver) -> Approver:
        return RedactedApprover(approver, self.redactor)

    def notice(self, event: Event) -> None:
        self.seen.append(event)


class Stage:
    """Conversations of one run of the program, with a scripted model."""

    def __init__(self, folder: Path, *replies: Reply, profile: ModelProfile | None = None) -> None:
        self.model = ScriptedModel(replies)
        self.asked = ActiveModel(Options(), {}, HandClock(), lambda captured: None, lambda name, value: None)
        self.asked._model, self.asked.profile = self.model, profile
        self.around = Around()
        self.conversations = Conversations(self.asked, self.around, SessionStore(folder, Redactor))

    async def ask(self, text: str) -> TurnEnded:
        events = [event async for event in self.conversations.ask(text, ScriptedApprover()).events()]
        assert isinstance(events[-1], TurnEnded)
        return events[-1]


Make = Callable[..., Stage]


def texts(messages: Sequence[object]) -> list[str]:
    return [getattr(message, "text", "") for message in messages]
