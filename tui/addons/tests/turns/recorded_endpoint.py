"""Replies to the requests of one turn with those of a recorded turn, in place of the model's endpoint.

Everything else of a model stays: the request is written for the endpoint, and its bytes are read like new
ones. The recording of this run has both, marked with the entry that was replayed.
"""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
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
    changed_words,
    other_names,
    recorded_turns,
    renamed,
)
from tui.commands.recordings import open_entries
from tui.core.errors import ModelError
from tui.core.ports import ChatModel, Clock
from tui.core.traffic import CAUSE, Captured, Direction, Entry, Kind, TrafficSink
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.reply_stream import ReplyConnection

RECORD_AGAIN = "Record again: mcptui test FILE --record FILE.mcptrace"
BODY_BYTES = 16 * 1024 * 1024
REPLY_SECONDS = 60.0

_exchange_numbers = itertools.count(1)


class RecordedEndpoint:
    """The endpoint of a recorded turn. `notes` says what has changed since, in sentences.

    Recorded tools have the names that they have now, also if their server has another one.
    """

    def __init__(self, turn: RecordedTurn, sink: TrafficSink) -> None:
        self._turn = turn
        self._sink = sink
        self._place = 0
        self._history: int | None = None
        self._names: Mapping[str, str] | None = None
        self.notes: list[str] = []

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
        """Return the recorded exchange for a request, its reply with the names of now. Raises ModelError."""
        prompt = Prompt.of(body, self._history)
        if self._names is None:
            self._names = other_names(self._turn.exchanges[0].prompt.tools, prompt.tools)
        if self._names:
            then = {now: name for name, now in self._names.items()}
            prompt = Prompt.of(json.loads(renamed(json.dumps(body), then)), self._history)
        self._history = prompt.history
        place = self._turn.find(prompt, self._place)
        if place is None:
            raise ModelError(self._why_none(prompt), next_step=RECORD_AGAIN)
        self._place = place + 1
        exchange = self._turn.exchanges[place]
        if self._names:
            reply = renamed(exchange.reply.decode("utf-8", "surrogateescape"), self._names)
            exchange = replace(exchange, reply=reply.encode("utf-8", "surrogateescape"))
        if place == 0 and (note := changed_words(exchange.prompt.changed_tools(prompt))):
            self.notes.append(note)
        return exchange

    def _why_none(self, prompt: Prompt) -> str:
        step = len(prompt.said) + 1
        if len(prompt.said) <= max(len(one.prompt.said) for one in self._turn.exchanges):
            return f"the recording has no reply to step {step}: the calls before it are different now"
        return f"the recording has no reply to step {step}: it ends before"

    def _tell(self, kind: Kind, raw: bytes, detail: Mapping[str, Any]) -> None:
        direction = Direction.OUT if kind is Kind.MODEL_REQUEST else Direction.IN
        now, at = time.monotonic_ns(), time.time_ns()
        source = f"{PREFIX}{self._turn.model}"
        self._sink(Captured(source, direction, now, at, raw, kind, -1, CAUSE.get(), detail))


async def _block(reply: bytes) -> AsyncGenerator[bytes]:
    yield reply


def recorded_chat(
    endpoint: RecordedEndpoint, profile: ModelProfile, clock: Clock, *, native: bool
) -> ChatModel:
    """Return a model that replies from a recorded turn; not `native` if it was not sent tools."""
    from tui.model.dialects.text_tools import wrap
    from tui.model.openai_api.openai_chat import OpenAIChat

    chat = OpenAIChat(profile, client=endpoint)
    return wrap(chat, profile.tool_protocol, clock, where=profile.name, no_tools=not native)


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
