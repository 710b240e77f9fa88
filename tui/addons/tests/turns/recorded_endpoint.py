"""Replies to the requests of one turn with those of a recorded turn, in place of the model's endpoint.

Everything else of a model stays: the request is written for the endpoint, and its bytes are read like new
ones. The recording of this run has both, marked with the entry that was replayed.
"""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.addons.tests.turns.recorded_turns import (
    PREFIX,
    Exchange,
    Prompt,
    RecordedMessage,
    RecordedTurn,
    RecordedTurns,
    ToolName,
    changed_words,
    recorded_names,
    recorded_turns,
)
from tui.commands.recordings import open_entries
from tui.core.conversation.conversation import AssistantMessage, CallRequest, Message, ToolMessage
from tui.core.errors import ModelError
from tui.core.ports import (
    CallPart,
    ChatModel,
    Clock,
    ModelCapabilities,
    ModelPart,
    ModelRequest,
    ReplyPart,
    ToolSpec,
)
from tui.core.traffic import CAUSE, Captured, Direction, Entry, Kind, TrafficSink
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.reply_stream import ReplyConnection

RECORD_AGAIN = "Record again: mcptui test FILE --record FILE.mcptrace"
BODY_BYTES = 16 * 1024 * 1024
REPLY_SECONDS = 60.0

_exchange_numbers = itertools.count(1)


class RecordedEndpoint:
    """The endpoint of a recorded turn. It adds to `notes` what has changed since, in sentences."""

    def __init__(self, turn: RecordedTurn, sink: TrafficSink, notes: list[str]) -> None:
        self.turn = turn
        self._sink = sink
        self._place = 0
        self._history: int | None = None
        self.notes = notes

    async def connect(self) -> None:
        """Need no connection."""

    async def aclose(self) -> None:
        """Have nothing to close."""

    async def retire(self) -> None:
        """Have nothing to close."""

    def try_version(self) -> bool:
        """Know no other address."""
        return False

    @asynccontextmanager
    async def reply(self, body: dict[str, Any]) -> AsyncGenerator[ReplyConnection]:
        """Yield the recorded reply to a request. Raises ModelError if there is none."""
        exchange = self._next(body)
        mark = {"exchange": next(_exchange_numbers), "replayed": exchange.seq}
        asked = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        self._tell(Kind.MODEL_REQUEST, asked, mark | {"http": "POST", "url": exchange.url})
        deadline = asyncio.get_running_loop().time() + REPLY_SECONDS
        try:
            yield ReplyConnection(_block(exchange.reply), exchange.content_type, deadline, ())
        finally:
            headers = {"content-type": exchange.content_type}
            self._tell(Kind.MODEL_REPLY, exchange.reply, mark | {"status": 200, "headers": headers})

    def _next(self, body: dict[str, Any]) -> Exchange:
        """Return the recorded exchange for a request. Raises ModelError if there is none."""
        prompt = Prompt.of(body, self._history)
        self._history = prompt.history
        place = self.turn.find(prompt, self._place)
        if place is None:
            raise ModelError(self._why_none(prompt), next_step=RECORD_AGAIN)
        self._place = place + 1
        exchange = self.turn.exchanges[place]
        if place == 0 and (note := changed_words(exchange.prompt.changed_tools(prompt))):
            self.notes.append(note)
        return exchange

    def _why_none(self, prompt: Prompt) -> str:
        step = len(prompt.said) + 1
        if len(prompt.said) <= max(len(one.prompt.said) for one in self.turn.exchanges):
            return f"the recording has no reply to step {step}: the calls before it are different now"
        return f"the recording has no reply to step {step}: it ends before"

    def _tell(self, kind: Kind, raw: bytes, detail: Mapping[str, Any]) -> None:
        direction = Direction.OUT if kind is Kind.MODEL_REQUEST else Direction.IN
        now, at = time.monotonic_ns(), time.time_ns()
        source = f"{PREFIX}{self.turn.model}"
        self._sink(Captured(source, direction, now, at, raw, kind, -1, CAUSE.get(), detail))


async def _block(reply: bytes) -> AsyncGenerator[bytes]:
    yield reply


class RecordedChat:
    """A model that replies from a recorded turn, in which the server of the tools may have another name."""

    notice = ""

    def __init__(self, chat: ChatModel, recorded: Collection[ToolName]) -> None:
        self._chat = chat
        self._recorded = recorded
        self._names: Mapping[str, ToolName] | None = None
        self.restrict = chat.restrict
        self.connect, self.aclose, self.retire = chat.connect, chat.aclose, chat.retire

    @property
    def label(self) -> str:
        return self._chat.label

    @property
    def capabilities(self) -> ModelCapabilities:
        return self._chat.capabilities

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Yield the recorded reply, with the names that the tools have now."""
        if self._names is None:
            self._names = recorded_names(self._recorded, request.tools)
        then = {name: old for name, (server, old) in self._names.items() if not server}
        now = {old: name for name, old in then.items()}
        asked = replace(
            request,
            messages=[_renamed(message, then) for message in request.messages],
            tools=[self._as_recorded(tool) for tool in request.tools],
        )
        async with aclosing(self._chat.stream(asked)) as parts:
            async for part in parts:
                match part:
                    case CallPart(name):
                        yield replace(part, name=now.get(name, name))
                    case ReplyPart(calls):
                        yield replace(part, calls=_called(calls, now))
                    case _:
                        yield part

    def _as_recorded(self, tool: ToolSpec) -> ToolSpec:
        server, name = (self._names or {}).get(tool.name, (tool.server, tool.name))
        return replace(tool, server=server, name=tool.name if server else name)


def _renamed(message: Message, names: Mapping[str, str]) -> Message:
    match message:
        case AssistantMessage(calls=calls):
            return replace(message, calls=_called(calls, names))
        case ToolMessage(name=name):
            return replace(message, name=names.get(name, name))
    return message


def _called(calls: Sequence[CallRequest], names: Mapping[str, str]) -> tuple[CallRequest, ...]:
    return tuple(replace(call, name=names.get(call.name, call.name)) for call in calls)


def recorded_chat(
    endpoint: RecordedEndpoint, profile: ModelProfile, clock: Clock, *, native: bool
) -> ChatModel:
    """Return a model that replies from a recorded turn; not `native` if it was not sent tools."""
    from tui.model.dialects.text_tools import wrap
    from tui.model.openai_api.openai_chat import OpenAIChat

    chat = OpenAIChat(profile, client=endpoint)
    wrapped = wrap(chat, profile.tool_protocol, clock, where=profile.name, no_tools=not native)
    return RecordedChat(wrapped, endpoint.turn.exchanges[0].prompt.tools)


def recorded_profile(turn: RecordedTurn) -> ModelProfile:
    """Return a profile for a model that is not configured here, from what was recorded about it."""
    first = turn.exchanges[0]
    address = first.url.partition("?")[0].removesuffix("/chat/completions")
    return ModelProfile(turn.model, address, first.prompt.model, source="recording")


def read_turns(path: Path) -> RecordedTurns:
    """Return the turns with models in a recording or a JSON lines export. Blocks.

    Raises StorageError if it cannot be read.
    """
    with open_entries(path) as recording:
        return recorded_turns(
            _message(entry, recording.reader.entry)
            for entry in recording.entries()
            if entry.kind in (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)
        )


def _message(entry: Entry, read: Callable[[int, int], Entry | None]) -> RecordedMessage:
    whole = read(entry.seq, BODY_BYTES)
    if whole is None:
        return RecordedMessage(entry, b"", is_whole=False)
    is_whole = not (whole.sha256 or whole.is_body_lost or len(whole.body) >= BODY_BYTES)
    return RecordedMessage(whole, whole.body, is_whole)
