"""Stores the rows of a session, for its only writer. Every text is redacted first. `file` has their schema.

The data for the list is in `meta` and is updated with each message, in the same transaction, so listing a
thousand sessions counts no rows.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from tui.core.conversation.conversation import (
    AssistantMessage,
    Intent,
    Message,
    Remark,
    SessionMeta,
    UserMessage,
)
from tui.core.conversation.message_json import (
    Object,
    dumps,
    message_object,
    message_of,
    plain,
    remark_object,
)
from tui.core.conversation.sessions import title_of
from tui.core.ports import Usage
from tui.core.secrets.named_values import without_named_arguments, without_named_values
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.text import fold
from tui.storage.files.foreign_file import is_damage
from tui.storage.files.sqlite_file import roll_back, storable
from tui.storage.sessions.file import REMARKS, can_read, read_meta
from tui.storage.sessions.search import searchable_text

OWN_LABEL = "mcptui"
"""Model label of mcptui's own messages. It never becomes the model of a session."""

Op = Callable[["SessionTables"], None]
"""Stores something, between `begin` and `commit`."""


class SessionTables:
    """Stores messages. For one thread. Call each method between `begin` and `commit`.

    `stored` is `meta` as of the last commit.
    """

    def __init__(self, connection: sqlite3.Connection, redact: Callable[[], Redactor]) -> None:
        self.connection = connection
        self._redact = redact
        self._clear = partial(redact().redact_spoken, shapes=True)
        self._meta: dict[str, Any] = {}
        self.stored: dict[str, Any] = {}
        self._has_words = False

    def load(self) -> None:
        """Read the metadata of the session; raises `sqlite3.Error`."""
        self._meta = read_meta(self.connection)
        self.stored = dict(self._meta)
        self._has_words = self._meta.get("words", True) and can_read(self.connection, "folded")

    def begin(self) -> None:
        self._clear = partial(self._redact().redact_spoken, shapes=True)
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit the transaction. From now on, its data survives kill -9."""
        if not self._has_words:  # the index will not contain this data
            self._meta["words"] = False
        changed = [
            (name, dumps(value)) for name, value in self._meta.items() if value != self.stored.get(name)
        ]
        self.connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", changed)
        self.connection.execute("COMMIT")
        self.stored = dict(self._meta)

    def roll_back(self) -> None:
        """Roll back the open transaction, if any."""
        self._meta = dict(self.stored)
        roll_back(self.connection)

    def message(self, place: int, message: Message, at: float) -> None:
        """Store a message, or replace the one at this index. The draft is dropped."""
        message = _without_own_secrets(message, self._redact())
        stored = message_object(without_secrets(message, self._clear))
        body = dumps(stored)
        old = self.connection.execute("SELECT body FROM messages WHERE place = ?", (place,)).fetchone()
        if old is not None:
            self._forget_words(place, searchable_text(message_of(json.loads(old[0]))))
        self.connection.execute(
            "INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?)", (place, stored["role"], at, body)
        )
        self.connection.execute("DELETE FROM draft")
        cleared = message_of(stored)
        self._change_words("INSERT INTO folded (rowid, text) VALUES (?, ?)", place, searchable_text(cleared))
        meta = self._meta
        meta["messages"] = max(meta.get("messages", 0), place + 1)
        meta["changed"] = at
        if isinstance(cleared, UserMessage):
            meta["turns"] = meta.get("turns", 0) + (old is None)
            if not meta.get("title"):
                meta["title"] = title_of(cleared.text)
        elif isinstance(cleared, AssistantMessage) and cleared.model not in ("", OWN_LABEL):
            meta["model"] = cleared.model

    def draft(self, text: str, reasoning: str) -> None:
        reasoning, text = self._redact().redact_texts([reasoning, text], self._clear)
        body = dumps({"text": text, "reasoning": reasoning})
        self.connection.execute("INSERT OR REPLACE INTO draft VALUES (1, ?)", (body,))

    def intent(self, intent: Intent, at: float) -> None:
        body = {name: getattr(intent, name) for name in Intent.__slots__}
        body["arguments"] = without_named_arguments(
            intent.arguments, self._redact().arguments.of(intent.server, intent.tool)
        )
        self._append("intents", self._cleared(body), at)

    def decision(self, call_id: str, answer: str, reason: str, at: float) -> None:
        self._append("decisions", {"call_id": call_id, "answer": answer, "reason": self._clear(reason)}, at)

    def result(self, name: str, text: str) -> None:
        body = self._clear(text).encode("utf-8", "surrogatepass")
        self.connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (storable(name), body))

    def usage(self, model: str, usage: Usage, cost: float | None, at: float) -> None:
        """Store the usage of one request, and add it to the totals."""
        self._append("usage", {"model": model, **asdict(usage), "cost": cost}, at)
        self._meta["tokens"] = self._meta.get("tokens", 0) + usage.prompt + usage.completion
        if usage.estimated:
            self._meta["estimated"] = True
        if cost is not None:
            self._meta["cost"] = (self._meta.get("cost") or 0.0) + cost

    def remark(self, remark: Remark, at: float) -> None:
        self.connection.execute(REMARKS)
        self._append("remarks", self._cleared(remark_object(remark)), at)

    def describe(self, meta: SessionMeta) -> None:
        """Store metadata; None keeps a value."""
        told = {name: value for name, value in asdict(meta).items() if value is not None}
        self._meta |= self._cleared(told)

    def note(self, values: Mapping[str, Any]) -> None:
        self._meta |= values

    def cut(self, place: int) -> None:
        """Remove the messages from `place` on."""
        found = self.connection.execute("SELECT place, body FROM messages WHERE place >= ?", (place,))
        for at, body in found.fetchall():
            self._forget_words(at, searchable_text(message_of(json.loads(body))))
        self.connection.execute("DELETE FROM messages WHERE place >= ?", (place,))
        self.connection.execute("DELETE FROM draft")

    def rows(self, table: str, bodies: Sequence[tuple[float, Object]]) -> None:
        """Store rows of another session: `intents`, `decisions`, `usage` or `remarks`."""
        for at, body in bodies:
            self._append(table, self._cleared(body), at)

    def _cleared(self, body: Object) -> Object:
        return without_secrets(plain(body), self._clear)

    def _append(self, table: str, body: Object, at: float) -> None:
        self.connection.execute(f"INSERT INTO {table} (at, body) VALUES (?, ?)", (at, dumps(body)))

    def _forget_words(self, place: int, text: str) -> None:
        self._change_words("INSERT INTO folded (folded, rowid, text) VALUES ('delete', ?, ?)", place, text)

    def _change_words(self, statement: str, place: int, text: str) -> None:
        if not self._has_words:
            return
        try:
            # The tokenizer stops at the first NUL.
            words = storable(fold(text)).replace("\0", " ")
            self.connection.execute(statement, (place, words))
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            # The index only speeds up searches. Without it, messages are stored and searched one by one.
            self._has_words = False


def _without_own_secrets(message: Message, redactor: Redactor) -> Message:
    """Return a reply without secret arguments of its calls.

    Secrets that are split between reasoning and text, or cut off at the end of a reply, are removed too.
    """
    if not isinstance(message, AssistantMessage):
        return message
    reasoning, text = redactor.redact_texts([message.reasoning, message.text])
    known = redactor.arguments
    calls = (
        replace(call, arguments=without_named_values(call.arguments, known.of_model_name(call.name)))
        for call in message.calls
    )
    return replace(message, reasoning=reasoning, text=text, calls=tuple(calls))
