"""A model that follows a script, for tests and for replaying a recorded conversation."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass

from tui.core.conversation.conversation import CallRequest
from tui.core.errors import ModelError
from tui.core.ports import (
    MAX_TOOLS,
    CallPart,
    ModelCapabilities,
    ModelPart,
    ModelRequest,
    ReplyPart,
    TextPart,
)


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause in a script, in seconds; `Wait(None)` waits until it is cancelled."""

    seconds: float | None


ScriptItem = ModelPart | Wait | Exception
Reply = Sequence[ScriptItem]
"""The reply to one request: parts in order, pauses, and at most one exception, which is raised."""


def says(text: str, *, pieces: int = 1) -> Reply:
    """Return a reply with `text`, split into `pieces` of about equal size."""
    size = max(1, -(-len(text) // pieces))
    parts = [TextPart(text[at : at + size]) for at in range(0, len(text), size)]
    return [*parts, ReplyPart()]


def calls(*requests: CallRequest, text: str = "") -> Reply:
    """Return a reply that makes calls after an optional text."""
    said = [TextPart(text)] if text else []
    forming = [CallPart(request.name, len(request.arguments)) for request in requests]
    return [*said, *forming, ReplyPart(calls=requests, finish="tool_calls")]


class ScriptedModel:
    """A ChatModel that plays one reply per request and records the requests.

    Attributes:
        requests: every request, in order.
        closed: number of streams that ended early (cancelled or closed).
        max_tools: number of tools that it accepts in one request.
    """

    def __init__(
        self,
        replies: Iterable[Reply | Callable[[ModelRequest], Reply]],
        *,
        label: str = "scripted",
        notice: str = "",
    ) -> None:
        self._replies = iter(replies)
        self.label, self.notice = label, notice
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self.max_tools = MAX_TOOLS

    @property
    def capabilities(self) -> ModelCapabilities:
        """The capabilities, with `max_tools`."""
        return ModelCapabilities(self.max_tools)

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        """Do nothing."""

    async def connect(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""

    async def retire(self) -> None:
        """Do nothing."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Play the next reply.

        Raises:
            ModelError: the script has no more replies, or contains this error.
        """
        self.requests.append(request)
        reply = next(self._replies, None)
        if reply is None:
            raise ModelError("the script has no more replies", where=self.label)
        finished = False
        try:
            for item in reply(request) if callable(reply) else reply:
                match item:
                    case Wait(seconds=None):
                        await asyncio.get_running_loop().create_future()
                    case Wait(seconds=float() | int() as seconds):
                        await asyncio.sleep(seconds)
                    case Exception():
                        finished = True
                        raise item
                    case Wait():
                        raise TypeError("a Wait takes seconds or None")
                    case _:
                        finished = isinstance(item, ReplyPart)
                        yield item
            finished = True
        finally:
            self.closed += not finished
