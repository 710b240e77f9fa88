"""How the demo model selects a tool: by words, preferring precision to recall. Pure.

A wrong call costs more than a missed one, so a tool is called only if the sentence mentions its own name
(or, for meaningless names, its description), if the sentence does not ask for something of another kind
(nothing is written or deleted unless the sentence begins with such a verb), and if no other tool matches
about as well.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.core.ports import ToolSpec
from tui.model.demo.demo_arguments import Filled, fill
from tui.model.demo.demo_phrases import payload_split
from tui.model.demo.demo_words import STOP_WORDS, SYNONYMS, VERBS, Verb, meanings, words

MARGIN = 0.4
"""How much better than the second the best tool must be."""

NEVER = -99.0

MAX_TOOLS = 512
"""Tools considered; more would delay a keystroke."""

_POLITE = re.compile(
    r"^\s*(?:(?:hi|hello|hey|ok|okay|well|so|and|now|then|also|please|pls)\b[\s,!.]*"
    r"|(?:can|could|would|will) you\b\s*(?:please\b)?\s*"
    r"|i(?:'d| would) like (?:you )?to\b\s*|i (?:want|need) (?:you )?to\b\s*|let'?s\b\s*|help me\b\s*)+",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(?:joke|poem|poetry|story|essay|song|haiku|limerick|opinion|philosophy|meaning|translate|summari[sz]e"
    r"|explain|why|love|hate|feel|feeling|think|believe|code|program|function|recipe|advice|recommend"
    r"|history of|difference between|metaphor|novel|lyrics|riddle|count on|favou?rite)\b"
    r"|笑话|诗|故事|为什么|翻译|解释|小说|歌词|意义",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"^\s*(?:(?:i|we|he|she|they|it|you)(?:['’]\w+)?\s"
    r"|(?:my|his|her|our|their|that|this|the|there)\b.*\b(?:is|are|was|were|am|has|had|seems?|looks?|feels?|got)\b)",
    re.IGNORECASE,
)
_NOT_ASKED = re.compile(
    r"^\s*(?:do not|don['’]?t|never|no need|should i|shall i|what if|what happens"
    r"|how (?:do|can|would|should|to|long|often|come)\b(?! you)|what(?:['’]s| is) an? )"
    r"|^\s*(?:不要|别|不用|不想|不必|怎么(?!样))",
    re.IGNORECASE,
)
_NOTE_DOWN = re.compile(r"^\s*(?:note|todo)(?:\s+(?:(?:it|this)\s+)?(?:that|down)\b|\s*[:：])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DemoChoice:
    """The tool for a sentence.

    Attributes:
        tool: the tool, or None.
        filled: its arguments, and the names of missing required ones.
        rivals: own names of tools that match about as well; if any, nothing may be called.
    """

    tool: ToolSpec | None = None
    filled: Filled = field(default_factory=Filled)
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    """A sentence, parsed once for all tools."""

    text: str
    tokens: list[str]
    about: set[str]
    verbs: set[Verb]
    intent: Verb | None


@dataclass(frozen=True, slots=True)
class _Profile:
    """A tool, parsed once."""

    spec: ToolSpec
    verb: Verb | None
    name: set[str]
    own: set[str]
    description: set[str]
    parameters: set[str]


def choose_tool(text: str, tools: Sequence[ToolSpec]) -> DemoChoice:
    """Return the tool that `text` asks for, if it is unambiguous."""
    sentence = _read(text)
    if not sentence.about or _is_talk(sentence):
        return DemoChoice()
    profiles = [_profile(tool) for tool in tools[:MAX_TOOLS]]
    weights = _weights(profiles)
    ranked: list[tuple[float, ToolSpec, Filled]] = []
    for profile in profiles:
        if (base := _score(sentence, profile, weights)) > 0:
            filled = fill(profile.spec, text, taken=profile.name)
            ranked.append((base + _fit(sentence, profile, filled), profile.spec, filled))
    if not ranked:
        return DemoChoice()
    ranked.sort(key=lambda entry: -entry[0])
    best, tool, filled = ranked[0]
    if best <= 0:
        return DemoChoice()
    rivals = [spec.tool or spec.name for score, spec, _ in ranked if best - score < MARGIN]
    return DemoChoice(tool, filled, tuple(rivals) if len(rivals) > 1 else ())


def _read(text: str) -> _Request:
    text = _POLITE.sub("", text)
    head, _ = payload_split(text)
    tokens = words(head)
    classed = [VERBS[token] for token in tokens if token in VERBS]
    intent = classed[0] if classed else None
    if _NOTE_DOWN.match(text):
        intent = Verb.ADD
    return _Request(text, tokens, meanings(tokens), set(classed), intent)


def _is_talk(sentence: _Request) -> bool:
    """Whether the sentence is conversation: a statement, or a request that no tool could fulfil."""
    head, payload = payload_split(sentence.text)
    if payload and sentence.intent is Verb.ADD:
        return False
    return bool(_TALK.search(head) or _TELLING.match(head) or _NOT_ASKED.match(head))


def _profile(spec: ToolSpec) -> _Profile:
    tokens = words(spec.tool or spec.name)
    verb = next((VERBS[token] for token in tokens if token in VERBS), None)
    properties = spec.schema.get("properties")
    names = [str(key) for key in properties] if isinstance(properties, Mapping) else []
    return _Profile(
        spec=spec,
        verb=verb,
        name=set(tokens),
        own={token for token in tokens if token not in VERBS and token not in STOP_WORDS},
        description=meanings(words(spec.description[:400])),
        parameters={word for name in names[:64] for word in words(name)},
    )


def _weights(profiles: Sequence[_Profile]) -> Counter[str]:
    """Return for each word the number of tools that use it: rare words say more."""
    return Counter(token for profile in profiles for token in profile.name | profile.description)


def _score(sentence: _Request, profile: _Profile, seen: Counter[str]) -> float:
    """Return how well the sentence matches the tool; 0 if it must not be called for it."""
    if not _compatible(sentence, profile.verb):
        return 0
    total = sum(seen.values()) or 1

    def weigh(tokens: set[str]) -> float:
        return sum(0.5 + math.log(1 + total / (1 + seen[token])) / 4 for token in tokens)

    named = sentence.about & profile.own
    described = (sentence.about & profile.description) - profile.name
    if not named:
        literal = bool(sentence.tokens) and sentence.tokens[0] in profile.name
        if profile.own or not literal:
            lists = sentence.intent is Verb.LIST is profile.verb
            things = {word for word in sentence.about if word not in VERBS}
            named_enough = len(described & things) >= 2 - lists and len(described) * 2 >= len(things)
            if not named_enough:
                return 0
    if not profile.parameters and not _imperative(sentence, named):
        return 0
    return 3 * weigh(named) + weigh(described) + 0.7 * weigh(sentence.about & profile.parameters)


def _compatible(sentence: _Request, verb: Verb | None) -> bool:
    """Whether a sentence of this intent may run a tool of this kind."""
    intent = sentence.intent
    if verb is None:
        return intent is None or intent.reads or intent is Verb.ADD
    if intent is Verb.LIST:
        return verb is Verb.LIST or (verb.reads and verb in sentence.verbs)
    if verb.reads:
        return intent is None or intent.reads
    return intent is verb


def _imperative(sentence: _Request, named: set[str]) -> bool:
    """Whether a tool without arguments is meant: by a question, an order, or little but its name."""
    if sentence.intent is not None:
        return True
    content = [token for token in sentence.tokens if token not in STOP_WORDS]
    return bool(content) and (content[0] in named or len(sentence.about - named) == 0)


def _fit(sentence: _Request, profile: _Profile, filled: Filled) -> float:
    """Return what speaks for and against a tool besides its words."""
    score = 0.0
    if profile.verb is not None and profile.verb in sentence.verbs:
        score += 1.0 if profile.verb in (Verb.SEARCH, Verb.LIST) else 0.4
    elif sentence.intent in (Verb.SEARCH, Verb.LIST):
        score -= 1.0
    required = len(filled.missing) + len(filled.required)
    score += 1.2 * len(filled.required) / required if required else 0.2
    score -= 0.4 * len(filled.missing)
    score -= 1.2 * len(profile.own - sentence.about)
    spoken = set(words(" ".join(_texts(filled.values))))
    known = profile.name | profile.description | profile.parameters | spoken
    explained = {word for word in sentence.about if word in known or SYNONYMS.get(word) in known}
    unexplained = 0 if _names_what_to_delete(sentence, profile) else len(sentence.about - explained)
    if unexplained >= len(explained) and not filled.values:
        return NEVER
    return score - 0.7 * unexplained


def _names_what_to_delete(sentence: _Request, profile: _Profile) -> bool:
    """Whether the sentence begins with the tool's own words: the rest says which one is meant.

    "delete the note buy milk" is about notes, not about milk; a tool that needs more than these words
    to know which one asks for it.
    """
    if not sentence.intent is profile.verb is Verb.DELETE or not profile.own:
        return False
    content = [token for token in sentence.tokens if token not in STOP_WORDS]
    return content[0] in VERBS and set(content[1 : 1 + len(profile.own)]) == profile.own


def _texts(values: Mapping[str, Any]) -> list[str]:
    return [str(value) for value in values.values()]
