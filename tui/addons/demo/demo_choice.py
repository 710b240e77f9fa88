"""Selects the tool that a sentence asks the demo model for, and fills in its arguments. Pure.

The words and patterns that it knows are in `vocabulary.toml`.

A wrong call costs more than a missed one: a tool is called only if the sentence mentions its own name (or,
for meaningless names, its description), if it does not ask for something of another kind (nothing is written
or deleted unless the sentence begins with such a verb), and if no other tool matches about as well. The
patterns search only a bounded text, each in about linear time.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from tui.core.context.built_in_tools import FIND_TOOLS
from tui.core.ports import ToolSpec
from tui.core.schemas.schemas import kinds_of
from tui.core.text import mapping, object_in
from tui.runtime.example_questions import MAX_LENGTH, needs_arguments, question_of

# ---- words


def stem(word: str) -> str:
    """Return `word` without its most common endings, so that most of its forms are equal."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    ending = next((end for end in ("ing", "ed", "ly") if word[3:].endswith(end)), "")
    word = word.removesuffix(ending)
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _table(text: str) -> dict[str, str]:
    """Return the words of a table (`meaning word word, meaning word`) with their meanings."""
    entries = [entry.split() for entry in text.split(",")]
    return {word.replace("_", " "): meaning for meaning, *words in entries for word in words}


_READ_ONLY = frozenset({"get", "list", "search"})
"""Verbs that only read. Groups of verbs are as coarse as safety allows."""

KNOWN = tomllib.loads((files("tui.addons.demo") / "vocabulary.toml").read_text(encoding="utf-8"))
_TABLES = {name: _table(text) for name, text in KNOWN["words"].items()}
_LISTS = {name: text.split() for name, text in KNOWN["lists"].items()}
VERBS = {stem(word): verb for word, verb in _TABLES["verbs"].items()}
STOP_WORDS = frozenset(map(stem, _LISTS["stop"]))
SYNONYMS = {stem(word): stem(meaning) for word, meaning in _TABLES["synonyms"].items()}
PLACES = {chinese: latin.replace("_", " ") for chinese, latin in _TABLES["places"].items()}
_CHINESE, _ZONES = _TABLES["chinese"], _TABLES["zones"]


def _longest_first(words: list[str]) -> str:
    """Return a pattern for any of `words` that prefers the longest match."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_CHINESE_NOISE = re.compile(_longest_first([*_CHINESE, *_LISTS["filler"]]))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PIECE = re.compile(rf"[a-z0-9]+|{_longest_first([*_CHINESE])}")


def is_cjk(text: str) -> bool:
    """Whether `text` is at least partly Chinese, Japanese or Korean."""
    return _CJK.search(text) is not None


def words(text: str) -> list[str]:
    """Return the words of `text` in order: lower case, stemmed, camelCase split, Chinese ones in English."""
    pieces = _PIECE.findall(_CAMEL.sub(" ", text).lower().replace("'s", " "))
    return [stem(_CHINESE.get(piece, piece)) for piece in pieces]


def meanings(tokens: list[str]) -> set[str]:
    """Return the topic words of `tokens`: without stop words, with synonyms."""
    about = {token for token in tokens if token not in STOP_WORDS}
    return about | {SYNONYMS[token] for token in tokens if token in SYNONYMS}


# ---- the choice

MARGIN = 0.4
"""The score by which the best tool must exceed the second."""

MAX_TOOLS = 512
"""Maximum tools that are considered; more would delay a keystroke."""

MAX_PROPERTIES = 64
MAX_TEXT = 4000
"""Maximum characters of a sentence that are read, so that the patterns stay cheap."""

MAX_PLACE_WORDS = 5
MAX_BARE_WORDS = 3
"""In a sentence this short, a lower-case word may be a place too ("weather nyc")."""

EDGE = " \t\n\"'`“”「」.,;!?。，；！？"

_PATTERNS = {name: "|".join(patterns) for name, patterns in KNOWN["patterns"].items()}
_POLITE = re.compile(rf"^\s*(?:{_PATTERNS['polite']})+", re.I)
_TALK, _NOTE_DOWN = re.compile(_PATTERNS["talk"], re.I), re.compile(_PATTERNS["note_down"], re.I)
NEVER_MIND = re.compile(_PATTERNS["never_mind"], re.I)
_WHEN = re.compile(rf"(?:\b(?:{_PATTERNS['when']})(?:\W+|$))+$", re.I)

_PIECES = {name: tuple(map(re.compile, patterns)) for name, patterns in KNOWN["pieces"].items()}
_PAYLOADS, (_QUOTED,) = _PIECES["payload"], _PIECES["quoted"]
_VALUES = {
    kind: (
        frozenset(known["names"].split()),
        [each for text in known["patterns"] for each in _PIECES.get(text) or (re.compile(text),)],
    )
    for kind, known in KNOWN["values"].items()
}
"""The words of a property's name, and what its value looks like."""

_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_ZONE = re.compile(
    r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Za-z_/+-]+"
    rf"|(?<!\w)(?:{_longest_first([*_ZONES])})(?!\w)",
    re.I,
)
_TAIL = re.compile(r"\b(?:for|of|in|named|called|to|with|about|from|on|at)\s+(.+)$", re.I)
_PLACE_TAIL = re.compile(r"\b(?:in|for|at|of|near|around)\s+(?:the\s+(?:(?:city|town)\s+of\s+)?)?", re.I)
_POSSESSIVE = re.compile(r"\b([A-Z][\w-]*(?: [A-Z][\w-]*){0,3})['’]s\b")
_CJK_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,8}|[A-Za-z][A-Za-z .'-]*[A-Za-z]")
_PLACE_NAME = re.compile("|".join(PLACES))


class DemoChoice(NamedTuple):
    """The tool for a sentence and its arguments.

    Attributes:
        values: the arguments that were found, by property name.
        missing: required properties that were not found, in the schema's order.
        rivals: the names of tools that match as well, so that no call is made.
    """

    tool: ToolSpec
    values: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()


def choose_tool(text: str, tools: Sequence[ToolSpec]) -> DemoChoice | None:
    """Return the tool that `text` asks for, if there is one."""
    bare = _POLITE.sub("", text)[:MAX_TEXT]
    content = next(filter(None, (pattern.search(bare) for pattern in _PAYLOADS)), None)
    head = bare[: content.start(1)] if content else _QUOTED.sub(" ", bare)
    tokens = words(head)
    intent = "add" if _NOTE_DOWN.match(bare) else next((VERBS[one] for one in tokens if one in VERBS), None)
    if not meanings(tokens) or (_TALK.search(head) and not (content and intent == "add")):
        return None
    found = [_judged(text, tokens, intent, tool) for tool in tools[:MAX_TOOLS] if tool.tool != FIND_TOOLS]
    ranked = sorted(filter(None, found), key=lambda entry: -entry[0])
    if not ranked:
        return None
    rivals = [own_name(choice.tool) for score, choice in ranked if ranked[0][0] - score < MARGIN]
    return ranked[0][1]._replace(rivals=tuple(rivals) if len(rivals) > 1 else ())


def _judged(
    text: str, tokens: list[str], intent: str | None, tool: ToolSpec
) -> tuple[float, DemoChoice] | None:
    """Return the evidence for a tool, with its arguments; None if the sentence may not run it at all.

    `tokens` are the words of the sentence, without the content that it quotes.
    """
    about, content = meanings(tokens), [token for token in tokens if token not in STOP_WORDS]
    name, description = words(own_name(tool)), meanings(words(tool.description[:400]))
    description -= {*name}
    verb = next((VERBS[token] for token in name if token in VERBS), None)
    own = {*name} - VERBS.keys() - STOP_WORDS
    named = about & own

    reads = verb is None or verb in _READ_ONLY
    if intent not in (None, *_READ_ONLY) if reads else intent != verb:
        if verb is not None or intent != "add":
            return None
    if not named and (own or tokens[0] not in name):
        things = about - VERBS.keys()
        described = len(things & description)
        if described < (1 if intent == verb == "list" else 2) or described * 2 < len(things):
            return None
    # A question, an order, or little more than its name selects a tool without arguments.
    properties = _properties(tool)
    if not properties and intent is None and content[0] not in named and about - named:
        return None

    choice = fill(tool, text, name)
    said = {*name, *description, *words(" ".join(map(str, (*properties, *choice.values.values()))))}
    unexplained = sum(not {word, SYNONYMS.get(word)} & said for word in about)
    # "delete the note buy milk" is about notes, not about milk: the words after the tool's own say which
    # note, and a tool that needs more information than that asks for it.
    if intent == verb == "delete" and own and content[0] in VERBS and {*content[1 : 1 + len(own)]} == own:
        unexplained = 0
    if unexplained * 2 >= len(about) and not choice.values:
        return None
    verbs = [VERBS[token] for token in tokens if token in VERBS]
    score = 3.0 * len(named) + len(about & description) - 1.2 * len(own - about) - 0.7 * unexplained
    score += (verb in verbs) - (verb not in verbs and intent in ("search", "list"))
    score += -0.4 * len(choice.missing) if choice.missing else 1.2 if choice.values else 0.2
    return (score, choice) if score > 0 else None


def own_name(tool: ToolSpec) -> str:
    """Return the name that a tool's server gave it."""
    return tool.tool or tool.name


def suggested(text: str, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool whose description is the question `text`, as the start screen suggests it."""
    wanted = text.strip().rstrip(".").casefold()
    asked = (tool for tool in tools[:MAX_TOOLS] if 0 < len(wanted) <= MAX_LENGTH)
    bare = (tool for tool in asked if question_of(tool.description).casefold() == wanted)
    return next((tool for tool in bare if not needs_arguments(tool.schema)), None)


def _properties(tool: ToolSpec) -> dict[str, Mapping[str, Any]]:
    """Return the properties of a schema, which may be anything."""
    items = list(object_in(tool.schema, "properties").items())[:MAX_PROPERTIES]
    return {str(name): mapping(schema) for name, schema in items}


def fill(tool: ToolSpec, text: str, taken: Collection[str] = ()) -> DemoChoice:
    """Find the arguments of `tool` in `text`. Words in `taken` name the tool and are therefore not values."""
    properties, names = _properties(tool), tool.schema.get("required")
    required = [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []
    required = sorted(required[:MAX_PROPERTIES], key=[*properties, *required].index)
    text = text[:MAX_TEXT].strip()
    spelled = _QUOTED.sub(" ", text.lower())
    for number, word in enumerate(_LISTS["numbers"]):
        spelled = re.sub(rf"\b{word}\b", str(number), spelled)
    numbers = _NUMBER.findall(spelled)
    values: dict[str, Any] = {}
    for name in sorted(properties, key=lambda name: name not in required):
        schema = properties[name]
        value = _named(text, name, schema)
        kind = _type(schema)
        if value is None and isinstance(enum := schema.get("enum"), list):
            said = re.findall(r"\w+", text.casefold())
            value = next((one for one in enum if isinstance(one, str) and one.casefold() in said), None)
        elif value is None and kind in ("integer", "number") and numbers:
            spoken = words(text)
            if name in required or not required or any(word in spoken for word in words(name)):
                value = _coerce(numbers.pop(0), schema)
        elif value is None and kind == "string":
            value = _string(name, text, tool, taken, required)
        if value is not None:
            values[name] = value
    return DemoChoice(tool, values, tuple(name for name in required if name not in values))


def _named(text: str, name: str, schema: Mapping[str, Any]) -> Any:
    """Return a value that a sentence names: `city=Oslo`, `days: 3`, `id is x`, `content "hi"`."""
    label = re.escape(name).replace("_", "[_ ]")
    between = r"(?:\s*(?:=|[:：](?!//)|\s(?:is|of)\s)\s*|\s+(?=\"|[\w-]*\d))"
    found = re.search(rf"(?<!\w){label}{between}(\"[^\"]*\"|'[^']*'|[^\s,;，；]+)", text, re.I)
    return None if found is None else _coerce(found[1].strip(EDGE), schema)


def _coerce(raw: str, schema: Mapping[str, Any]) -> Any:
    """Return `raw` as the schema's type, or None if it cannot be that."""
    if isinstance(enum := schema.get("enum"), list):
        return next((item for item in enum if str(item).casefold() == raw.casefold()), None)
    match _type(schema):
        case "integer" | "number" as kind:
            number = float(raw) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", raw) else None
            is_whole = number is not None and number.is_integer()
            return int(raw.partition(".")[0]) if is_whole else number if kind == "number" else None
        case "boolean":
            return {"true": True, "yes": True, "on": True, "false": False, "no": False}.get(raw.casefold())
        case "array":
            return [item.strip() for item in raw.split(",") if item.strip()] or None
        case "object" | "null":
            return None
    return raw or None


def _type(schema: Mapping[str, Any]) -> str:
    """Return the first type that the schema accepts besides null; "string" if it accepts any."""
    return next((kind for kind in kinds_of(schema) if kind != "null"), "string")


def _string(
    name: str, text: str, tool: ToolSpec, taken: Collection[str], required: Collection[str]
) -> str | None:
    """Return a string by the kind of value that the property's name suggests."""
    kinds = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]", " ", name).lower().split())
    if kinds & {"timezone", "tz", "zone"}:  # the first or second, by its IANA name or that of a large city
        for chinese, latin in PLACES.items():
            text = text.replace(chinese, f" {latin} ")
        zones = [_ZONES.get(found[0].casefold(), found[0]) for found in _ZONE.finditer(text)]
        place = bool(kinds & {"target", "to", "destination"})
        return zones[place] if len(zones) > place else None
    if kinds.intersection(_LISTS["place_names"]):
        return _place(text, tool, taken)
    kind = next((kind for kind, (names, _) in _VALUES.items() if kinds & names), "")
    if name not in required and kind in ("", "text"):
        return None
    if not kind:
        return _first((_QUOTED, *(() if len(required) > 1 else (*_PAYLOADS, _TAIL))), text)
    first, _, rest = text.partition(" ")
    is_named = kind == "text" and words(first) == words(own_name(tool))  # "echo hello"
    return _first(_VALUES[kind][1], text) or (rest if is_named else None)


def _first(patterns: Collection[re.Pattern[str]], text: str) -> str | None:
    """Return the group of the first pattern that matches."""
    found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
    return None if found is None else found[found.lastindex or 0].strip(EDGE) or None


def _place(text: str, tool: ToolSpec, taken: Collection[str]) -> str | None:
    """Return the place in a sentence.

    A Chinese name in the tool's description is kept, others are written in Latin letters if they are known.
    """
    if is_cjk(text):
        if named := _PLACE_NAME.search(text):
            return named[0] if named[0] in tool.description else PLACES[named[0]]
        rest = _CJK_RUN.search(_CHINESE_NOISE.sub(" ", text))
        return rest[0].removesuffix("市") if rest else None
    for found in _POSSESSIVE.finditer(text):
        if not STOP_WORDS.intersection(words(found[1])):
            return found[1]
    for tail in reversed(_PLACE_TAIL.split(text)[1:]):
        name = re.split(r"[?!;:\n]|[.,](?:\s|$)(?!\s*[A-Z])", tail, maxsplit=1)[0]
        name = _WHEN.sub("", name).strip(" .,'\"`")
        is_place = not STOP_WORDS.issuperset(words(name)) and re.match(r"[^\W\d]", name)
        if is_place and len(name.split()) <= MAX_PLACE_WORDS:
            return name
    # Otherwise, what is left without common words and those that name the tool.
    common = STOP_WORDS.union(taken)
    found_words = ((raw, words(raw)) for raw in re.findall(r"[\w'-]+", text))
    left = [raw for raw, said in found_words if common.isdisjoint({*said, *meanings(said)})]
    joined = " ".join(left)
    if not 0 < len(left) <= 3 or joined not in text or re.search(r"\d", joined):
        return None
    return joined if joined[0].isupper() or len(text.split()) <= MAX_BARE_WORDS else None
