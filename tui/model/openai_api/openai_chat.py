"""A model behind an OpenAI-compatible endpoint: sends a request and yields the parts of the reply.

A request is repeated here only if the endpoint's own message says how to change it; for transient failures
see `retry.py`. Such changes are remembered between runs.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from typing import Any, Protocol

from tui.core.conversation.conversation import AssistantMessage
from tui.core.errors import ModelError
from tui.core.language.translate import message
from tui.core.ports import ModelCapabilities, ModelPart, ModelRequest, ReplyPart, RetryPart, Usage
from tui.core.traffic import TrafficSink
from tui.model.endpoints import endpoint_errors as errors
from tui.model.endpoints.endpoint_errors import looks_like_ollama
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile, redactor_of
from tui.model.endpoints.provider_traits import Traits, traits_of
from tui.model.endpoints.providers import is_local
from tui.model.openai_api.accumulator import Accumulator
from tui.model.openai_api.openai_client import EndpointClient
from tui.model.openai_api.reply_stream import ReplyConnection, ReplyRedactor, ReplyStream
from tui.model.openai_api.request import ToolForms, body_for

MAX_ADJUSTMENTS = 8
"""How often one request is changed after a message of the endpoint; each change is remembered."""

_MEDIA = {"image_url": "images", "input_audio": "audio"}


class ReplySource(Protocol):
    """Replies to requests: an endpoint, or what has its recorded replies."""

    async def connect(self) -> None: ...

    async def aclose(self) -> None: ...

    async def retire(self) -> None: ...

    def try_version(self) -> bool: ...

    def reply(self, body: dict[str, Any]) -> AbstractAsyncContextManager[ReplyConnection]: ...


class OpenAIChat:
    """A ChatModel over HTTP. Close it with `aclose()` when it is no longer needed."""

    def __init__(
        self,
        profile: ModelProfile,
        sink: TrafficSink = lambda captured: None,
        learned: Mapping[str, Any] | None = None,
        remember: Callable[[Mapping[str, Any]], object] | None = None,
        client: ReplySource | None = None,
    ) -> None:
        """Open nothing yet. Raises ConfigError for an unusable address or key.

        `learned` is what `remember` got last; it must not raise, and may block for a moment. `client` replies
        in place of the endpoint.
        """
        self.label, self.notice = profile.model, ""
        self._profile = profile
        self._client = EndpointClient(profile, sink) if client is None else client
        self.connect, self.aclose = self._client.connect, self._client.aclose
        self.retire = self._client.retire
        self._redactor = redactor_of(profile)
        self._save = remember
        self.learned = Learned.from_json(learned)
        self._forms = ToolForms()
        self._warned = ("", "")
        self._is_blind = False

    @property
    def traits(self) -> Traits:
        known = self.learned.applied(traits_of(self._profile.base_url, self._profile.model))
        return replace(known, images=False) if self._is_blind else known

    @property
    def capabilities(self) -> ModelCapabilities:
        return ModelCapabilities(self.traits.max_tools, self.learned.tool_marks, self.learned.facts)

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        """Send no more images if the endpoint says that the model does not accept them."""
        self._is_blind |= images is False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        self.learned.begin()
        before = self.learned.about_tools()
        for attempt in range(1, MAX_ADJUSTMENTS + 1):
            body = body_for(self._profile, request, self.learned, self._forms, self.traits)
            shown = opened = False
            try:
                async with self._client.reply(body) as connection:
                    opened = True
                    async with aclosing(self._reply(request, connection)) as parts:
                        async for part in parts:
                            shown = True
                            yield part
                return
            except ModelError as error:
                # Without tools in the request, text tools would not help.
                error.no_tools &= "tools" in body
                had_tools = not self.learned.no_tools
                reason = "" if shown else await self._learn(error, body, request, refused=not opened)
                if had_tools and self.learned.no_tools and not error.no_tools:
                    error.no_tools, error.retryable = True, False
                    raise
                if not reason or attempt == MAX_ADJUSTMENTS:
                    if error.status in (400, 422) and before != self.learned.about_tools():
                        for name, value in before.items():  # what was learned did not help
                            setattr(self.learned, name, value)
                        await self._remember()
                    raise
            yield RetryPart(attempt, MAX_ADJUSTMENTS, 0.0, reason)

    async def _reply(self, request: ModelRequest, connection: ReplyConnection) -> AsyncGenerator[ModelPart]:
        names = [tool.name for tool in request.tools]
        first = self.learned.thinking_first and not request.verbatim
        accumulator = Accumulator(names, thinking_first=first, verbatim=request.verbatim)
        parts = ReplyStream(self._profile, connection, accumulator).parts()
        clear = ReplyRedactor(self._redactor)
        try:
            async for part in parts:
                for shown in clear.take(part):
                    yield self._finished(shown, request) if isinstance(shown, ReplyPart) else shown
        except ModelError:
            for shown in clear.rest(broken=True):
                yield shown
            raise
        finally:
            self.learned.thinking_first = accumulator.opens(self.learned.thinking_first)
            if clear.replaced:
                connection.withhold()
            await parts.aclose()

    def _finished(self, reply: ReplyPart, request: ModelRequest) -> ReplyPart:
        """Return the end of a reply, with property names as the servers know them, and with warnings."""
        calls = tuple(self._forms.renamed(call, back=True) for call in reply.calls)
        sent = replace(request, tools=self._forms.offered(request, self.traits, self.learned))
        warnings = (
            truncation_warning(self._profile, sent, reply.usage),
            self._forms.left_out(request.tools, self.learned),
        )
        # Each warning is shown once, until its reason is gone.
        fresh = [new for new, old in zip(warnings, self._warned, strict=True) if new and not old]
        self._warned = warnings
        return replace(reply, calls=calls, warning=" ".join(fresh))

    async def _learn(
        self, error: ModelError, body: dict[str, Any], request: ModelRequest, *, refused: bool
    ) -> str:
        """Learn from a rejection what to send instead; return what was changed, or "".

        `refused`: there was no reply, so the address may be wrong.
        """
        if isinstance(error, errors.NotAStream):
            again = self._client.try_version()
            return message("{problem}. Retrying with /v1.", problem=error.message) if again else ""
        status, words = error.status or 0, error.said or error.message
        if refused and errors.is_missing_path(status, words) and self._client.try_version():
            return message("Not found. Retrying with /v1.")
        if error.overflow:
            return ""
        before = self.learned.to_json()
        tools = self._forms.offered(request, self.traits, self.learned)
        keys = [self._forms.key(tool) for tool in tools]
        sent = [name for name in sent_kinds(body) if name not in self._profile.extra_body]
        name = self.traits.max_tokens_name
        limit = None if name in self._profile.extra_body else body.get(name, 0)
        reason = self.learned.take_refusal(status, words, sent, keys, self.traits, limit)
        if self.learned.to_json() != before:
            await self._remember()
        return reason

    async def _remember(self) -> None:
        if self._save is not None:
            await asyncio.to_thread(self._save, self.learned.to_json())


def sent_kinds(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a request's fields, and the kinds of its content that an endpoint may reject."""
    yield from (name for name, value in body.items() if value is not False)
    kinds = set(_content_kinds(body["messages"]))
    yield from kinds
    if "system text" in kinds and "results" not in kinds:
        yield "system text alone"
    answer = body.get("response_format")
    if isinstance(answer, Mapping) and answer.get("type") == "json_schema":
        yield "answer schema"
    if answer and body.get("tools"):
        yield "format with tools"


def _content_kinds(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the kinds of content in messages that an endpoint may reject."""
    before = ""
    for one in messages:
        if one["role"] == "system":
            yield "system text"
        elif one["role"] == "tool":
            yield "results"
        elif before == "tool" and one["role"] == "user":
            yield "user behind result"
        before = one["role"]
        parts = one["content"]
        for part in parts if isinstance(parts, list) else ():
            if "cache_control" in part:
                yield "cache_control"
            if part.get("type") in _MEDIA:
                yield _MEDIA[part["type"]]


LEAST_TOKENS = 1_500
"""Smaller requests are not compared."""

ASCII, OTHER = 0.2, 0.35
"""Tokens per character, in ASCII and in other text, that every tokenizer exceeds without repetitions."""

MARGIN = 0.8

_RUNS = re.compile(r"([\W_])\1{2,}")


def truncation_warning(profile: ModelProfile, request: ModelRequest, usage: Usage | None) -> str:
    """Return a warning if the endpoint counted fewer tokens than the prompt must have, or "".

    Ollama's /v1 has its own window, 4,096 tokens by default, and silently drops the beginning if the prompt
    does not fit: system text and tools first.
    """
    if usage is None or usage.estimated or usage.prompt <= 0 or not is_local(profile.base_url):
        return ""
    texts = list(_texts(request))
    if sum(map(_least_tokens, texts)) * MARGIN <= usage.prompt:  # nearly all requests
        return ""
    least = int(sum(_least_tokens(_RUNS.sub(r"\1", text)) for text in texts))
    if least < LEAST_TOKENS or usage.prompt >= least * MARGIN:
        return ""
    seen = message(
        "The endpoint appears to truncate the prompt ({prompt:,} of at least {least:,} tokens read)",
        prompt=usage.prompt,
        least=least,
    )
    # a common size with room for a reply
    window = min(max(8_192, 1 << (least * 2 - 1).bit_length()), 1_048_576)
    if looks_like_ollama(profile):
        return message(
            "{seen}. Start Ollama with OLLAMA_CONTEXT_LENGTH={window}, or set `PARAMETER num_ctx "
            "{window}` in a Modelfile.",
            seen=seen,
            window=window,
        )
    return message("{seen}. Raise its context size to {window:,} tokens.", seen=seen, window=window)


def _least_tokens(text: str) -> float:
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return plain * ASCII + (len(text) - plain) * OTHER


def _texts(request: ModelRequest) -> Iterator[str]:
    yield request.system
    for one in request.messages:
        yield one.text
        if isinstance(one, AssistantMessage):
            yield from (call.arguments for call in one.calls)
    for tool in request.tools:
        yield from (tool.name, tool.description, str(tool.schema))
