"""Conversations over HTTP with an endpoint that refuses whatever real providers refuse."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.endpoint import Endpoint, Reply
from tests.media import image
from tests.strict import FLAVOURS, Strict, check
from tests.unit.core.stand_ins import FunctionToolbox, HandClock, ScriptedApprover, text
from tests.unit.runtime.stage import Around, request_of
from tui.core.context.compaction import sent_messages
from tui.core.conversation.conversation import Attachment, Message, UserMessage, sanitised
from tui.core.events import EndReason, Event, TurnEnded
from tui.core.ports import ChatModel, ModelRequest
from tui.core.secrets.redact import Redactor
from tui.core.tools import ToolResult
from tui.model.dialects.text_tools import DIALECTS
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.request import body_for
from tui.runtime.active_model import ActiveModel
from tui.runtime.conversations import Conversations
from tui.runtime.options import Options
from tui.runtime.turn import PendingTurn
from tui.settings.load import load_text
from tui.storage.sessions.store import SessionStore

Watch = Callable[[Event, PendingTurn], None]


class StrictStage:
    """One run of the program: real conversations, client and files, with fake tools and time."""

    def __init__(self, folder: Path, endpoint: Endpoint, strict: Strict) -> None:
        self.endpoint, self.strict = endpoint, strict
        self.clock = HandClock()
        self.asked = ActiveModel(Options(), {}, self.clock, lambda captured: None, lambda name, value: None)
        self.around = Around()
        self.around.host.toolbox = FunctionToolbox(
            echo=echo, large=large, fails=fails, waits=waits, draws=draws
        )
        self.store = SessionStore(folder, Redactor)
        request = request_of(folder, self.asked, self.around, wanted=False)
        self.conversations = Conversations(self.asked, self.around, request, self.store)
        self.events: list[Event] = []

    async def begin(self) -> None:
        lines = [
            f'[models.{name}]\nbase_url = "{self.endpoint.base_url}"\nmodel = "{model}"'
            for name, model in FLAVOURS.items()
        ]
        loaded = load_text('default_model = "openai"\n' + "\n".join(lines), Path("config.toml"), {})
        await self.asked.begin(loaded)
        assert self.asked.error is None

    @property
    def model(self) -> ChatModel:
        return self.asked.model

    async def narrow(self, window: int) -> None:
        """Set the context window of the active model, whatever it reports itself."""
        assert self.asked.profile is not None
        self.asked.profile = replace(self.asked.profile, context_window=window)
        await until(lambda: not self.asked._working.running)
        self.asked.context_meter.window = window

    async def ask(
        self,
        question: str,
        *replies: Reply,
        approver: ScriptedApprover | None = None,
        attachments: tuple[Attachment, ...] = (),
        watch: Watch = lambda event, turn: None,
    ) -> TurnEnded:
        """Ask, and return how the turn ended. `watch` is called with each event and the turn."""
        self.strict.then(*replies)
        turn = self.conversations.ask(question, approver or ScriptedApprover(), attachments)
        self.events = []
        async for event in turn.events():
            self.events.append(event)
            watch(event, turn)
        last = self.events[-1]
        assert isinstance(last, TurnEnded)
        return last

    async def goes_on(self, what: str = "") -> None:
        """Check that the next question is answered, and that no provider would have refused the request."""
        self.strict.forget()
        asked = [
            *sent_messages(self.conversations.messages, self.conversations.compaction),
            UserMessage("and now?"),
        ]
        for model in FLAVOURS.values():
            profile = ModelProfile("any", "http://127.0.0.1/v1", model)
            body = body_for(profile, ModelRequest("", in_text(asked, model)), Learned())
            if (
                model != self.asked.label
            ):  # its own replies are sent back to it with its own signatures, see below
                check(body)
        ended = await self.ask("and now?")
        self.blameless()
        assert ended.reason is EndReason.ANSWERED, (what, self.events)

    def blameless(self) -> None:
        assert not self.strict.refused, self.strict.refused[0]


def cancels(kind: type[Event], number: int = 1) -> Watch:
    """Return a function that cancels a turn at the `number`th event of a kind."""
    left = number

    def watch(event: Event, turn: PendingTurn) -> None:
        nonlocal left
        left -= isinstance(event, kind)
        if not left and isinstance(event, kind):
            turn.cancel()

    return watch


@asynccontextmanager
async def strict_stage(folder: Path, *, pages: Any = None) -> AsyncIterator[StrictStage]:
    """Yield a stage and close it at the end. Local model servers on this machine are ignored."""
    strict = Strict()
    async with Endpoint([strict], pages=pages) as endpoint:
        stage = StrictStage(folder, endpoint, strict)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tui.model.endpoints.listing.candidates", lambda env: [])
            await stage.begin()
            try:
                yield stage
            finally:
                await stage.conversations.close()


def in_text(messages: Sequence[Message], model: str) -> Sequence[Message]:
    """Return messages as sent to a model, as text if it has no function calling."""
    return DIALECTS["xml"].as_text(sanitised(messages), ()) if model == FLAVOURS["template"] else messages


async def echo(arguments: Any) -> ToolResult:
    return text(f"echo {arguments.get('text', '')}")


async def large(arguments: Any) -> ToolResult:
    return text("\n".join(f"line {number} of many" for number in range(4000)))


async def fails(arguments: Any) -> ToolResult:
    return text("it failed", is_error=True)


async def waits(arguments: Any) -> ToolResult:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("nobody ends it")


async def draws(arguments: Any) -> ToolResult:
    return ToolResult((image(),))
