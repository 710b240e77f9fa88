"""Reads one streamed reply: bytes to events to parts, with timeouts that only data resets.

Keep-alive comments keep a socket active forever, so silence is measured between data events. An endpoint may
quote its key: it is redacted here, where its text enters, so that nothing after that (events, history,
exports, other models, servers) ever contains it.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from tui.core.errors import ModelError, reason_of
from tui.core.jsonrpc.framing import Event, EventCutter
from tui.core.jsonrpc.reader import json_mapping, json_value
from tui.core.language.translate import message
from tui.core.ports import CallPart, ModelPart, ReasoningPart, ReplyPart, RetryPart, TextPart
from tui.core.secrets.encodings import MARK
from tui.core.secrets.redact import PieceRedactor, Redactor
from tui.core.secrets.walk import redacted
from tui.core.text import clean_line
from tui.core.web import media_type
from tui.model.endpoints import endpoint_errors as errors
from tui.model.endpoints.failures import reply_error
from tui.model.endpoints.profile import ModelProfile, redactor_of
from tui.model.openai_api.accumulator import Accumulator

T = TypeVar("T")

MAX_EVENT = 16 * 1024 * 1024
"""Maximum bytes of one event; no chunk of a reply has more."""

HEAD = 4096
"""Bytes kept of the beginning of a response."""


AFTER_FINISH_SECONDS = 3.0
"""How long to wait for the token count after the reply has ended."""

AFTER_DONE_SECONDS = 0.3
"""How long to wait for the end of the response after `[DONE]`; then the connection can be reused."""

MAX_WHOLE_BODY = 16 * 1024 * 1024

PAUSE_SECONDS = 0.05
"""How long new data is held, so that it is passed on together with the data after it.

One token takes as long to read and pass on as several (measured: 0.7 ms of CPU).
"""

PAUSES_FROM = 16
"""Events of a reply before the first pause: short replies, most of them calls, are not delayed."""

AT_ONCE_SECONDS = 0.001
"""A faster read did not wait for data; more may be ready to read."""


@dataclass(frozen=True, slots=True)
class ReplyConnection:
    """An open response; `blocks` are its bytes as they arrive.

    By `deadline`, loop time, the first data must arrive. `broken` are the exceptions that reading raises when
    the connection breaks.
    """

    blocks: AsyncIterator[bytes]
    content_type: str
    deadline: float
    broken: tuple[type[Exception], ...]
    withhold: Callable[[], None] = lambda: None
    """Keeps the bytes out of the recording: they spell a secret in pieces, which redaction would not find."""


class ReplyStream:
    """One reply, from an open response to its last part."""

    def __init__(self, profile: ModelProfile, connection: ReplyConnection, accumulator: Accumulator) -> None:
        self._profile = profile
        self._redactor = redactor_of(profile)
        self._connection = connection
        self._accumulator = accumulator
        self._stream = EventCutter(MAX_EVENT, json_lines=True)
        self._head = b""  # of the body, for the message if it is not an event stream
        self._events = 0
        self._whole: bytearray | None = None
        self._done = False
        self._broke = ""

    async def parts(self) -> AsyncGenerator[ModelPart]:
        """Yield the parts of the reply as they arrive.

        Raises ModelError, after yielding earlier parts, if the stream failed, broke, stalled or was not one.
        """
        try:
            while (events := await self._next()) is not None:
                for part in self._taken(events):
                    yield part
            for part in self._taken(self._rest()):
                yield part
            for part in self._end():
                yield part
        except ModelError as error:
            for part in self._accumulator.kept_back():
                yield part
            if not error.where:
                error.where = errors.endpoint_of(self._profile)
                error.next_step = errors.step_within(self._profile, error)
            raise

    async def _next(self) -> list[str] | None:
        connection = self._connection
        loop = asyncio.get_running_loop()
        first = not self._events
        now = loop.time()
        silent = between = self._profile.between_chunks_seconds
        if self._is_over:
            silent = AFTER_DONE_SECONDS if self._done else min(AFTER_FINISH_SECONDS, between)
        deadline = connection.deadline if first else now + silent
        events: list[str] = []
        try:
            async with asyncio.timeout_at(deadline):
                while not events:
                    block = await anext(connection.blocks, None)
                    if block is None:
                        return None
                    events = self._feed(block)
        except TimeoutError:
            if self._is_over:
                return None
            seconds = self._profile.first_token_seconds if first else between
            raise errors.stall_error(self._profile, seconds, first) from None
        except connection.broken as error:
            # After the end of the reply nothing is lost; before it, the accumulator says what is missing.
            self._broke = self._redactor.redact(reason_of(error, 160))
            return None
        waited = loop.time() - now > AT_ONCE_SECONDS
        if waited and self._events >= PAUSES_FROM and not self._is_over:
            await asyncio.sleep(PAUSE_SECONDS)
        return events

    @property
    def _is_over(self) -> bool:
        return self._done or self._accumulator.finished

    def _feed(self, block: bytes) -> list[str]:
        self._head += block[: max(0, HEAD - len(self._head))]
        events = self._texts(self._stream.feed(block))
        if self._stream.partial > MAX_EVENT:
            raise _too_long()
        json_like = self._head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
        if not self._events and (json_like or "json" in media_type(self._connection.content_type)):
            self._whole = self._whole or bytearray()
            if len(self._whole) + len(block) <= MAX_WHOLE_BODY:
                self._whole += block
        return events

    def _texts(self, events: Iterable[Event]) -> list[str]:
        found = list(events)
        if any(event.size > MAX_EVENT for event in found):
            raise _too_long()
        self._events += len(found)
        return [event.data.decode("utf-8", "replace") for event in found]

    def _rest(self) -> list[str]:
        """Return the rest at the end of the response: a last event, or a whole body that is not a stream.

        A truncated event is dropped: the error is that the stream ended early.
        """
        rest = self._texts(self._stream.close())
        if self._whole and not self._events:
            whole = self._whole.decode("utf-8-sig", "replace")
            if "unexpected endpoint" in whole[:1000].lower():
                raise errors.not_a_stream(self._profile, self._connection.content_type, self._head)
            lines = [line for line in whole.split("\n") if line.strip()]
            return lines if len(lines) > 1 and all(map(_is_json, lines)) else [whole]
        return [event for event in rest if _is_json(event) or not event.lstrip().startswith("{")]

    def _taken(self, events: Iterable[str]) -> Iterator[ModelPart]:
        return joined(part for event in events for part in self._take(event))

    def _take(self, event: str) -> list[ModelPart]:
        if self._done or not event.strip():
            if '"usage"' in event and (late := json_mapping(event)):
                self._accumulator.take_counts(late)
            return []
        # Redact before parsing or truncating anything: quotes in errors, and names.
        whole, event = event, self._redactor.redact_spoken(event)
        if event.strip() == "[DONE]":
            self._done = True
            return []
        if self._accumulator.finished and not _is_json(event):
            return []
        try:
            chunk = _decoded(event)
        except ModelError:
            chunk = _decoded(self._redactor.redact(whole))
        items = chunk if isinstance(chunk, list) else [chunk]
        if any(isinstance(item, Mapping) and reply_error(item) is not None for item in items):
            # An error may quote keys that are ordinary words, too, and its message is truncated.
            items = errors.cleared(items, self._redactor)
        return [part for item in items for part in self._accumulator.feed(item)]

    def _end(self) -> list[ModelPart]:
        if self._broke and not self._accumulator.finished:
            raise ModelError(
                message("connection lost during the reply: {reason}", reason=self._broke),
                next_step=message("Retry."),
                retryable=True,
            )
        head = self._head.lstrip()
        silent = "event-stream" in media_type(self._connection.content_type) and head[:1] in (b"", b":")
        if not (self._events or self._accumulator.begun or silent):
            raise errors.not_a_stream(self._profile, self._connection.content_type, self._head)
        return self._accumulator.finish(ended=self._done)


def _too_long() -> ModelError:
    return ModelError(
        message("an event of the stream exceeds {limit} bytes", limit=MAX_EVENT),
        next_step=message("Retry, or switch to another model."),
    )


def joined(parts: Iterable[T]) -> Iterator[T | TextPart | ReasoningPart]:
    """Yield parts with successive texts joined; an error is raised after the parts before it."""
    pending: T | TextPart | ReasoningPart | None = None
    try:
        for part in parts:
            match pending, part:
                case TextPart(before), TextPart(text):
                    pending = TextPart(before + text)
                case ReasoningPart(before, False), ReasoningPart(text, False):
                    pending = ReasoningPart(before + text)
                case None, _:
                    pending = part
                case _:
                    yield pending
                    pending = part
    except ModelError:
        if pending is not None:
            yield pending
        raise
    if pending is not None:
        yield pending


def _is_json(event: str) -> bool:
    return json_value(event, event) is not event


def _decoded(event: str) -> Any:
    try:
        return json.loads(event)
    except (ValueError, RecursionError) as error:
        kind = "JSONDecodeError" if isinstance(error, ValueError) else "nested too deeply"
        raise ModelError(
            message(
                "the stream contains invalid JSON ({kind}): {event}", kind=kind, event=clean_line(event, 80)
            ),
            next_step=message("Retry. If it happens often, check for a proxy that breaks streams."),
            retryable=True,
        ) from None


# ---- secrets in a reply


class ReplyRedactor:
    """Redacts the parts of one reply, also where the endpoint splits a secret into pieces.

    Text that may be the beginning of a secret is held back until more is known, also from the reasoning to
    the answer. Only whole keys are replaced, and long beginnings at the end of a text: the user may have
    asked for a placeholder such as `sk-proj-...`. `replaced`: the reply held a secret that no single event
    contained.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._pieces = PieceRedactor[TextPart | ReasoningPart](redactor, self._clear)
        self.replaced = False

    def take(self, part: ModelPart) -> Iterator[ModelPart]:
        match part:
            case TextPart() | ReasoningPart():
                yield from self._watch_for_marks(self._pieces.take(part))
            case CallPart():
                yield replace(part, name=self._clear(part.name))
            case ReplyPart():
                yield from self.rest()
                yield self._end(part)
            case RetryPart():
                yield part

    def rest(self, *, broken: bool = False) -> Iterator[ModelPart]:
        """Yield the text held back at the end, without a long beginning of a key.

        If the stream broke, perhaps within a key, a partial quote of a key is replaced too.
        """
        yield from self._watch_for_marks(self._pieces.rest(partial(self._clear, quotes=broken)))

    def _watch_for_marks(self, parts: Iterator[TextPart | ReasoningPart]) -> Iterator[ModelPart]:
        for part in parts:
            self.replaced = self.replaced or MARK in part.text
            yield part

    def _end(self, reply: ReplyPart) -> ReplyPart:
        clear = self._clear
        reply = redacted(reply, clear)
        calls = (replace(call, id=clear(call.id), name=clear(call.name)) for call in reply.calls)
        return replace(reply, calls=tuple(calls))

    def _clear(self, text: str, *, quotes: bool = False) -> str:
        clear = self._redactor.redact_spoken(text, quotes=quotes)
        self.replaced = self.replaced or clear != text
        return clear
