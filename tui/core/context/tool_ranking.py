"""Ranks the tools to offer to a model that does not accept all of them. Pure.

The order: pinned tools, tools that the model has loaded, tools used in this conversation, the best matches of
the question, tools offered before, then the others, taking turns between servers.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from tui.core.context.built_in_tools import READ_RESULT, built_in
from tui.core.conversation.conversation import AssistantMessage, Message, UserMessage
from tui.core.ports import MAX_TOOLS
from tui.core.schemas.tool_names import NameTable
from tui.core.text import object_in
from tui.core.tools import Tool

WINDOW_SHARE = 0.25
"""The share of the model's window that tool definitions may take."""

RESERVED_TOKENS = 200
"""Tokens reserved for `read_result`, which is not always offered, and as many for `find_tools`; each also has
one position reserved."""

MAX_RECENT = 40
"""The number of recently used tools that come before others."""

_LOOKED_BACK = 400

Key = tuple[str, str]
"""A tool's server and its own name."""


@dataclass(frozen=True, slots=True)
class OfferContext:
    """The facts that the choice of tools depends on, besides the tools.

    The model accepts `max_tools` and has a `window` in tokens, None if unknown. Tools that were offered
    earlier in this `turn` stay offered; `earlier` were offered in the previous turn; `loaded` were searched
    for by the model, or called without being offered, newest first.
    """

    max_tools: int = MAX_TOOLS
    window: int | None = None
    talk: Sequence[Message] = ()
    turn: frozenset[Key] = frozenset()
    earlier: frozenset[Key] = frozenset()
    loaded: tuple[Key, ...] = ()

    @property
    def tokens(self) -> float:
        return math.inf if self.window is None else self.window * WINDOW_SHARE


def key_of(tool: Tool) -> Key:
    """Return the key of a tool."""
    return tool.server, tool.name


def choose(
    table: NameTable, context: OfferContext, tokens_of: Callable[[str, Tool], int | None]
) -> tuple[frozenset[Key], bool, list[tuple[str, Tool]]]:
    """Return the tools to offer besides `find_tools`, whether that is all of them, and all tools by rank.

    `tokens_of` returns the tokens of a tool's definition; None if it cannot be offered at all. If all fit,
    nothing is ranked, and the last list is empty.
    """
    items = table.items()
    if len(items) <= context.max_tools:
        sizes = {key_of(tool): tokens_of(name, tool) for name, tool in items}
        if sum(size or 0 for size in sizes.values()) <= context.tokens:
            return frozenset(key for key, size in sizes.items() if size is not None), True, []
    chosen: set[Key] = set()
    own = any(built_in(tool) == READ_RESULT for _, tool in items)
    places = context.max_tools - 1 - (not own)
    tokens = context.tokens - RESERVED_TOKENS * (1 + (not own))
    order = ranked(table, context)
    for name, tool in order:
        if len(chosen) >= places:
            break
        size = tokens_of(name, tool)
        if size is not None and size <= tokens:
            chosen.add(key_of(tool))
            tokens -= size
    return frozenset(chosen), False, order


def ranked(table: NameTable, context: OfferContext) -> list[tuple[str, Tool]]:
    """Return all tools with their names, in the order in which they would be offered."""
    items = table.items()
    recent = _recent(context.talk, table)
    loaded = {key: at for at, key in enumerate(context.loaded)}
    said = (message.text for message in reversed(context.talk) if isinstance(message, UserMessage))
    question = "\n".join(islice(said, 2))  # because "and tomorrow?" means nothing on its own
    scores = relevance(question, [tool for _, tool in items])
    of_server: Counter[str] = Counter()
    ranks: list[tuple[tuple[float, ...], int]] = []
    for at, ((_, tool), score) in enumerate(zip(items, scores, strict=True)):
        of_server[tool.server] += 1
        turns = (of_server[tool.server], at)
        key = key_of(tool)
        if built_in(tool):
            rank: tuple[float, ...] = (0, at)
        elif tool.pinned:
            rank = (1, at)
        elif key in loaded:
            rank = (2, loaded[key])
        elif key in context.turn:
            rank = (3, recent.get(key, MAX_RECENT), -score, *turns)
        elif key in recent:
            rank = (4, recent[key])
        elif score:
            rank = (5, -score, at)
        else:
            rank = (6, key not in context.earlier, *turns)
        ranks.append((rank, at))
    return [items[at] for _, at in sorted(ranks)]


def _recent(talk: Sequence[Message], table: NameTable) -> dict[Key, int]:
    """Return the tools that were called last, and how many others were called after each."""
    found: dict[Key, int] = {}
    for message in islice(reversed(talk), _LOOKED_BACK):
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            tool = table.resolve(call.name)
            if tool is not None:
                found.setdefault(key_of(tool), len(found))
        if len(found) >= MAX_RECENT:
            break
    return found


MAX_QUESTION = 4_000
MAX_DESCRIPTION = 400
MAX_PROPERTIES = 30
NAME, PROPERTY, DESCRIPTION = 3.0, 0.7, 1.0
"""The weight of a word, by where it occurs."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LETTERS = re.compile(r"[a-z0-9]+|[^\x00-\x7f\W]+", re.IGNORECASE)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "er", "es", "ed", "s", "y", "e")
_COMMON = frozenset(
    "a an and any are as at be by can could do does for from give get has have how i if in into is it its "
    "list me my of on or our please show tell that the their them then there this to up us use used using "
    "was we what when where which who will with would you your".split()
)


def words(text: str) -> list[str]:
    """Return the words of `text` for comparing: lower case, no endings; CJK as pairs of characters."""
    return [part for word in _split(text) for part in _compared(word)]


def _split(text: str) -> list[str]:
    return _LETTERS.findall(_CAMEL.sub(" ", text).lower())


def _compared(word: str) -> Sequence[str]:
    if word.isascii():
        endings = (one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) >= 3)
        return () if word in _COMMON else (word.removesuffix(next(endings, "")),)
    # Chinese, Japanese, Thai, … are written without spaces between words.
    if any("\u0e00" <= letter <= "\u0eff" or "\u3040" <= letter <= "\u9fff" for letter in word):
        return [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    return [word]


def relevance(question: str, tools: Sequence[Tool]) -> list[float]:
    """Return for each tool how well it matches the question; 0 if no word matches."""
    asked = set(words(question[:MAX_QUESTION]))
    if not asked:
        return [0.0] * len(tools)
    known: dict[str, Collection[str]] = {}
    weighed = [_weighed(tool, asked, known) for tool in tools]
    having = Counter(word for one in weighed for word in one)
    rare = {word: math.log(1 + len(tools) / count) for word, count in having.items()}
    return [sum(rare[word] * weight for word, weight in one.items()) for one in weighed]


def _weighed(tool: Tool, asked: set[str], known: dict[str, Collection[str]]) -> dict[str, float]:
    """Return the words of the question that occur in a tool, with their weights.

    `known` caches the matching words of the question for each word: thousands of tools share most of their
    words.
    """
    names = list(object_in(tool.schema, "properties"))[:MAX_PROPERTIES]
    parts = (
        (DESCRIPTION, f"{tool.title} {tool.description[:MAX_DESCRIPTION]}"),
        (PROPERTY, " ".join(str(name)[:60] for name in names)),
        (NAME, f"{tool.server[:60]} {tool.name[:120]}"),
    )
    found: dict[str, float] = {}
    for weight, text in parts:
        for word in _split(text):
            had = known.get(word)
            if had is None:
                had = known[word] = asked.intersection(_compared(word))
            for one in had:
                found[one] = max(weight, found.get(one, 0.0))
    return found
