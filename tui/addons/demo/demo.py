"""The demo model: rule-based and offline. It drives the real loop with real tool calls.

It is a pure function of the request, whose messages and tools are all that it knows. So cancelling, limits
and approval work as with any other model. It never claims to be a language model.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.addons.demo import demo_answers as answers
from tui.addons.demo.demo_choice import MAX_TEXT, PLACE_WORDS, DemoChoice, choose_tool, fill, suggested
from tui.addons.demo.demo_words import PLACES, is_cjk
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import reason_of
from tui.core.jsonrpc.reader import loads
from tui.core.late_compiling import late
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

PACE_SECONDS = 0.012
"""Delay between two pieces of text, to show what streaming looks like."""

MAX_CALLS = 4

_SMALL_TALK = {
    "greeting": r"(?:hi|hello|hey|good (?:morning|evening|afternoon)|你好|您好|嗨|こんにちは)(?: there)?",
    "thanks": r"(?:thanks?(?: you)?(?: (?:so|very) much)?|thx|cheers|great|nice|cool|谢谢你?|多谢)",
    "help": r"(?:/?help(?: me)?|\?|what (?:can|do) you do(?: for me)?|what are you(?: able to do)?"
    r"|who are you|how (?:do|does) (?:you|this|it) work"
    r"|are you (?:an? )?(?:ai|human|robot|bot|llm|language model|real)"
    r"|what can i (?:do|ask)(?: you)?(?: here)?|how are you(?: doing)?(?: today)?"
    r"|帮助|你(?:能|会|可以)(?:做|干)(?:什么|些什么|啥).?|你是谁.?|你是什么.?)",
    "tools": r"/?(?:(?:list|show|what|which)\s*(?:me\s+)?)?(?:all\s+)?(?:the\s+|your\s+)?(?:available\s+)?"
    r"tools(?:\s+(?:are there|do you have|can you (?:use|call)|are available))?"
    r"|(?:列出|显示|有哪些|有什么)?(?:所有|全部|可用的?)?工具(?:有哪些)?",
}
"""Sentences of the demo, by what is said to it."""

_CALL = late(r"^\s*(?:/call\s+(\S+)\s*(.*)|(?:call\s+)?(\S+)\s*(\{.*))$", re.S)
_THEN = late(
    r"[,;.]?\s+(?:and\s+)?(?:then|after that|afterwards)[,\s]+|[，,；。]\s*(?:然后|接着|再)|然后", re.I
)
_NEVER_MIND = late(r"^\W*(?:no|nothing|cancel|never ?mind|stop|forget it|算了|不用了?|取消)\W*$", re.I)
_RESULT = late(
    r"^(?:it|that|this|the result|the answer|the weather|them)(?: (?:down|as a note|to my notes))?$", re.I
)
_LIST_OF_NAMES = late(r"\s*(?:,\s*and\s+|,|\band\b|&|和|与|、)\s*", re.I)

_LONG_GAP = late(r"(\s{8})\s+")
"""Blanks make the patterns quadratic; no sentence needs more than eight in a row."""


@dataclass(frozen=True, slots=True)
class Move:
    """The demo's next step: text, or calls."""

    text: str = ""
    calls: tuple[tuple[ToolSpec, Mapping[str, Any]], ...] = ()


def demo_model(*, paced: bool) -> "DemoModel":
    """Return the demo, which writes slowly if it is `paced`, for a screen."""
    return DemoModel(PACE_SECONDS if paced else 0)


class DemoModel:
    """A rule-based ChatModel; `pace` is the seconds between two pieces of text, 0 without a screen."""

    def __init__(self, pace: float = PACE_SECONDS) -> None:
        self._pace = pace

    @property
    def label(self) -> str:
        return "demo model, offline"

    @property
    def notice(self) -> str:
        return "demo model: rule-based, not a language model"

    @property
    def capabilities(self) -> ModelCapabilities:
        return ModelCapabilities(writes=False)

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
        for piece in _pieces(move.text):
            yield TextPart(piece)
            await asyncio.sleep(self._pace)
        number = sum(isinstance(said, AssistantMessage) and len(said.calls) for said in request.messages)
        calls = []
        for tool, arguments in move.calls:
            number += 1
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
        return Move(answers.say("help", False, tools))
    question = messages[at]
    text = question.text if isinstance(question, UserMessage) else ""
    chinese = is_cjk(text)
    since = messages[at + 1 :]
    results = [message for message in since if isinstance(message, ToolMessage)]
    if not results:
        return _first_move(text, messages[:at], tools, chinese)
    steps = sum(isinstance(message, AssistantMessage) and bool(message.calls) for message in since)
    clauses = [text] if suggested(text, tools) else _clauses(text[:MAX_TEXT])
    if tools and steps == 1 and len(clauses) > 1 and not any(result.is_error for result in results):
        if calls := _move(clauses[1], tools, chinese).calls:
            return _with_results(calls[0], results)
    shown = results[-MAX_CALLS * 2 :]
    return Move("\n\n".join(answers.from_result(result, tools, chinese) for result in shown))


def _last_question(messages: Sequence[Message], wrap_up: bool) -> int | None:
    """Return the index of the last user message.

    Without tools, a message right after results is the loop's request to finish.
    """
    for at in range(len(messages) - 1, -1, -1):
        follows_result = wrap_up and at and isinstance(messages[at - 1], ToolMessage)
        if isinstance(messages[at], UserMessage) and not follows_result:
            return at
    return None


def _first_move(text: str, before: Sequence[Message], tools: Sequence[ToolSpec], chinese: bool) -> Move:
    if found := _CALL.match(text):
        return _explicit(found[1] or found[3], found[2] or found[4] or "", tools)
    if len(text) > MAX_TEXT:
        return Move(answers.say("too long", chinese, limit=MAX_TEXT))
    text = _LONG_GAP.sub(r"\1", text.strip())
    if (tool := suggested(text, tools)) is not None:
        return Move(calls=((tool, {}),))
    for sentence, pattern in _SMALL_TALK.items():
        if re.match(rf"^\W*(?:{pattern})\W*$", text, re.I):
            return Move(answers.say(sentence, chinese, tools))
    move = _move(_clauses(text)[0], tools, chinese)
    return move if move.calls else _continued(text, before, tools) or move


def _explicit(name: str, arguments: str, tools: Sequence[ToolSpec]) -> Move:
    """`call NAME {JSON}`: exactly this tool with exactly these arguments."""
    found = [tool for tool in tools if name in (tool.name, tool.tool, f"{tool.server}/{tool.tool}")]
    if len(found) != 1:
        known = answers.quoted([tool.name for tool in found or tools][:12])
        return Move(f"There is {'more than one' if found else 'no'} tool `{name[:80]}`. Known: {known}")
    try:
        value = loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        return Move(f"The arguments are not valid JSON: {reason_of(error)}.")
    if not isinstance(value, dict):
        return Move("The arguments must be one JSON object.")
    return Move(calls=((found[0], value),))


def _clauses(text: str) -> list[str]:
    """Return the one or two requests in a sentence, in order."""
    head, _, payload = text.partition(": ")
    if payload and not _THEN.search(head):
        return [text]
    return [clause.strip() for clause in _THEN.split(text, maxsplit=1) if clause.strip()] or [text]


def _move(text: str, tools: Sequence[ToolSpec], chinese: bool) -> Move:
    choice = choose_tool(text, tools)
    if choice is None:
        return Move(answers.say("not understood", chinese, tools))
    if choice.rivals:
        return Move(answers.say("several", chinese, names=answers.quoted(choice.rivals[:6])))
    if choice.missing:
        tool, names = answers.own_name(choice.tool), answers.quoted(choice.missing, 60)
        return Move(answers.say("missing", chinese, tool=tool, names=names))
    return Move(calls=tuple((choice.tool, values) for values in _each(choice)))


def _each(choice: DemoChoice) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments, once for each of several places ("Beijing and Shanghai")."""
    for name in PLACE_WORDS.split():
        value = choice.values.get(name)
        places = [part for part in _LIST_OF_NAMES.split(value) if part] if isinstance(value, str) else []
        if 1 < len(places) <= MAX_CALLS and all(part[0].isupper() or part in PLACES for part in places):
            yield from ({**choice.values, name: PLACES.get(part, part)} for part in places)
            return
    yield choice.values


def _continued(text: str, before: Sequence[Message], tools: Sequence[ToolSpec]) -> Move | None:
    """If the demo has just asked for an argument, take `text` as the answer."""
    users = [message for message in before if isinstance(message, UserMessage)]
    if not users or not isinstance(before[-1], AssistantMessage) or before[-1].calls:
        return None
    if _NEVER_MIND.match(text):
        return None
    choice = choose_tool(_clauses(users[-1].text[:MAX_TEXT])[0], tools)
    if choice is None or choice.rivals or len(choice.missing) != 1:
        return None
    name = choice.missing[0]
    value = fill(choice.tool, text).values.get(name)
    if value is None and len(text) <= 80:
        value = fill(choice.tool, f'{name}: "{text}"').values.get(name)
    if value is None:
        return None
    return Move(calls=((choice.tool, {**choice.values, name: PLACES.get(value, value)}),))


def _with_results(call: tuple[ToolSpec, Mapping[str, Any]], results: Sequence[ToolMessage]) -> Move:
    """Replace "it" in the second step by the first one's results."""
    text = "\n".join(result.text for result in results)[: answers.MAX_ANSWER]
    values = {
        name: text if isinstance(value, str) and _RESULT.match(value) else value
        for name, value in call[1].items()
    }
    return Move(calls=((call[0], values),))


def _pieces(text: str) -> Iterator[str]:
    """Split `text` into stream-sized pieces: words with the space after them, CJK by two characters."""
    cjk = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
    yield from re.findall(f"[{cjk}]{{1,2}}|[^\\s\u3040-\u9fff\uac00-\ud7af]+\\s*|\\s+|.", text, re.S)
