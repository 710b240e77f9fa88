"""Sampling: requests from servers, raw, as model requests, and replies of the model as results. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tui.core.attachments import attachment_of_binary, decoded_size
from tui.core.context.context_meter import RequestTokens
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.errors import reason_of
from tui.core.jsonrpc.reader import json_value
from tui.core.ports import ModelPart, ModelRequest, ReasoningPart, ReplyPart, TextPart, ToolSpec
from tui.core.schemas.schemas import SchemaRefused, model_schema, objects, strings
from tui.core.schemas.tool_names import accepted_names
from tui.core.text import clean_line, object_in, text_in, visible
from tui.core.tools import BinaryContent

MAX_MESSAGES = 200
MAX_TOOLS = 64
MAX_STOPS = 4

_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens"})


class BadSampling(Exception):
    """A malformed sampling request: the problem, with its place."""


@dataclass(slots=True)
class SampledReply:
    """Collects a reply; `result` is the result for the server.

    `names` maps the names that the model was given to the tools' own names. `tokens` counts the reply so far.
    """

    model: str
    max_tokens: int
    has_tools: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    end: ReplyPart | None = None
    tokens: RequestTokens = field(default_factory=RequestTokens)
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, part: ModelPart) -> bool:
        """Add a part of the reply; return whether there is room for more."""
        self.tokens.take(part)
        match part:
            case TextPart(piece):
                self._pieces.append(piece)
            case ReasoningPart(replaces_text=True):
                self._pieces.clear()
            case ReplyPart():
                self.end = part
            case _:
                pass
        return self.tokens.generated < 2 * self.max_tokens  # an estimate: the endpoint counts exactly

    def result(self) -> dict[str, Any]:
        calls = [call for call in (self.end.calls if self.end else ()) if not call.truncated]
        uses = [
            {"type": "tool_use", "id": call.id, "name": self.names.get(call.name, call.name), "input": given}
            for call in calls
            if isinstance(given := json_value(call.arguments.strip() or "{}"), dict)
            # Without arguments that are not an object, the server would run another call.
        ]
        text = self.text.strip()
        blocks = [{"type": "text", "text": text}] if text or not uses else []
        finish = self.end.finish if self.end is not None else "length"
        reason = "toolUse" if uses else "maxTokens" if finish in _LENGTH else "endTurn"
        content: Any = [*blocks, *uses] if self.has_tools else {"type": "text", "text": text}
        return {"role": "assistant", "content": content, "model": self.model, "stopReason": reason}


def max_tokens_of(params: Mapping[str, Any]) -> int:
    """Return the `maxTokens` of a request. Raises BadSampling."""
    wanted = params.get("maxTokens")
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or wanted < 1:
        raise BadSampling("maxTokens must be a positive number")
    return int(min(wanted, 10**9))


def model_request(
    params: Mapping[str, Any], *, max_tokens: int
) -> tuple[ModelRequest, Mapping[str, str], bool]:
    """Return the model request, the tools' own names by their names in it, and whether it has tools.

    Raises:
        BadSampling: it is malformed.
    """
    accepted = accepted_names(_names_in(params))
    messages = list(_messages(params.get("messages"), accepted))
    specs, names = _tools(params.get("tools"), accepted)
    mode = object_in(params, "toolChoice").get("mode", "auto")
    temperature = params.get("temperature")
    request = ModelRequest(
        visible(text_in(params, "systemPrompt")),
        sanitised(messages),
        () if mode == "none" else specs,
        stop=tuple(filter(None, strings(params.get("stopSequences"))))[:MAX_STOPS],
        max_tokens=max_tokens,
        temperature=temperature if isinstance(temperature, int | float) else None,
        must_call=mode == "required" and bool(specs),
    )
    return request, names, bool(specs)


def _names_in(params: Mapping[str, Any]) -> Iterator[str]:
    named = objects(params.get("tools"))
    for message in objects(params.get("messages")):
        content = message.get("content")
        blocks = objects(content if isinstance(content, list) else [content])
        named += [one for one in blocks if one.get("type") == "tool_use"]
    yield from ("", *(str(one.get("name", "")) for one in named))


def _messages(listed: Any, accepted: Mapping[str, str]) -> Iterator[Message]:
    if not isinstance(listed, list) or not listed:
        raise BadSampling("messages must be an array with at least one message")
    if len(listed) > MAX_MESSAGES:
        raise BadSampling(f"{len(listed)} messages, but at most {MAX_MESSAGES} are allowed")
    called: dict[str, str] = {}
    for number, message in enumerate(listed):
        where = f"messages[{number}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ("user", "assistant"):
            raise BadSampling(f"{where}.role must be user or assistant")
        blocks = list(_blocks(message.get("content"), where))
        if role == "assistant":
            yield _of_assistant(blocks, called, accepted, where)
        else:
            yield from _of_user(blocks, called, accepted)


def _blocks(content: Any, where: str) -> Iterator[Mapping[str, Any]]:
    for block in content if isinstance(content, list) else [content]:
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind not in ("text", "image", "audio", "tool_use", "tool_result"):
            raise BadSampling(f"{where}.content has an unknown type: {clean_line(str(kind), 40)}")
        yield block


def _of_assistant(
    blocks: Sequence[Mapping[str, Any]], called: dict[str, str], accepted: Mapping[str, str], where: str
) -> AssistantMessage:
    calls = []
    for block in blocks:
        if block["type"] == "tool_use":
            known, name = str(block.get("id", "")), accepted[str(block.get("name", ""))]
            given = block.get("input")
            if not isinstance(given, Mapping | None):  # providers reject it, also in all later requests
                raise BadSampling(f"{where}.content: input of a tool_use must be an object")
            called[known] = name
            calls.append(CallRequest(known, name, json.dumps(given or {})))
    return AssistantMessage(_text(blocks), calls=tuple(calls))


def _of_user(
    blocks: Sequence[Mapping[str, Any]], called: Mapping[str, str], accepted: Mapping[str, str]
) -> Iterator[Message]:
    for block in blocks:
        if block["type"] == "tool_result":
            known = str(block.get("toolUseId", ""))
            parts = objects(block.get("content"))
            structured = json.dumps(block.get("structuredContent", ""), ensure_ascii=False)
            text = _text(parts) or visible(structured)
            name = called.get(known, accepted[""])
            yield ToolMessage(known, name, text, block.get("isError") is True)
    attached = tuple(_attachment(block) for block in blocks if block["type"] in ("image", "audio"))
    text = _text(blocks)
    if text or attached:
        yield UserMessage(text, attached)


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    texts = (str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    return visible("\n".join(texts))


def _attachment(block: Mapping[str, Any]) -> Attachment:
    data = str(block.get("data", ""))
    mime = clean_line(str(block.get("mimeType", "")), 60)
    kind: Literal["image", "audio"] = "image" if block["type"] == "image" else "audio"
    content = BinaryContent(kind, mime, decoded_size(data), data)
    try:
        return attachment_of_binary(kind, content)
    except ValueError:  # the endpoint's rules decide on it
        return Attachment(kind, mime, kind, content.size, data)


def _tools(listed: Any, accepted: Mapping[str, str]) -> tuple[tuple[ToolSpec, ...], Mapping[str, str]]:
    if listed is None:
        return (), {}
    if not isinstance(listed, list) or len(listed) > MAX_TOOLS:
        raise BadSampling(f"tools must be an array of at most {MAX_TOOLS}")
    specs, names = list[ToolSpec](), dict[str, str]()
    for number, tool in enumerate(listed):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str) or not name:
            raise BadSampling(f"tools[{number}].name must be a string")
        safe = accepted[name]
        if safe in names:
            raise BadSampling(f"tools[{number}].name is not unique: {clean_line(name, 100)}")
        names[safe] = name
        schema = _schema(tool.get("inputSchema"), f"tools[{number}]")
        specs.append(ToolSpec(safe, visible(text_in(tool, "description")), schema, tool=name))
    return tuple(specs), names


def _schema(schema: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping):
        return {"type": "object"}
    try:
        return model_schema(schema)
    except (SchemaRefused, TypeError, AttributeError) as error:  # whatever a server sends
        raise BadSampling(f"{where}.inputSchema is invalid ({reason_of(error, 100)})") from None
