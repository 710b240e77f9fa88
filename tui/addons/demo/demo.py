"""The demo model: rule-based and offline. It drives the real loop with real tool calls.

It is a pure function of the request, whose messages and tools are all that it knows. So cancelling, limits
and approval work as with any other model. It never claims to be a language model.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from tui.addons.demo.demo_choice import (
    KNOWN,
    MAX_TEXT,
    NEVER_MIND,
    PLACES,
    choose_tool,
    fill,
    is_cjk,
    own_name,
    suggested,
)
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import reason_of
from tui.core.jsonrpc.reader import json_within, loads
from tui.core.language.restored import restored_lines
from tui.core.language.translate import message
from tui.core.ports import (
    CallPart,
    ModelCapabilities,
    ModelPart,
    ModelRequest,
    ReplyPart,
    TextPart,
    ToolSpec,
    Usage,
)
from tui.core.text import clean_line, compact, mapping, object_in, truncated
from tui.runtime.example_questions import needs_arguments, question_of

PACE_SECONDS = 0.012
"""Delay between two pieces of text, to show what streaming looks like."""

_CALL = re.compile(r"^\s*(?:/call\s+(\S+)\s*(.*)|(?:call\s+)?(\S+)\s*(\{.*))$", re.S)
"""Exactly this tool with exactly these arguments: `/call NAME`, `call NAME {JSON}`, `NAME {JSON}`."""

_PIECE = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}|[^\\s\u3040-\u9fff\uac00-\ud7af]+\\s*|\\s+|.", re.S
)

_LONG_GAP = re.compile(r"(\s{8})\s+")
"""Blanks make the patterns quadratic; no sentence needs more than eight in a row."""


class Move(NamedTuple):
    """The demo's next step: text, or a call."""

    text: str = ""
    tool: ToolSpec | None = None
    arguments: Mapping[str, Any] = {}


class DemoModel:
    """A rule-based ChatModel, which writes slowly if it is `paced`, for a screen."""

    label = message("demo model, offline")
    notice = message("demo model: rule-based, not a language model")
    capabilities = ModelCapabilities(writes=False)

    def __init__(self, *, paced: bool) -> None:
        self._pace = PACE_SECONDS if paced else 0

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        pass

    async def connect(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def retire(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Stream the answer to `request`, a few words at a time."""
        move = decide(request)
        await asyncio.sleep(self._pace * 10)
        # Pieces like those of a stream: words with the space after them, CJK by two characters.
        for piece in _PIECE.findall(move.text):
            yield TextPart(piece)
            await asyncio.sleep(self._pace)
        number = sum(isinstance(said, AssistantMessage) and len(said.calls) for said in request.messages)
        calls = []
        if move.tool is not None:
            text = json.dumps(dict(move.arguments), ensure_ascii=False)
            yield CallPart(move.tool.name, len(text))
            await asyncio.sleep(self._pace)
            calls = [CallRequest(f"demo_{number + 1}", move.tool.name, text)]
        yield ReplyPart(tuple(calls), "tool_calls" if calls else "stop", Usage(estimated=True))


def decide(request: ModelRequest) -> Move:
    """Return the next move for `request`. Pure."""
    messages, tools = request.messages, request.tools
    # Without tools, a message right after results is the loop's request to finish.
    ends = () if tools else [at + 1 for at, said in enumerate(messages) if isinstance(said, ToolMessage)]
    asked = [at for at, one in enumerate(messages) if isinstance(one, UserMessage) and at not in ends]
    if not asked:
        return Move(_say("help", False, tools))
    text, chinese = messages[asked[-1]].text, is_cjk(messages[asked[-1]].text)
    results = [message for message in messages[asked[-1] + 1 :] if isinstance(message, ToolMessage)]
    if results:
        return Move("\n\n".join(_from_result(result, tools, chinese) for result in results))
    if found := _CALL.match(text):
        return _explicit(found[1] or found[3], found[2] or found[4] or "{}", tools)
    if len(text) > MAX_TEXT:
        return Move(_say("too long", chinese, limit=MAX_TEXT))
    text = _LONG_GAP.sub(r"\1", text.strip())
    if (tool := suggested(text, tools)) is not None:
        return Move(tool=tool)
    for sentence, patterns in KNOWN["small_talk"].items():
        if re.match(rf"^\W*(?:{'|'.join(patterns)})\W*$", text, re.I):
            return Move(_say(sentence, chinese, tools))
    choice = choose_tool(text, tools)
    if choice is not None and not choice.rivals and not choice.missing:
        return Move("", choice.tool, choice.values)
    if (continued := _continued(text, messages[: asked[-1]], tools)) is not None:
        return continued
    if choice is None:
        return Move(_say("not understood", chinese, tools))
    names = _quoted(choice.rivals[:6]) or _described(choice.tool, choice.missing)
    sentence = "several" if choice.rivals else "missing"
    return Move(_say(sentence, chinese, tool=clean_line(own_name(choice.tool), 80), names=names))


def _continued(text: str, before: Sequence[Message], tools: Sequence[ToolSpec]) -> Move | None:
    """If the demo has just asked for an argument, take `text` as the answer."""
    asked = [message.text for message in before if isinstance(message, UserMessage)]
    is_asked = asked and isinstance(before[-1], AssistantMessage) and not before[-1].calls
    choice = choose_tool(asked[-1], tools) if is_asked and not NEVER_MIND.match(text) else None
    if choice is None or choice.rivals or len(choice.missing) != 1:
        return None
    name = choice.missing[0]
    value = fill(choice.tool, text).values.get(name)
    if value is None and len(text) <= MAX_ANSWERED:
        value = fill(choice.tool, f'{name}: "{text}"').values.get(name)
    return None if value is None else Move("", choice.tool, {**choice.values, name: PLACES.get(value, value)})


def _explicit(name: str, arguments: str, tools: Sequence[ToolSpec]) -> Move:
    found = [tool for tool in tools if name in (tool.name, tool.tool, f"{tool.server}/{tool.tool}")]
    if len(found) != 1:
        known = _quoted([tool.name for tool in found or tools][:12])
        return Move(
            f"There is {'more than one' if found else 'no'} tool `{truncated(name, 80)}`. Known: {known}"
        )
    try:
        value = loads(arguments)
    except (ValueError, RecursionError) as error:
        return Move(f"The arguments are not valid JSON: {reason_of(error)}.")
    if not isinstance(value, dict):
        return Move("The arguments must be one JSON object.")
    return Move("", found[0], value)


# ---- texts ---------------------------------------------------------------------------------------------

MAX_ANSWER = 4000
"""Maximum characters of one result that are repeated in an answer."""

MAX_ITEMS = 20
MAX_ANSWERED = 80
"""Maximum characters of a message that is taken for a missing argument as a whole."""

MAX_JSON = 64 * 1024


def _say(sentence: str, chinese: bool, tools: Sequence[ToolSpec] = (), **values: object) -> str:
    """Return a sentence in English or Chinese, with `values` filled in."""
    text = str(KNOWN["sentences"][sentence][chinese])
    if "{examples}" in text or "{tools}" in text:
        if not tools:
            return _say("no tools", chinese)
        values |= {"examples": _examples(tools, chinese), "tools": _list_tools(tools)}
    return text.format(**values)


def _from_result(result: ToolMessage, tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return an answer with the result of a call: JSON as a short list, text unchanged."""
    name = clean_line(next((own_name(tool) for tool in tools if tool.name == result.name), result.name), 80)
    text = result.text.removeprefix("ERROR:").strip()
    if not text or text == "(empty result)":
        return _say("empty", chinese, tool=name)
    if not result.is_error and (value := json_within(text, MAX_JSON)) is not None:
        with suppress(RecursionError):
            while isinstance(value, dict) and [*value] == ["result"]:
                value = value["result"]
            if isinstance(value, dict):
                lines = [f"**{clean_line(key, 60)}**: {_as_text(item)}" for key, item in value.items()]
            else:
                lines = list(map(_as_text, value)) if isinstance(value, list) else []
            text = _items(lines) or ("Nothing was found." if value in ({}, []) else _as_text(value))
    text = truncated(text, MAX_ANSWER)
    if not result.is_error:
        return text
    said = restored_lines(text.removeprefix("not run: ")) if chinese else text
    return _say("failed", chinese, tool=name, text=said)


def _as_text(value: Any) -> str:
    """Return a value as one line, also one that contains others: `sku: x, sizes: S, M`."""
    if isinstance(value, dict):
        value = ", ".join(f"{key}: {_as_text(item)}" for key, item in value.items())
    elif isinstance(value, list):
        value = ", ".join(map(_as_text, value))
    return clean_line(value, 400) if isinstance(value, str) else compact(value, 400)


def _items(lines: Sequence[str]) -> str:
    more = [f"… and {len(lines) - MAX_ITEMS} more"] if len(lines) > MAX_ITEMS else []
    return "\n".join(f"- {line}" for line in (*lines[:MAX_ITEMS], *more))


def _quoted(names: Sequence[str]) -> str:
    """Return `names` as code, separated by commas."""
    return ", ".join(f"`{clean_line(name, 80)}`" for name in names)


def _described(tool: ToolSpec, names: Sequence[str]) -> str:
    """Return the names of arguments, each with its description."""
    schemas = object_in(tool.schema, "properties")
    texts = [mapping(schemas.get(name)).get("description") for name in names]
    abouts = [clean_line(text, 120).rstrip(".") if isinstance(text, str) else "" for text in texts]
    return ", ".join(
        _quoted([name]) + (f" ({about})" if about else "") for name, about in zip(names, abouts, strict=True)
    )


def _list_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the tools by server, one per line."""
    servers: dict[str, list[str]] = {}
    for tool in tools:
        first = clean_line(tool.description.strip().partition(". ")[0], 100)
        line = f"{_quoted([own_name(tool)])}{': ' + first if first else ''}"
        servers.setdefault(clean_line(tool.server, 60) or "tools", []).append(line)
    return "\n\n".join(f"**{server}**\n\n{_items(lines)}" for server, lines in servers.items())


def _examples(tools: Sequence[ToolSpec], chinese: bool) -> str:
    """Return sentences that work with the current tools."""
    names = {tool.tool for tool in tools}
    found = [examples[chinese] for name, examples in KNOWN["examples"].items() if name in names]
    questions = [question_of(tool.description) for tool in tools if not needs_arguments(tool.schema)]
    found = found or [*filter(None, questions)][:3]
    return _items(found or [f"`call {clean_line(own_name(tools[0]), 80)} {{…}}`"])
