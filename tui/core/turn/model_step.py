"""One model request: the reply as it arrives, its calls made safe to store and to run."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.context.context_meter import RequestTokens
from tui.core.conversation.conversation import AssistantMessage, CallRequest
from tui.core.errors import ModelError
from tui.core.events import Emit
from tui.core.jsonrpc.reader import loads
from tui.core.language.translate import message, sentences
from tui.core.ports import (
    ChatModel,
    Clock,
    ModelRequest,
    ReasoningPart,
    ReplyPart,
    TextPart,
    Usage,
)

ONLY_REASONING = message("The model wrote its answer only as reasoning.")


@dataclass(slots=True)
class Reply:
    """The reply of one step so far; filled while it streams, so that its text survives a break.

    `request` is the one that it answers, None before it was sent, and `tokens` what it cost so far.
    `seconds` is how long it took, `thought` how much of that the model was thinking.
    """

    request: ModelRequest | None = None
    tokens: RequestTokens = field(default_factory=RequestTokens)
    calls: tuple[CallRequest, ...] = ()
    finish: str = ""
    usage: Usage | None = None
    echo: Mapping[str, Any] | None = None
    warning: str = ""
    seconds: float = 0.0
    thought: float = 0.0
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _thinks_since: int | None = None

    @property
    def text(self) -> str:
        return _joined(self._text)

    @property
    def reasoning(self) -> str:
        return _joined(self._reasoning)

    def say_instead(self, thought: str) -> None:
        self._reasoning.clear()
        self._text.append(thought)
        self.echo = None
        self.warning = sentences(self.warning, ONLY_REASONING)

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.calls)

    def thinks(self, now_ns: int, thinking: bool = True) -> None:
        if thinking:
            self._thinks_since = now_ns if self._thinks_since is None else self._thinks_since
        elif self._thinks_since is not None:
            self.thought += (now_ns - self._thinks_since) / 1e9
            self._thinks_since = None

    def message(self, model: str, partial: bool) -> AssistantMessage:
        return AssistantMessage(
            text=self.text,
            reasoning=self.reasoning,
            calls=tuple(map(storable, self.calls)),
            model=model,
            echo=self.echo,
            partial=partial,
            seconds=self.seconds,
            thought=self.thought,
            usage=self.usage,
        )

    def usage_so_far(self, estimated: Callable[[ModelRequest], int]) -> Usage | None:
        """Return what the reply cost so far, or None if no request was sent, or if it was refused."""
        return None if self.request is None else self.tokens.usage(self.request, estimated)


def _joined(pieces: list[str]) -> str:
    if len(pieces) > 1:
        pieces[:] = ["".join(pieces)]
    return pieces[0] if pieces else ""


async def think(
    model: ChatModel, request: ModelRequest, step: int, reply: Reply, emit: Emit, clock: Clock
) -> None:
    """Send `request`, fill `reply`, also where the model raises ModelError, and emit its parts."""
    reply.request, reply.tokens = request, RequestTokens()
    parts = model.stream(request)
    try:
        async for part in parts:
            reply.tokens.take(part)
            match part:
                case TextPart(text):
                    reply.thinks(clock.now_ns(), False)
                    reply._text.append(text)
                case ReasoningPart(text, replaces_text):
                    if replaces_text:  # the visible text so far was thinking
                        reply._text.clear()
                    reply._reasoning.append(text)
                    reply.thinks(clock.now_ns())
                case ReplyPart():
                    _finish(reply, part, step, emit)
                    continue
            emit(replace(part, step=step))
    except ModelError as error:
        reply.tokens.failed(error)
        raise
    finally:
        reply.thinks(clock.now_ns(), False)
        await parts.aclose()


def _finish(reply: Reply, part: ReplyPart, step: int, emit: Emit) -> None:
    if part.refusal and not reply.text:
        reply._text.append(part.refusal)
        emit(TextPart(part.refusal, step=step))
    reply.calls = part.calls
    reply.finish = part.finish
    reply.usage = part.usage
    reply.echo = part.echo
    reply.warning = part.warning


def unique_calls(calls: tuple[CallRequest, ...], used: Collection[str]) -> tuple[CallRequest, ...]:
    """Return `calls` with ids that no earlier call has; unique ids stay as the provider gave them.

    New ids are hashes, so the same history gives the same ids.
    """
    taken: set[str] = set()
    result: list[CallRequest] = []
    for call in calls:
        number = 0
        fresh = call.id
        while not fresh or fresh in used or fresh in taken:
            number += 1
            seed = f"{call.id}\0{len(used) + len(taken)}\0{number}".encode("utf-8", "replace")
            fresh = "call_" + hashlib.sha256(seed).hexdigest()[:12]
        taken.add(fresh)
        result.append(call if fresh == call.id else replace(call, id=fresh))
    return tuple(result)


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the arguments that a model wrote as JSON text; empty text means no arguments.

    Raises ValueError if it is not one JSON object, or has NaN, Infinity or a number out of range.
    """
    if not text.strip():
        return {}
    try:
        value = loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got a JSON {type(value).__name__}")
    return value


def storable(call: CallRequest) -> CallRequest:
    """Return `call` as the history may contain it.

    Arguments that are not a JSON object would make some providers refuse every later request, so the history
    has `{}` for them; the model reads its own text in the error.
    """
    try:
        parse_arguments(call.arguments)
    except ValueError:
        return replace(call, arguments="{}")
    return call if call.arguments.strip() else replace(call, arguments="{}")


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A JSON Schema for the answer. `problem` returns why the text of an answer does not match it, or ""."""

    schema: Mapping[str, Any]
    problem: Callable[[str], Awaitable[str]]

    @property
    def instruction(self) -> str:
        """The instruction for the system text, for endpoints that accept no schema."""
        schema = json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))
        return (
            "Give your final answer as one JSON value that matches this JSON Schema, without any other text "
            f"and without a code fence:\n{schema}"
        )

    @staticmethod
    def correction(problem: str) -> str:
        return (
            f"Your answer does not match the JSON Schema: {problem}. "
            "Answer again with the corrected JSON value only."
        )
