"""Searches a session for what was said in it: by its index of words, or by reading it through."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from tui.core.conversation.message_json import message_of
from tui.storage.sessions.file import open_for_reading, session_errors
from tui.storage.sessions.tables import has_words, read_meta
from tui.storage.sessions.words import excerpt, match_of, said

MOST = 100
"""Places of one session that are told."""


def places_of(path: Path, words: Sequence[str], limit: int = MOST) -> list[tuple[int, str]]:
    """Return the places of the messages that have all the words, each with an excerpt, in order.

    The index only says where to look: whether the words are there is seen in the message itself.

    Args:
        path: the session's file.
        words: folded, as `words_of` gives them.
        limit: how many are wanted.

    Raises:
        StorageError: it cannot be read.
    """
    found: list[tuple[int, str]] = []
    with closing(open_for_reading(path)) as connection, session_errors(path):
        for place, body in _candidates(connection, words):
            try:
                shown = excerpt(said(message_of(json.loads(body))), words)
            except (ValueError, TypeError, RecursionError):
                continue
            if shown is not None:
                found.append((place, shown))
                if len(found) >= limit:
                    break
    return found


def _candidates(connection: sqlite3.Connection, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    match = match_of(words)
    if match and has_words(connection) and read_meta(connection).get("words", True):
        by_index = (
            "SELECT place, body FROM messages WHERE place IN (SELECT rowid FROM folded WHERE folded MATCH ?)"
        )
        yield from connection.execute(f"{by_index} ORDER BY place", (match,))
    else:
        yield from connection.execute("SELECT place, body FROM messages ORDER BY place")
