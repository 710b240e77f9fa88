"""The demo model: rule-based and offline. It drives the real loop with real tool calls.

It is a pure function of the request, whose messages and tools are all that it knows. So cancelling, limits
and approval work as with any other model. It never claims to be a language model.

A tool is selected by words, preferring precision to recall, because a wrong call costs more than a missed
one. A tool is called only if the sentence mentions its own name (or, for meaningless names, its
description), if the sentence does not ask for something of another kind (nothing is written or deleted
unless the sentence begins with such a verb), and if no other tool matches about as well.
"""

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.context.built_in_tools import FIND_TOOLS
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import reason_of
from tui.core.example_questions import MAX_LENGTH, needs_arguments, question_of
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
from tui.model.demo import demo_answers as answers
from tui.model.demo.demo_arguments import MAX_TEXT, PLACE_WORDS, Filled, fill, payload_split
from tui.model.demo.demo_words import PLACES, READ_ONLY, STOP_WORDS, SYNONYMS, VERBS, is_cjk, meanings, words

MARGIN = 0.4
"""The score by which the best tool must exceed the second."""

MAX_TOOLS = 512
"""Maximum tools that are considered; more would delay a keystroke."""

_POLITE = late(
    r"^\s*(?:(?:hi|hello|hey|ok|okay|well|so|and|now|then|also|please|pls)\b[\s,!.]*"
    r"|(?:can|could|would|will) you\b\s*(?:please\b)?\s*"
    r"|i(?:'d| would) like (?:you )?to\b\s*|i (?:want|need) (?:you )?to\b\s*|let'?s\b\s*|help me\b\s*)+",
    re.I,
)
_TALK = late(
    r"\b(?:joke|poem|poetry|story|essay|song|haiku|limerick|opinion|philosophy|meaning|translate|summari[sz]e"
    r"|explain|why|love|hate|feel|feeling|think|believe|code|program|function|recipe|advice|recommend"
    r"|history of|difference between|metaphor|novel|lyrics|riddle|count on|favou?rite)\b"
    r"|笑话|诗|故事|为什么|翻译|解释|小说|歌词|意义"
    r"|^\s*(?:i|we|he|she|they|it|you)(?:['’]\w+)?\s"
    r"|^\s*(?:my|his|her|our|their|that|this|the|there)\b.*"
    r"\b(?:is|are|was|were|am|has|had|seems?|looks?|feels?|got)\b"
    r"|^\s*(?:do not|don['’]?t|never|no need|should i|shall i|what if|what happens"
    r"|how (?:do|can|would|should|to|long|often|come)\b(?! you)|what(?:['’]s| is) an? )"
    r"|^\s*(?:不要|别|不用|不想|不必|怎么(?!样))",
    re.I,
)
"""Conversation: a request that no tool could fulfil, a statement, a question about doing something."""

_NOTE_DOWN = late(r"^\s*(?:note|todo)(?:\s+(?:(?:it|this)\s+)?(?:that|down)\b|\s*[:：])", re.I)


@dataclass(frozen=True, slots=True)
class DemoChoice:
    """The tool for a sentence and its arguments; with `rivals`, tools that match as well, no call is made."""

    tool: ToolSpec
    filled: Filled
    rivals: tuple[str, ...] = ()


class _Request:
    """A sentence, parsed once for all tools."""

    def __init__(self, text: str) -> None:
        text = _POLITE.sub("", text)
        head, payload = payload_split(text)
        self.tokens = words(head)
        self.content = [token for token in self.tokens if token not in STOP_WORDS]
        self.about = meanings(self.tokens)
        self.verbs = [VERBS[token] for token in self.tokens if token in VERBS]
        self.intent = "add" if _NOTE_DOWN.match(text) else next(iter(self.verbs), None)
        self.talk = bool(_TALK.search(head)) and not (payload and self.intent == "add")


class _Candidate:
    """A tool, parsed once."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec
        tokens = words(spec.tool or spec.name)
        self.verb = next((VERBS[token] for token in tokens if token in VERBS), None)
        self.name = set(tokens)
        self.own = {token for token in tokens if token not in VERBS and token not in STOP_WORDS}
        self.description = meanings(words(spec.description[:400]))
        properties = spec.schema.get("properties")
        names = [str(key) for key in properties] if isinstance(properties, Mapping) else []
        self.parameters = {word for name in names[:64] for word in words(name)}


def choose_tool(text: str, tools: Sequence[ToolSpec]) -> DemoChoice | None:
    """Return the tool that `text` asks for, if there is one."""
    request = _Request(text)
    if not request.about or request.talk:
        return None
    candidates = [_Candidate(tool) for tool in tools[:MAX_TOOLS] if tool.tool != FIND_TOOLS]
    seen = Counter(token for candidate in candidates for token in candidate.name | candidate.description)
    ranked: list[tuple[float, ToolSpec, Filled]] = []
    for candidate in candidates:
        if (base := _score(request, candidate, seen)) > 0:
            filled = fill(candidate.spec, text, candidate.name)
            ranked.append((base + _fit(request, candidate, filled), candidate.spec, filled))
    ranked.sort(key=lambda entry: -entry[0])
    if not ranked or ranked[0][0] <= 0:
        return None
    best, tool, filled = ranked[0]
    rivals = [spec.tool or spec.name for score, spec, _ in ranked if best - score < MARGIN]
    return DemoChoice(tool, filled, tuple(rivals) if len(rivals) > 1 else ())


def suggested(text: str, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool whose description is the question `text`, as the start screen suggests it."""
    wanted = text.strip().rstrip(".").casefold()
    if not wanted or len(wanted) > MAX_LENGTH:
        return None
    for tool in tools[:MAX_TOOLS]:
        if question_of(tool.description).casefold() == wanted and not needs_arguments(tool.schema):
            return tool
    return None


def _score(request: _Request, candidate: _Candidate, seen: Counter[str]) -> float:
    """Return how well the words match the tool; 0 if it must not be called. Rare words weigh more."""
    if not _compatible(request, candidate.verb):
        return 0
    named = request.about & candidate.own
    described = (request.about & candidate.description) - candidate.name
    literal = not candidate.own and request.tokens[:1] and request.tokens[0] in candidate.name
    if not named and not literal:
        things = request.about - VERBS.keys()
        needed = 1 if request.intent == candidate.verb == "list" else 2
        if len(described & things) < needed or len(described) * 2 < len(things):
            return 0
    # A question, an order, or little more than its name selects a tool without arguments.
    if not candidate.parameters and request.intent is None:
        if not request.content or (request.content[0] not in named and request.about - named):
            return 0

    def weigh(tokens: set[str]) -> float:
        return sum(0.5 + math.log(1 + (seen.total() or 1) / (1 + seen[token])) / 4 for token in tokens)

    return 3 * weigh(named) + weigh(described) + 0.7 * weigh(request.about & candidate.parameters)


def _compatible(request: _Request, verb: str | None) -> bool:
    """Whether a sentence of this intent may run a tool of this kind."""
    intent = request.intent
    if verb is None:
        return intent is None or intent in READ_ONLY or intent == "add"
    if intent == "list":
        return verb == "list" or (verb in READ_ONLY and verb in request.verbs)
    return intent is None or intent in READ_ONLY if verb in READ_ONLY else intent == verb


def _fit(request: _Request, candidate: _Candidate, filled: Filled) -> float:
    """Return the evidence for and against a tool besides its words."""
    score = 0.0
    if candidate.verb in request.verbs:
        score += 1.0 if candidate.verb in ("search", "list") else 0.4
    elif request.intent in ("search", "list"):
        score -= 1.0
    required = len(filled.missing) + len(filled.required)
    score += 1.2 * len(filled.required) / required if required else 0.2
    score -= 0.4 * len(filled.missing) + 1.2 * len(candidate.own - request.about)
    known = candidate.name | candidate.description | candidate.parameters
    known.update(words(" ".join(map(str, filled.values.values()))))
    explained = {word for word in request.about if {word, SYNONYMS.get(word)} & known}
    unexplained = len(request.about - explained)
    # "delete the note buy milk" is about notes, not about milk: the words after the tool's own say which
    # note, and a tool that needs more information than that asks for it.
    if request.intent == candidate.verb == "delete" and candidate.own and request.content[0] in VERBS:
        if set(request.content[1 : 1 + len(candidate.own)]) == candidate.own:
            unexplained = 0
    if unexplained >= len(explained) and not filled.values:
        return -math.inf
    return score - 0.7 * unexplained


LABEL = "demo model, offline"
NOTICE = "demo model: rule-based, not a language model"
PACE_SECONDS = 0.012
"""Delay between two pieces of text, to show what streaming looks like."""

MAX_CALLS = 4

_SMALL_TALK: tuple[tuple[str, Callable[[Sequence[ToolSpec], bool], str]], ...] = (
    (
        r"(?:hi|hello|hey|good (?:morning|evening|afternoon)|你好|您好|嗨|こんにちは)(?: there)?",
        lambda tools, chinese: answers.say("greeting", chinese) + answers.help_text(tools, chinese),
    ),
    (
        r"(?:thanks?(?: you)?(?: (?:so|very) much)?|thx|cheers|great|nice|cool|谢谢你?|多谢)",
        lambda tools, chinese: answers.say("thanks", chinese),
    ),
    (
        r"(?:/?help(?: me)?|\?|what (?:can|do) you do(?: for me)?|what are you(?: able to do)?|who are you"
        r"|how (?:do|does) (?:you|this|it) work"
        r"|are you (?:an? )?(?:ai|human|robot|bot|llm|language model|real)"
        r"|what can i (?:do|ask)(?: you)?(?: here)?|how are you(?: doing)?(?: today)?"
        r"|帮助|你(?:能|会|可以)(?:做|干)(?:什么|些什么|啥).?|你是谁.?|你是什么.?)",
        answers.help_text,
    ),
    (
        r"/?(?:(?:list|show|what|which)\s*(?:me\s+)?)?(?:all\s+)?(?:the\s+|your\s+)?(?:available\s+)?tools"
        r"(?:\s+(?:are there|do you have|can you (?:use|call)|are available))?"
        r"|(?:列出|显示|有哪些|有什么)?(?:所有|全部|可用的?)?工具(?:有哪些)?",
        answers.list_tools,
    ),
)
_CALL = late(r"^\s*(?:/call\s+(\S+)\s*(.*)|call\s+(\S+)\s*(\{.*))$", re.S)
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


class DemoModel:
    """A rule-based ChatModel; `pace` is the seconds between two pieces of text, 0 without a screen."""

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
        return Move(answers.help_text(tools, False))
    text = _user_text(messages[at])
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


def _user_text(message: Message) -> str:
    return message.text if isinstance(message, UserMessage) else ""


def _first_move(text: str, before: Sequence[Message], tools: Sequence[ToolSpec], chinese: bool) -> Move:
    if found := _CALL.match(text):
        return _explicit(found[1] or found[3], found[2] or found[4] or "", tools)
    if len(text) > MAX_TEXT:
        return Move(answers.say("too long", chinese, limit=MAX_TEXT))
    text = _LONG_GAP.sub(r"\1", text.strip())
    if (tool := suggested(text, tools)) is not None:
        return Move(calls=((tool, {}),))
    for pattern, answer in _SMALL_TALK:
        if re.match(rf"^\W*(?:{pattern})\W*$", text, re.I):
            return Move(answer(tools, chinese))
    move = _move(_clauses(text)[0], tools, chinese)
    return move if move.calls else _continued(text, before, tools, chinese) or move


def _explicit(name: str, arguments: str, tools: Sequence[ToolSpec]) -> Move:
    """`call NAME {JSON}`: exactly this tool with exactly these arguments."""
    found = [tool for tool in tools if name in (tool.name, tool.tool, f"{tool.server}/{tool.tool}")]
    if len(found) != 1:
        known = [tool.name for tool in found or tools]
        listed = answers.quoted(known[:12]) + (", …" if len(known) > 12 else ".")
        return Move(f"There is {'more than one' if found else 'no'} tool `{name[:80]}`. Known: {listed}")
    try:
        value = loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        usage = f'`call {name[:80]} {{"name": "value"}}`'
        return Move(f"The arguments are not valid JSON: {reason_of(error)}. Use {usage}.")
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
        return Move(answers.not_understood(tools, chinese))
    if choice.rivals:
        return Move(answers.say("several", chinese, names=answers.quoted(choice.rivals[:6])))
    if choice.filled.missing:
        return Move(answers.ask_for(choice.tool, choice.filled.missing, chinese))
    return Move(calls=tuple((choice.tool, values) for values in _each(choice.filled)))


def _each(filled: Filled) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments, once for each of several places ("Beijing and Shanghai")."""
    for name in PLACE_WORDS.split():
        value = filled.values.get(name) if name in filled.required else None
        places = [part for part in _LIST_OF_NAMES.split(value) if part] if isinstance(value, str) else []
        if 1 < len(places) <= MAX_CALLS and all(part[0].isupper() or part in PLACES for part in places):
            yield from ({**filled.values, name: PLACES.get(part, part)} for part in places)
            return
    yield filled.values


def _continued(text: str, before: Sequence[Message], tools: Sequence[ToolSpec], chinese: bool) -> Move | None:
    """If the demo has just asked for an argument, take `text` as the answer."""
    users = [message for message in before if isinstance(message, UserMessage)]
    if not users or not isinstance(before[-1], AssistantMessage) or before[-1].calls:
        return None
    choice = choose_tool(_clauses(users[-1].text[:MAX_TEXT])[0], tools)
    if choice is None or choice.rivals or len(choice.filled.missing) != 1:
        return None
    if _NEVER_MIND.match(text):
        return Move(answers.say("dropped", chinese))
    name = choice.filled.missing[0]
    value = fill(choice.tool, text).values.get(name)
    if value is None and len(text) <= 80:
        value = fill(choice.tool, f'{name}: "{text}"').values.get(name)
    if value is None:
        return None
    return Move(calls=((choice.tool, {**choice.filled.values, name: PLACES.get(value, value)}),))


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
