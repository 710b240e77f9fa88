"""Reads a session from its file: the data for the list, or everything readable."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from tui.core.context.built_in_tools import MAX_BYTES, MAX_RESULTS
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Compaction,
    Conversation,
    Message,
    Remark,
    SessionMeta,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.conversation.message_json import (
    Object,
    message_of,
    plain,
    read,
    remark_object,
    remark_of,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME, Reopened, SessionInfo
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message, n_message
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import Clear, without_secrets
from tui.core.units import bounded
from tui.storage.exports.session import Rows, SessionTranscript
from tui.storage.files.foreign_file import bounded_rows, until_damage, up_to_damage
from tui.storage.sessions.file import (
    Damaged,
    can_read,
    is_cut,
    open_for_reading,
    read_listed,
    read_meta,
    session_errors,
)

MOST_PLACES = 2**40
"""Places of messages in a sound file: after the largest integer of SQLite, no message could be saved."""

ROWS = ("intents", "decisions", "usage", "remarks")
"""The tables of rows. Older files lack the last one."""


@dataclass(slots=True)
class StoredSession:
    """The content of a session file.

    Attributes:
        meta: values by name, as `SessionTables` stores them.
        messages: by index; some may be missing.
        times: of the messages, by the same index.
        rows: rows with their times, by the name of their table in `ROWS`.
        results: complete results by name, the oldest first.
        draft: a partial reply, or None.
        damaged: whether anything could not be read; then the messages are those before the damage.
    """

    meta: dict[str, Any] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    times: dict[int, float] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=lambda: {name: [] for name in ROWS})
    results: dict[str, str] = field(default_factory=dict)
    draft: AssistantMessage | None = None
    damaged: bool = False

    def lose(self) -> None:
        """Note that something could not be read."""
        self.damaged = True

    @property
    def in_order(self) -> list[Message]:
        """The messages in order."""
        return [self.messages[place] for place in sorted(self.messages)]

    def repaired(self, talk: Conversation) -> "StoredSession":
        """Return it with the messages and remarks of its repaired conversation."""
        rows = self.rows | {"remarks": rows_of(talk.remarks)}
        return replace(self, messages=dict(enumerate(talk.messages)), rows=rows)

    @property
    def problem(self) -> str:
        """What could be read of a damaged session, or ""."""
        if not self.damaged:
            return ""
        count = len(self.messages)
        if not count:
            return message("the session is damaged: no message could be read")
        if number(self.meta, "messages") > count or not number(self.meta, "messages"):
            return n_message(
                "the session is damaged: only its first {n} message could be read",
                "the session is damaged: only its first {n} messages could be read",
                count,
            )
        return n_message(
            "the session is damaged: its {n} message could be read, other data may be lost",
            "the session is damaged: its {n} messages could be read, other data may be lost",
            count,
        )


def turns_of(messages: Sequence[Message]) -> int:
    """Return the number of questions."""
    return sum(isinstance(message, UserMessage) for message in messages)


def rows_of(remarks: Sequence[Remark]) -> list[tuple[float, Object]]:
    """Return remarks as rows with their times."""
    return [(remark.at, remark_object(remark)) for remark in remarks]


def read_info(path: Path) -> SessionInfo:
    """Return the data of a session for the list, or raise `StorageError`."""
    with closing(open_for_reading(path, at_once=True)) as connection, session_errors(path):
        return info_of(path.stem, read_listed(connection))


def info_of(ident: str, meta: Mapping[str, Any], problem: str = "") -> SessionInfo:
    """Return the data for the list from `meta`. Values of a wrong type count as missing."""
    own = {"id": ident, "in_use": False, "problem": problem}
    return cast(SessionInfo, read(SessionInfo, {**meta, **own}))


def read_stored(path: Path, *, all_results: bool = True) -> StoredSession:
    """Return everything readable of a session; raises `StorageError` if nothing is readable.

    `all_results` includes complete results that are older than what the conversation needs to continue.
    """
    try:
        return _read(path, all_results)
    except Damaged:
        with session_errors(path):
            if not is_cut(path):
                raise
        found = _read(path, all_results, is_cut=True)
    found.damaged = True
    return found


def _read(path: Path, all_results: bool, *, is_cut: bool = False) -> StoredSession:
    found = StoredSession()
    with closing(open_for_reading(path, is_cut=is_cut)) as connection, session_errors(path):
        with up_to_damage(found.lose):
            found.meta.update(read_meta(connection))
        _read_messages(connection, found)
        for table in ROWS if can_read(connection, "remarks") else ROWS[:-1]:
            for at, text in _rows(connection, found, f"SELECT at, body FROM {table} ORDER BY number"):
                if isinstance(body := json_value(text), dict):
                    found.rows[table].append((float(bounded(at) or 0), body))
        with up_to_damage(found.lose):
            _read_results(connection, found, all_results)
        for (text,) in _rows(connection, found, "SELECT body FROM draft"):
            if isinstance(draft := json_value(text), dict):
                text, reasoning = _text(draft, "text"), _text(draft, "reasoning")
                model = _text(found.meta, "model")
                found.draft = AssistantMessage(text, reasoning=reasoning, model=model, partial=True)
    return found


def reopened(ident: str, stored: StoredSession) -> Reopened:
    """Return a session that can be continued: valid for any model, with a result for every call."""
    meta = stored.meta
    sent = {str(body.get("call_id")) for _, body in stored.rows["intents"]}
    messages = repaired(stored.in_order, sent, stored.draft)
    counted = meta | {
        "messages": len(messages),
        "turns": turns_of(messages),
        "estimated": any(body.get("estimated") for _, body in stored.rows["usage"])
        or meta.get("estimated") is True,
    }
    compaction = compaction_of(meta.get("compaction"), messages)
    places, end = sorted(stored.messages), len(messages)
    # Each remark stays after the messages that preceded it, if these still exist.
    remarks = [
        replace(one, place=min(bisect_left(places, one.place), end))
        for at, body in stored.rows["remarks"]
        if (one := remark_of(body, at))
    ]
    return Reopened(
        info=info_of(ident, counted, stored.problem),
        meta=read(SessionMeta, meta | {"title": _text(meta, "title"), "compaction": compaction}),
        conversation=Conversation(
            _text(meta, "system"),
            messages,
            compaction or Compaction(),
            remarks,
            imported=ident if meta.get("imported") else "",
        ),
        unknown=unknown_outcomes(messages),
        results=stored.results,
    )


def compaction_of(found: object, messages: list[Message]) -> Compaction | None:
    """Return a stored compaction, None if there is none or it does not match the messages."""
    if not isinstance(found, Mapping):
        return None
    places = ("upto", "shrunk", "skills_off")
    upto, shrunk, off = (min(int(number(found, name)), len(messages)) for name in places)
    if upto and not (upto < len(messages) and isinstance(messages[upto], UserMessage)):
        upto = 0
    pairs, known = found.get("limits"), dict[int, int]()
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, int) for part in pair):
            known[pair[0]] = pair[1]
    all_turns = int(number(found, "limit"))  # older versions stored one limit
    turns = (at for at, one in enumerate(messages) if isinstance(one, UserMessage))
    limits = tuple((at, limit) for at in turns if (limit := all_turns or known.get(at, 0)) > 0)
    return Compaction(upto, _text(found, "summary") if upto else "", shrunk, limits, off)


def _rows(
    connection: sqlite3.Connection, found: StoredSession, statement: str, *parameters: object
) -> list[tuple[Any, ...]]:
    """Return the rows before the first damage."""
    rows, is_whole = until_damage(partial(bounded_rows, connection), statement, parameters)
    found.damaged = found.damaged or not is_whole
    return rows


def _read_messages(connection: sqlite3.Connection, found: StoredSession) -> None:
    """Read the messages before the first damage."""
    statement = "SELECT place, at, body FROM messages WHERE place > ? ORDER BY place LIMIT ?"
    rows = _rows(connection, found, statement, -MOST_PLACES, MOST_PLACES)
    if found.damaged:  # the module sqlite3 drops the last row before an error
        rows += _rows(connection, found, statement, rows[-1][0] if rows else -1, 1)
    for place, at, body in rows:
        try:
            if not 0 <= place < MOST_PLACES:  # one after the largest integer of SQLite could not be saved
                raise ValueError(place)
            found.messages[place] = message_of(json.loads(body) | {"at": at})
        except (ValueError, TypeError, RecursionError):
            found.damaged = True
            return
        found.times[place] = float(bounded(at) or 0)


def _read_results(connection: sqlite3.Connection, found: StoredSession, all_results: bool) -> None:
    rows, size = list[tuple[str, str]](), 0
    for name, body in bounded_rows(connection, "SELECT name, body FROM results ORDER BY rowid DESC"):
        if not isinstance(body, bytes):
            continue
        size += len(body)
        if rows and not all_results and (len(rows) >= MAX_RESULTS or size > MAX_BYTES):
            break
        try:
            rows.append((str(name), body.decode("utf-8", "surrogatepass")))
        except UnicodeDecodeError:  # the row is on a damaged page
            rows.append((str(name), body.decode("utf-8", "replace")))
    found.results.update(reversed(rows))


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def number(found: Mapping[str, Any], name: str) -> float:
    """Return a number of an object, 0 if it has none by this name."""
    return float(bounded(found.get(name)) or 0)


def repaired(
    messages: Sequence[Message], sent: Collection[str], draft: AssistantMessage | None = None
) -> list[Message]:
    """Return messages with the result of each call right after it, and a partial reply at the end.

    Any message may be missing; `sent` are the ids of the calls that were about to be sent.
    """

    def unanswered(call: CallRequest) -> ToolMessage:
        text = UNKNOWN_OUTCOME if call.id in sent else NEVER_SENT
        return ToolMessage(call.id, call.name, text, is_error=True)

    result = sanitised(messages, unanswered)
    if draft is not None and draft.text:
        result.append(draft)
    return result


def unknown_outcomes(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the calls with an unknown outcome."""
    return frozenset(
        message.call_id
        for message in messages
        if isinstance(message, ToolMessage) and message.is_error and message.text == UNKNOWN_OUTCOME
    )


def transcript(stored: StoredSession, found: Reopened, redactor: Redactor) -> SessionTranscript:
    """Return a session in the form for exports."""
    clear = partial(redactor.redact_spoken, shapes=True)
    messages = found.conversation.messages
    return SessionTranscript(
        info=without_secrets(found.info, clear),
        meta=without_secrets(found.meta, clear),
        messages=[without_secrets(message, clear) for message in messages],
        times=[stored.times.get(place, found.info.changed) for place in range(len(messages))],
        rows={name: _cleared(stored.rows[name], clear) for name in ROWS[:-1]},
        results=without_secrets(stored.results, clear),
        remarks=without_secrets(found.conversation.remarks, clear),
    )


def _cleared(rows: Rows, clear: Clear) -> Rows:
    return [(at, without_secrets(plain(body), clear)) for at, body in rows]
