"""Wraps models without function calling, and models whose calls leak into their text."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from importlib.resources import files

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import ConfigError, ModelError
from tui.core.ports import (
    CallPart,
    ChatModel,
    Clock,
    ModelCapabilities,
    ModelPart,
    ModelRequest,
    ReasoningPart,
    ReplyPart,
    RetryPart,
    TextPart,
    ToolSpec,
)
from tui.core.text import quoted_name
from tui.model.dialects import json_object, react, xml
from tui.model.dialects.call_maker import (
    UNNAMED,
    CallMaker,
    OfferedTools,
    apart,
    calls_of_generation,
    repaired,
    sample,
)
from tui.model.dialects.dialect_parser import DialectParser, Piece
from tui.model.dialects.json_object import CHATMCP_STOP, ChatMcpParser, JsonParser, written_chatmcp
from tui.model.dialects.leaked_calls import LeakParser
from tui.model.dialects.xml import ANSWER, XmlParser
from tui.model.openai_api import think_tags
from tui.model.openai_api.accumulator import CUT
from tui.model.retry import retried


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing calls as text.

    `stop` are texts that end a call, so that the endpoint can stop there. `written` formats a call of a tool
    with arguments as JSON text, `observed` a result. `prompt` names the file that explains the dialect to the
    model. `apart`: calls name server and tool separately instead of using the qualified name.
    """

    name: str
    stop: tuple[str, ...]
    parser: Callable[[CallMaker], DialectParser]
    written: Callable[[ToolSpec, str], str]
    observed: Callable[[ToolMessage], str]
    prompt: str
    apart: bool = False

    def system(self, system: str, tools: Sequence[ToolSpec]) -> str:
        text = (files("tui.model.dialects") / self.prompt).read_text(encoding="utf-8")
        first = max(tools, key=lambda tool: bool(sample(tool)))
        example = self.written(first, json.dumps(sample(first), ensure_ascii=False))
        told = "\n".join(map(self._lines, tools))
        head, _, tail = text.partition("{tools}")
        text = head.replace("{example}", example) + told + tail
        return f"{system.rstrip()}\n\n{text}" if system.strip() else text

    def as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Message]:
        """Return a history with calls and results as text, in which user and assistant alternate.

        Many templates of local models reject two successive messages with the same role.
        """
        offered = OfferedTools(tools)
        result: list[Message] = []
        for message in messages:
            match message:
                case ToolMessage():
                    _append(result, UserMessage(self.observed(message), message.attachments))
                case AssistantMessage(calls=calls):
                    parts = [message.text.strip()]
                    for call in calls:  # its tool may no longer exist
                        server, _, tool = call.name.rpartition("__")
                        found = offered.find(call.name) or ToolSpec(call.name, "", {}, server, tool)
                        parts.append(self.written(found, call.arguments.strip() or "{}"))
                    _append(result, replace(message, text="\n\n".join(filter(None, parts)), calls=()))
                case UserMessage():
                    _append(result, message)
        return result

    def _lines(self, tool: ToolSpec) -> str:
        server, name = apart(tool) if self.apart else ("", tool.name)
        schema = json.dumps(tool.schema, ensure_ascii=False, separators=(",", ":"))
        said = " ".join(tool.description.split())
        return f"- {f'{name} (server {server})' if server else name}: {said}\n  {schema}"


def _append(messages: list[Message], message: Message) -> None:
    """Append a message; join it to the last one if both have the same role."""
    last = messages[-1] if messages else None
    if isinstance(last, UserMessage) and isinstance(message, UserMessage):
        text = "\n\n".join(filter(None, (last.text, message.text)))
        messages[-1] = UserMessage(text, (*last.attachments, *message.attachments))
    elif isinstance(last, AssistantMessage) and isinstance(message, AssistantMessage):
        messages[-1] = replace(message, text="\n\n".join(filter(None, (last.text, message.text))))
    else:
        messages.append(message)


def _tagged(message: ToolMessage) -> str:
    """Return a result between tags; no tag in its text can close them."""
    text = message.text.replace("</tool_result", "<\\/tool_result")
    status = ' status="error"' if message.is_error else ""
    return f'<tool_result name="{message.name}"{status}>\n{text}\n</tool_result>'


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("xml", xml.STOP, xml.XmlParser, xml.written, _tagged, "xml.txt", apart=True),
        Dialect("chatmcp", CHATMCP_STOP, ChatMcpParser, written_chatmcp, _tagged, "chatmcp.txt", apart=True),
        Dialect("json", (), JsonParser, json_object.written, _tagged, "json_object.txt"),
        Dialect("react", react.STOP, react.ReactParser, react.written, react.observed, "react.txt"),
    )
}
"""The dialects by their names in `tool_protocol`."""

PROTOCOLS = ("auto", "native", *DIALECTS)
"""The values of `tool_protocol`."""

FALLBACK = DIALECTS["xml"]
"""The dialect for a model whose endpoint says that it has no function calling."""


def wrap(
    model: ChatModel, protocol: str, clock: Clock | None = None, *, where: str = "", no_tools: bool = False
) -> ChatModel:
    """Return a model that accepts and makes native calls, whatever `model` supports.

    `protocol` is the profile's `tool_protocol`, `where` its name for error messages. With a `clock`,
    transient failures are retried. `no_tools`: its endpoint is known to say that it has no function calling.
    Raises ConfigError if there is no such protocol.
    """
    if protocol == "auto":
        return ToolCalls(model, FALLBACK if no_tools else None, FALLBACK, clock)
    if protocol in PROTOCOLS:
        return ToolCalls(model, DIALECTS.get(protocol), clock=clock)
    names = ", ".join(map(quoted_name, PROTOCOLS[:-1]))
    raise ConfigError(
        f"tool_protocol {quoted_name(protocol, 40)} is not known",
        where=where,
        next_step=f"Use {names} or {quoted_name(PROTOCOLS[-1])}.",
    )


class ReplyReader:
    """Parses the text of a reply.

    `dialect` is the one that the model was told to use; None for native calls. `within`: the text is the
    thinking of a reply. `opened`: replies of this model begin with thinking, without the opening tag.

    Thinking between tags is taken out before the dialect's parser sees the text, because models use thinking
    tags in any dialect. A closing tag without an opening one, outside code and calls, means that everything
    before it was thinking, including calls.
    """

    def __init__(
        self, maker: CallMaker, dialect: Dialect | None = None, *, within: bool = False, opened: bool = False
    ) -> None:
        self._within = within
        self._maker = maker
        self._dialect = dialect
        self._tags = think_tags.ThinkTags(opened=opened, is_code=self._is_code)
        self._parser = dialect.parser(maker) if dialect else None
        self._pieces: list[Piece] = []
        self._leaks = LeakParser(maker)
        self._thinking: list[str] = []
        self._begun = False
        self._marked = False
        """Whether a leading byte order mark was handled; some servers let one through."""
        self.calls: list[CallRequest] = []
        """The calls found so far."""

    @property
    def over(self) -> bool:
        return self._parser is not None and self._parser.over

    def opens(self, before: bool) -> bool:
        """Return whether replies begin with thinking, judged by this one; `before` if it does not show."""
        return (before or self._tags.close_only) and not self._tags.never_closed

    def _written(
        self, pieces: Iterable[think_tags.Part], *, end: bool = False, cut: bool = False
    ) -> list[Piece]:
        """Return the pieces of text in a dialect; `end`: it ends here."""
        assert self._parser is not None and self._dialect is not None
        for piece in pieces:
            if isinstance(piece, TextPart):
                self._pieces.extend(self._parser.feed(piece.text))
                continue
            if piece.replaces_text:
                self._parser = self._dialect.parser(self._maker)
            self._parser.visible.block()
            self._pieces.append(piece)
        found, self._pieces = self._pieces, []
        return found + (self._parser.end(cut=cut) if end else [])

    def _is_code(self) -> bool:
        """Whether the parser takes the next text for code, or for a part of a call."""
        assert self._parser is not None
        self._pieces.extend(self._parser.settle())
        return self._parser.busy or self._parser.in_code or self._parser.over

    def part(self, part: ModelPart) -> list[ModelPart]:
        match part:
            case TextPart(text):
                text = text if self._marked else text.removeprefix("\ufeff")
                self._marked = self._marked or bool(part.text)
                pieces = self._written(self._tags.feed(text)) if self._parser else [TextPart(text)]
                return self._sorted(pieces)
            case ReasoningPart():
                return self._sorted([part])
            case CallPart():  # a proper call, so the text contains none
                self._leaks.give_up()
        return [part]

    def end(self, *, cut: bool, called: bool = False, spoken: bool = False) -> list[ModelPart]:
        """Return the parts held back; `cut`: the endpoint truncated the reply.

        `called`: the model made proper calls. `spoken`: the reply has more than its text, so its thinking is
        not searched.
        """
        if called:
            self._leaks.give_up()
        parts = self._sorted(self._written(self._tags.finish(), end=True, cut=cut) if self._parser else [])
        if self.calls:
            self._leaks.give_up()
        parts += self._sorted(self._leaks.end(cut=cut), searched=True)
        if not (self.calls or self._leaks.visible.shown or cut or spoken or self._within):
            parts.extend(self._thought_of())
        return parts

    def _sorted(self, pieces: Sequence[Piece], *, searched: bool = False) -> list[ModelPart]:
        """Return the parts for pieces, whose text was or was not `searched` for leaks; calls are stored."""
        parts: list[ModelPart] = []
        for piece in pieces:
            if isinstance(piece, TextPart) and not searched:
                self._begun = True
                parts.extend(self._sorted(self._leaks.feed(piece.text), searched=True))
            elif isinstance(piece, CallRequest):
                self.calls.append(piece)
            else:
                if isinstance(piece, ReasoningPart):
                    self._thought(piece)
                parts.append(piece)
        return parts

    def _thought(self, piece: ReasoningPart) -> None:
        if piece.replaces_text:  # all text so far was thinking, and so were the calls in it
            self.calls.clear()
            self._thinking.clear()
            self._leaks = LeakParser(self._maker)
            self._begun = False
        self._thinking.append(piece.text)
        if not self._begun:
            self._leaks.visible.code.hidden()

    def _thought_of(self) -> list[ModelPart]:
        """Find the calls, or else the answer, in the thinking of a reply that has nothing else.

        This is for a model that did not close its thinking. An answer is found only if the dialect marks
        answers.
        """
        text = "".join(self._thinking)
        inner = ReplyReader(self._maker, self._dialect, within=True)
        inner.part(TextPart(text))
        inner.end(cut=False)
        sound = [call for call in inner.calls if not (call.truncated or call.problem)]
        known = [call for call in sound if self._maker.offered.named(call.name)]
        self.calls.extend(replace(call, recovered=True) for call in known)
        mark = text.find(ANSWER)
        if known or mark < 0 or self._dialect is None or self._dialect.parser is not XmlParser:
            return []
        answer = ReplyReader(self._maker, self._dialect, within=True)
        parts = answer.part(TextPart(text[mark:]))
        return [part for part in parts + answer.end(cut=False) if isinstance(part, TextPart)]


UNREADABLE_ATTEMPTS = 3
"""Attempts with a model whose calls neither its endpoint nor mcptui can parse."""

OVER_SECONDS = 2.0
OVER_SIZE = 4_096
"""Seconds and characters for which a finished reply is still read for its token count."""


class ToolCalls:
    """A model whose calls are found in what it writes, and repaired.

    Without a `dialect`, it has function calling, and calls that leaked into its text are found at the end.
    With one, it reads its tools in the system text, and writes its calls as text. `fallback` is the dialect
    that is used once its endpoint says that it has no function calling. With a `clock`, transient failures
    are retried.
    """

    def __init__(
        self,
        model: ChatModel,
        dialect: Dialect | None,
        fallback: Dialect | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._model = model
        self._dialect = dialect
        self._fallback = fallback
        self._clock = clock
        self._opened = False
        self.label, self.notice = model.label, model.notice
        self.connect, self.aclose, self.retire = model.connect, model.aclose, model.retire

    @property
    def capabilities(self) -> ModelCapabilities:
        return self._model.capabilities

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        if tools is False:
            self._dialect = self._dialect or self._fallback
        self._model.restrict(tools=tools, images=images)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        while True:
            try:
                async with aclosing(self._replies(request)) as parts:
                    async for part in parts:
                        yield part
                return
            except ModelError as error:
                if not error.no_tools or self._dialect is not None or self._fallback is None:
                    raise
                reason = error.message.rstrip(".")
            self._dialect = self._fallback
            yield RetryPart(1, 1, 0.0, f"{reason}. Retrying with tools as text ({self._dialect.name}).")

    def _sent(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        model, clock = self._model, self._clock
        return model.stream(request) if clock is None else retried(model, request, clock)

    def _replies(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        dialect, tools = self._dialect, request.tools
        said = (message for message in request.messages if isinstance(message, AssistantMessage))
        used = {call.id for message in said for call in message.calls}
        if dialect is None:
            offered = OfferedTools(tools)
            return self._attempts(request, lambda: ReplyReader(CallMaker(offered, used=used)), tools)
        if not (tools or used):  # the dialect is not used, so nothing is parsed in it
            return self._sent(request)
        asked = replace(
            request,
            system=dialect.system(request.system, tools) if tools else request.system,
            messages=dialect.as_text(request.messages, tools),
            tools=(),
            stop=dialect.stop,
            verbatim=True,
            best=(),
            must_call=False,
            answer_schema=None if tools else request.answer_schema,
        )

        def reading() -> ReplyReader:
            maker = CallMaker(OfferedTools(tools), dialect.written, used)
            return ReplyReader(maker, dialect, opened=self._opened)

        return self._attempts(asked, reading, tools)

    async def _attempts(
        self, request: ModelRequest, reading: Callable[[], ReplyReader], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelPart]:
        """Yield the parts of a reply; where the endpoint failed to parse a call, find it or ask again.

        `reading` returns a new reader for each attempt; calls may be of `tools`.
        """
        for attempt in range(1, UNREADABLE_ATTEMPTS + 1):
            shown, reader = False, reading()
            try:
                async with aclosing(_read(self._sent(request), reader, tools)) as parts:
                    async for part in parts:
                        shown = shown or not isinstance(part, RetryPart)
                        if isinstance(part, ReplyPart) and part.finish not in CUT:
                            self._opened = reader.opens(self._opened)
                        yield part
                return
            except ModelError as error:
                found = _rescued(error.generation, reading(), tools)
                if not (found or shown) and error.generation and request.answer_schema is not None:
                    # an answer that the endpoint found invalid
                    found = [TextPart(error.generation), ReplyPart()]
                if found:
                    for part in found:
                        yield part
                    return
                if shown or not (error.generation and error.retryable) or attempt == UNREADABLE_ATTEMPTS:
                    raise
                reason = error.message
            yield RetryPart(attempt + 1, UNREADABLE_ATTEMPTS, 0.0, reason)


def _rescued(text: str, reading: ReplyReader, tools: Sequence[ToolSpec]) -> list[ModelPart]:
    """Return a text that an endpoint failed to parse as the last parts of a reply; [] without valid calls."""
    if not text:
        return []
    parts = [*reading.part(TextPart(text)), *reading.end(cut=False)]
    calls = tuple(reading.calls)
    if not calls:
        parts, calls = [], calls_of_generation(text, tools)
    if not calls or any(call.truncated or call.problem for call in calls):
        return []
    return [*parts, ReplyPart(repaired(calls, tools), "tool_calls")]


async def _read(
    parts: AsyncGenerator[ModelPart], reading: ReplyReader, tools: Sequence[ToolSpec]
) -> AsyncGenerator[ModelPart]:
    """Yield the parts of a reply, with its calls found by `reading`.

    After the end of a reply in its dialect, reading continues briefly, because the token count comes last.
    """
    loop = asyncio.get_running_loop()
    deadline, left, reply = 0.0, OVER_SIZE, ReplyPart()
    async with aclosing(parts) as given:
        try:
            async for part in given:
                if isinstance(part, ReplyPart):
                    reply = part
                    break
                for found in reading.part(part):
                    yield found
                if not reading.over:
                    continue
                deadline = deadline or loop.time() + OVER_SECONDS
                left -= len(part.text) if isinstance(part, TextPart) else 0
                if left < 0 or loop.time() > deadline:
                    break
        except ModelError:
            for found in reading.end(cut=True):
                yield found
            raise
    for found in _ended(reading, reply, tools):
        yield found


def _ended(reading: ReplyReader, reply: ReplyPart, tools: Sequence[ToolSpec]) -> list[ModelPart]:
    parts = reading.end(cut=reply.finish in CUT, called=bool(reply.calls), spoken=bool(reply.refusal))
    if reply.calls:
        return [*parts, replace(reply, calls=repaired(reply.calls, tools))]
    names = ("" if one.name == UNNAMED else f" of {one.name}" for one in reading.calls if one.truncated)
    told = "The model started a call{} as text and was cut off. The call was not run."
    warning = " ".join(filter(None, (reply.warning, *map(told.format, names))))
    return [*parts, replace(reply, calls=repaired(reading.calls, tools), warning=warning)]
