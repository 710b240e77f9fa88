"""What of a message can be searched for, and where in it something was found. Pure.

Texts are compared as in the traffic (`core.search_text`): the index holds folded texts and is asked for
folded words.
"""

from collections.abc import Sequence

from tui.core.conversation.conversation import AssistantMessage, Message, ToolMessage, UserMessage
from tui.core.search_text import text_readings
from tui.core.text import clean_line, fold, spans

INDEXED = 256 * 1024
"""Characters of a message that can be searched for."""

AROUND = 60
"""Characters of an excerpt on each side of what was found."""

SHORTEST = 3
"""Characters that the index can look for; it holds trigrams."""


def said(message: Message) -> str:
    """Return the text of a message: what was said, what was called with what, what was attached by name."""
    match message:
        case UserMessage():
            parts = [message.text, *(one.name for one in message.attachments)]
        case AssistantMessage():
            calls = ([call.name, *text_readings(call.arguments)] for call in message.calls)
            parts = [message.text, *map(" ".join, calls)]
        case ToolMessage():
            parts = [*text_readings(message.text)]
    return "\n".join(part for part in parts if part)[:INDEXED]


def words_of(text: str) -> list[str]:
    """Return the words of a search; all of them have to be in a message, as parts of words too."""
    return fold(text).split()


def match_of(words: Sequence[str]) -> str:
    """Return how FTS5 is asked for words (https://sqlite.org/fts5.html 3), "" if its index is of no use."""
    usable = [word.replace("\0", " ").replace('"', '""') for word in words if len(word) >= SHORTEST]
    return " AND ".join(f'"{word}"' for word in usable)


def excerpt(text: str, words: Sequence[str]) -> str | None:
    """Return a cleaned line of `text` around the first of the words, None if not all are in it."""
    folded = fold(text)
    places = [folded.find(word) for word in words]
    if not places or min(places) < 0:
        return None
    at = min(places)
    if len(folded) != len(text):  # "ß" is folded to "ss"
        at = min(next(spans(text, word))[0] for word in words)
    start = max(0, at - AROUND)
    end = at + AROUND + max(len(word) for word in words)
    line = clean_line(text[start:end], 2 * AROUND + 120)
    return f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"
