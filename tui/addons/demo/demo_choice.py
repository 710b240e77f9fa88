"""Selects the tool that a sentence asks the demo model for. Pure.

A wrong call costs more than a missed one: a tool is called only if the sentence mentions its own name (or,
for meaningless names, its description), if it does not ask for something of another kind (nothing is written
or deleted unless the sentence begins with such a verb), and if no other tool matches about as well.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.addons.demo.demo_arguments import Filled, fill, payload_split
from tui.addons.demo.demo_words import READ_ONLY, STOP_WORDS, SYNONYMS, VERBS, meanings, words
from tui.core.context.find_tools import FIND_TOOLS
from tui.core.example_questions import MAX_LENGTH, needs_arguments, question_of
from tui.core.late_compiling import late
from tui.core.ports import ToolSpec

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
    ranked: list[tuple[float, ToolSpec, Filled]] = []
    for candidate in candidates:
        if _is_meant(request, candidate):
            filled = fill(candidate.spec, text, candidate.name)
            ranked.append((_score(request, candidate, filled), candidate.spec, filled))
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


def _is_meant(request: _Request, candidate: _Candidate) -> bool:
    """Return whether a sentence may run this tool at all."""
    intent, verb = request.intent, candidate.verb
    if verb is None:
        fits = intent is None or intent in READ_ONLY or intent == "add"
    elif intent == "list":
        fits = verb == "list" or (verb in READ_ONLY and verb in request.verbs)
    else:
        fits = (intent is None or intent in READ_ONLY) if verb in READ_ONLY else intent == verb
    named = request.about & candidate.own
    literal = not candidate.own and request.tokens[0] in candidate.name
    if not named and not literal:
        things = request.about - VERBS.keys()
        described = len((things & candidate.description) - candidate.name)
        fits = fits and described >= (1 if intent == verb == "list" else 2) and described * 2 >= len(things)
    # A question, an order, or little more than its name selects a tool without arguments.
    if not candidate.parameters and intent is None:
        fits = (
            fits and bool(request.content) and not (request.content[0] not in named and request.about - named)
        )
    return fits


def _score(request: _Request, candidate: _Candidate, filled: Filled) -> float:
    """Return the evidence for and against a tool."""
    about, required = request.about, len(filled.missing) + len(filled.required)
    score = 3.0 * len(about & candidate.own) + len((about & candidate.description) - candidate.name)
    score += 0.7 * len(about & candidate.parameters)
    if candidate.verb in request.verbs:
        score += 1.0 if candidate.verb in ("search", "list") else 0.4
    elif request.intent in ("search", "list"):
        score -= 1.0
    score += 1.2 * len(filled.required) / required if required else 0.2
    score -= 0.4 * len(filled.missing) + 1.2 * len(candidate.own - about)
    known = candidate.name | candidate.description | candidate.parameters
    known.update(words(" ".join(map(str, filled.values.values()))))
    unexplained = sum(not {word, SYNONYMS.get(word)} & known for word in about)
    # "delete the note buy milk" is about notes, not about milk: the words after the tool's own say which
    # note, and a tool that needs more information than that asks for it.
    if request.intent == candidate.verb == "delete" and candidate.own and request.content[0] in VERBS:
        if set(request.content[1 : 1 + len(candidate.own)]) == candidate.own:
            unexplained = 0
    if unexplained * 2 >= len(about) and not filled.values:
        return -math.inf
    return score - 0.7 * unexplained
