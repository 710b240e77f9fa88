"""Searches a session for text with its word index, or by reading all messages.

Texts are compared as in the traffic (`core.search_text`): the index contains folded text and is queried with
folded words. `store` searches all sessions, and `file` makes the index.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.message_json import message_of
from tui.core.matching import spans
from tui.core.search.readings import text_readings
from tui.core.text import clean_line, fold
from tui.storage.files.foreign_file import bounded_rows
from tui.storage.sessions.file import can_read, open_for_reading, read_meta, session_errors

INDEXED = 256 * 1024
"""Maximum searchable characters of a message."""

AROUND = 60
"""Characters of an excerpt on each side of the match."""

SHORTEST = 3
"""The shortest word that the index can find; it consists of trigrams."""


def searchable_text(message: Message) -> str:
    """Return the searchable text of a message: its text, calls with arguments, names of attachments.

    Decoded JSON comes first: an excerpt shows 杭州, not its escapes.
    """
    match message:
        case UserMessage():
            parts = [message.text, *(one.name for one in message.attachments)]
        case AssistantMessage():
            parts = [message.text, *map(_call_text, message.calls)]
        case ToolMessage():
            parts = [*reversed(text_readings(message.text))]
    return "\n".join(part for part in parts if part)[:INDEXED]


def _call_text(call: CallRequest) -> str:
    return " ".join((call.name, *reversed(text_readings(call.arguments))))


def excerpt(text: str, words: Sequence[str]) -> str | None:
    """Return a cleaned excerpt of `text` around the first word, None unless it contains all words."""
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


MOST = 100
"""Matches of one session."""


def places_of(path: Path, words: Sequence[str], limit: int = MOST) -> list[tuple[int, str]]:
    """Return the messages that contain all folded words, in order, each with its index and an excerpt.

    The index only preselects messages. The message itself decides. A call and its result are one match if
    both contain the words.
    """
    found: list[tuple[int, str]] = []
    calls: set[str] = set()
    with closing(open_for_reading(path)) as connection, session_errors(path):
        for place, body in _candidates(connection, words):
            try:
                message = message_of(json.loads(body))
                shown = excerpt(searchable_text(message), words)
            except (ValueError, TypeError, RecursionError):
                continue
            if isinstance(message, AssistantMessage):
                calls |= {call.id for call in message.calls if excerpt(_call_text(call), words) is not None}
            is_counted = isinstance(message, ToolMessage) and message.call_id in calls
            if shown is not None and not is_counted:
                found.append((place, shown))
                if len(found) >= limit:
                    break
    return found


def _candidates(connection: sqlite3.Connection, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    usable = [word.replace("\0", " ").replace('"', '""') for word in words if len(word) >= SHORTEST]
    match = " AND ".join(f'"{word}"' for word in usable)  # https://sqlite.org/fts5.html 3
    if match and can_read(connection, "folded") and read_meta(connection).get("words", True):
        by_index = (
            "SELECT place, body FROM messages WHERE place IN (SELECT rowid FROM folded WHERE folded MATCH ?)"
        )
        yield from bounded_rows(connection, f"{by_index} ORDER BY place", (match,))
    else:
        yield from bounded_rows(connection, "SELECT place, body FROM messages ORDER BY place")
