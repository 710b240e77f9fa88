"""How well tools fit a question, by their words: enough to choose which of many are offered. Pure.

Words that few tools have count for more (inverse document frequency); words of a tool's name count for
more than those of its description. Nothing is understood here: a tool that is not chosen can be pinned.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from tui.core.tools import Tool

MAX_QUESTION = 4_000
MAX_DESCRIPTION = 400
MAX_PROPERTIES = 30
NAME, PROPERTY, DESCRIPTION = 3.0, 0.7, 1.0
"""What a word counts where it stands."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LETTERS = re.compile(r"[a-z0-9]+|[^\x00-\x7f\W]+", re.IGNORECASE)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "er", "es", "ed", "s", "y", "e")
_COMMON = frozenset(
    "a an and any are as at be by can could do does for from give get has have how i if in into is it its "
    "list me my of on or our please show tell that the their them then there this to up us use used using "
    "was we what when where which who will with would you your".split()
)


def words(text: str) -> list[str]:
    """Return the words of `text` as they are compared: small, without endings; CJK in pairs of letters."""
    found: list[str] = []
    for word in _LETTERS.findall(_CAMEL.sub(" ", text).lower()):
        if not word.isascii():
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))] if _runs_on(word) else [word]
        elif word not in _COMMON:
            found.append(_stem(word))
    return found


def relevance(question: str, tools: Sequence[Tool]) -> list[float]:
    """Return for each tool how well it fits the question; 0 if no word of it does."""
    asked = set(words(question[:MAX_QUESTION]))
    if not asked:
        return [0.0] * len(tools)
    weighed = [_weighed(tool, asked) for tool in tools]
    having = Counter(word for one in weighed for word in one)
    rare = {word: math.log(1 + len(tools) / count) for word, count in having.items()}
    return [sum(rare[word] * weight for word, weight in one.items()) for one in weighed]


def _weighed(tool: Tool, asked: set[str]) -> dict[str, float]:
    """Return the words of the question that the tool has, and what each counts."""
    properties = tool.schema.get("properties")
    names = list(properties)[:MAX_PROPERTIES] if isinstance(properties, dict) else []
    parts = (
        (DESCRIPTION, f"{tool.title} {tool.description[:MAX_DESCRIPTION]}"),
        (PROPERTY, " ".join(str(name)[:60] for name in names)),
        (NAME, f"{tool.server[:60]} {tool.name[:120]}"),
    )
    found: dict[str, float] = {}
    for weight, text in parts:
        for word in asked.intersection(words(text)):
            found[word] = max(weight, found.get(word, 0.0))
    return found


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _runs_on(word: str) -> bool:
    """Whether a script writes its words without spaces (Chinese, Japanese, Thai, …)."""
    return any("\u0e00" <= letter <= "\u0eff" or "\u3040" <= letter <= "\u9fff" for letter in word)
