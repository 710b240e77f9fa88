"""The demo model: rule-based, offline, honest. It drives the real loop with real tool calls.

A pure function of the request: everything it knows is in the messages and the tools, so cancelling, limits
and approval work as with any other model. It never claims to be a language model.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.jsonrpc.reader import loads
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
from tui.model.demo import demo_answers as answers
from tui.model.demo.demo_arguments import fill
from tui.model.demo.demo_match import DemoChoice, choose_tool
from tui.model.demo.demo_phrases import MAX_TEXT, PLACE_WORDS
from tui.model.demo.demo_words import PLACES, is_cjk

LABEL = "demo model, offline"
NOTICE = "demo model: rule-based, not a language model"
PACE_SECONDS = 0.012
"""Delay between two pieces of text, to show what streaming looks like."""

MAX_CALLS = 4

_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon)|你好|您好|嗨|こんにちは)(?: there)?\W*$", re.I
)
_THANKS = re.compile(
    r"^\W*(?:thanks?(?: you)?(?: (?:so|very) much)?|thx|cheers|great|nice|cool|谢谢你?|多谢)\W*$", re.I
)
_HELP = re.compile(
    r"^\W*(?:/?help(?: me)?|\?|what (?:can|do) you do(?: for me)?|what are you(?: able to do)?|who are you"
    r"|how (?:do|does) (?:you|this|it) work|are you (?:an? )?(?:ai|human|robot|bot|llm|language model|real)"
    r"|what can i (?:do|ask)(?: you)?(?: here)?|how are you(?: doing)?(?: today)?"
    r"|帮助|你(?:能|会|可以)(?:做|干)(?:什么|些什么|啥).?|你是谁.?|你是什么.?)\W*$",
    re.I,
)
_LIST_TOOLS = re.compile(
    r"^\W*/?(?:list|show|what|which)?\s*(?:me\s+)?(?:all\s+)?(?:the\s+|your\s+)?(?:available\s+)?tools"
    r"(?:\s+(?:are there|do you have|can you (?:use|call)|are available))?\W*$"
    r"|^\W*(?:列出|显示|有哪些|有什么)?(?:所有|全部|可用的?)?工具(?:有哪些)?\W*$",
    re.I,
)
_CALL = re.compile(r"^\s*/call\s+(\S+)\s*(.*)$", re.S)
_THEN = re.compile(
    r"[,;.]?\s+(?:and\s+)?(?:then|after that|afterwards)[,\s]+|[，,；。]\s*(?:然后|接着|再)|然后", re.I
)
_NEVER_MIND = re.compile(r"^\W*(?:no|nothing|cancel|never ?mind|stop|forget it|算了|不用了?|取消)\W*$", re.I)
_RESULT = re.compile(
    r"^(?:it|that|this|the result|the answer|the weather|them)(?: (?:down|as a note|to my notes))?$", re.I
)
_LIST_OF_NAMES = re.compile(r"\s*(?:,\s*and\s+|,|\band\b|&|和|与|、)\s*", re.I)

_LONG_GAP = re.compile(r"(\s{8})\s+")
"""Gaps make the patterns quadratic; no sentence needs more than eight blanks."""


@dataclass(frozen=True, slots=True)
class Move:
    """What the demo does next: text, or calls."""

    text: str = ""
    calls: tuple[tuple[ToolSpec, Mapping[str, Any]], ...] = ()


class DemoModel:
    """A rule-based ChatModel.

    Args:
        pace: seconds between two pieces of text; 0 for tests.
    """

    def __init__(self, pace: float = PACE_SECONDS) -> None:
        self._pace = pace

    @property
    def label(self) -> str:
        return LABEL

    @property
    def notice(self) -> str:
        return NOTICE

    @property
    def capabilities(self) -> ModelCapabilities:
        return ModelCapabilities()

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        pass

    async def connect(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def retire(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Answer `request`, a few words at a time."""
        move = decide(request)
        await asyncio.sleep(self._pace * 10)
        for piece in _pieces(move.text):
            yield TextPart(piece)
            await asyncio.sleep(self._pace)
        taken = sum(
            isinstance(message, AssistantMessage) and len(message.calls) for message in request.messages
        )
        calls = []
        for number, (tool, arguments) in enumerate(move.calls, taken + 1):
            text = json.dumps(arguments, ensure_ascii=False)
            yield CallPart(tool.name, len(text))
            await asyncio.sleep(self._pace)
            calls.append(CallRequest(f"demo_{number}", tool.name, text))
        yield ReplyPart(tuple(calls), "tool_calls" if calls else "stop", Usage(estimated=True))


def decide(request: ModelRequest) -> Move:
    """Return the next move for `request`. Pure."""
    messages, tools = request.messages, request.tools
    at = _last_question(messages, wrap_up=not tools)
    if at is None:
        return Move(answers.help_text(tools, False))
    text = _user_text(messages[at])
    chinese = is_cjk(text)
    results = [message for message in messages[at + 1 :] if isinstance(message, ToolMessage)]
    if not results:
        return _first_move(text, messages[:at], tools, chinese)
    steps = sum(
        isinstance(message, AssistantMessage) and bool(message.calls) for message in messages[at + 1 :]
    )
    clauses = _clauses(text[:MAX_TEXT])
    if tools and steps == 1 and len(clauses) > 1 and not any(result.is_error for result in results):
        second = _with_result(_move(clauses[1], tools, chinese), results)
        if second is not None:
            return second
    return Move(answers.from_results(results[-MAX_CALLS * 2 :], tools, chinese))


def _last_question(messages: Sequence[Message], wrap_up: bool) -> int | None:
    """Return the position of the last user message.

    Without tools, a message right after results is the loop's request to finish.
    """
    for at in range(len(messages) - 1, -1, -1):
        if isinstance(messages[at], UserMessage):
            if wrap_up and at and isinstance(messages[at - 1], ToolMessage):
                continue
            return at
    return None


def _user_text(message: Message) -> str:
    return message.text if isinstance(message, UserMessage) else ""


def _first_move(text: str, before: Sequence[Message], tools: Sequence[ToolSpec], chinese: bool) -> Move:
    if found := _CALL.match(text):
        return _explicit(found[1], found[2], tools)
    if len(text) > MAX_TEXT:
        return Move(answers.too_long(MAX_TEXT, chinese))
    text = _LONG_GAP.sub(r"\1", text.strip())
    if (small_talk := _small_talk(text, tools, chinese)) is not None:
        return Move(small_talk)
    if not tools:
        return Move(answers.not_understood(tools, chinese))
    move = _move(_clauses(text)[0], tools, chinese)
    if move.calls:
        return move
    return _continued(text, before, tools, chinese) or move


def _small_talk(text: str, tools: Sequence[ToolSpec], chinese: bool) -> str | None:
    if _GREETING.match(text):
        hello = "你好！" if chinese else "Hello! "
        return hello + answers.help_text(tools, chinese)
    if _THANKS.match(text):
        return "不客气。" if chinese else "You're welcome."
    if _HELP.match(text):
        return answers.help_text(tools, chinese)
    if _LIST_TOOLS.match(text):
        return answers.list_tools(tools, chinese)
    return None


def _explicit(name: str, arguments: str, tools: Sequence[ToolSpec]) -> Move:
    """`/call NAME {JSON}`: exactly this tool with exactly these arguments."""
    found = [tool for tool in tools if name in (tool.name, tool.tool, f"{tool.server}/{tool.tool}")]
    if len(found) != 1:
        known = [tool.name for tool in found or tools]
        return Move(f"There is {'more than one' if found else 'no'} tool `{name[:80]}`. {_known(known)}")
    try:
        value = loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        return Move(f'The arguments are not JSON: {error}. Write `/call {name[:80]} {{"name": "value"}}`.')
    if not isinstance(value, dict):
        return Move("The arguments must be one JSON object.")
    return Move(calls=((found[0], value),))


def _known(names: Sequence[str]) -> str:
    return "Known: " + ", ".join(f"`{name}`" for name in names[:12]) + ("." if len(names) <= 12 else ", …")


def _clauses(text: str) -> list[str]:
    """Return the one or two requests in a sentence, in order."""
    head, _, payload = text.partition(": ")
    if payload and not _THEN.search(head):
        return [text]
    return [clause.strip() for clause in _THEN.split(text, maxsplit=1) if clause.strip()] or [text]


def _move(text: str, tools: Sequence[ToolSpec], chinese: bool) -> Move:
    choice = choose_tool(text, tools)
    if choice.tool is None:
        return Move(answers.not_understood(tools, chinese))
    if choice.rivals:
        return Move(answers.several(choice.rivals, chinese))
    if choice.filled.missing:
        return Move(answers.ask_for(choice.tool, choice.filled.missing, chinese))
    return Move(calls=tuple((choice.tool, values) for values in _each(choice)))


def _each(choice: DemoChoice) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments, once for each of several names ("Beijing and Shanghai")."""
    values = choice.filled.values
    for name in PLACE_WORDS.intersection(choice.filled.required):
        value = values[name]
        names = [part for part in _LIST_OF_NAMES.split(value) if part] if isinstance(value, str) else []
        if 1 < len(names) <= MAX_CALLS and all(part[0].isupper() or part in PLACES for part in names):
            for part in names:
                yield {**values, name: PLACES.get(part, part)}
            return
    yield values


def _continued(text: str, before: Sequence[Message], tools: Sequence[ToolSpec], chinese: bool) -> Move | None:
    """If the demo has just asked for an argument, take `text` as the answer."""
    users = [at for at, message in enumerate(before) if isinstance(message, UserMessage)]
    asked = before[-1] if before else None
    if not users or not isinstance(asked, AssistantMessage) or asked.calls:
        return None
    question = _clauses(_user_text(before[users[-1]])[:MAX_TEXT])[0]
    choice = choose_tool(question, tools)
    if choice.tool is None or choice.rivals or len(choice.filled.missing) != 1:
        return None
    if _NEVER_MIND.match(text):
        return Move("好的。" if chinese else "All right.")
    name = choice.filled.missing[0]
    value = fill(choice.tool, text).values.get(name)
    if value is None:
        value = fill(choice.tool, f'{name}: "{text.strip()}"').values.get(name) if len(text) <= 80 else None
    if value is None:
        return None
    return Move(calls=((choice.tool, {**choice.filled.values, name: PLACES.get(value, value)}),))


def _with_result(move: Move, results: Sequence[ToolMessage]) -> Move | None:
    """Replace "it" in the second step by the first one's result; None if the second has no call."""
    if not move.calls:
        return None
    text = "\n".join(result.text for result in results)[: answers.MAX_ANSWER]
    tool, values = move.calls[0]
    replaced = {
        name: text if isinstance(value, str) and _RESULT.match(value) else value
        for name, value in values.items()
    }
    return Move(calls=((tool, replaced),))


def _pieces(text: str) -> Iterator[str]:
    """Split `text` into stream-sized pieces: words with the space after them, CJK by two characters."""
    yield from re.findall(
        "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}|[^\\s\u3040-\u9fff\uac00-\ud7af]+\\s*|\\s+|.",
        text,
        re.S,
    )
