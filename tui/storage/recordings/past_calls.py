"""Finds calls that were made by hand in earlier runs, in their recordings."""

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.core.errors import McptuiError
from tui.core.jsonrpc.reader import json_value
from tui.core.text import mapping, object_in, text_in
from tui.core.traffic import ANSWERS, Direction, Entry, Kind
from tui.storage.files.foreign_file import LIST_SECONDS, time_limit
from tui.storage.recordings.folder import Recordings
from tui.storage.recordings.reader import RecordingReader

MOST_RECORDINGS = 20
"""Maximum recordings to read, the newest ones."""

MOST_ENTRIES = 2_000
"""Maximum entries of calls by hand to read of a recording, the last ones."""

MOST_CALLS = 100
MOST_BODY = 256 * 1024
MOST_BYTES = 4 * 1024 * 1024
"""Maximum bytes of a message, and of all messages. Of a larger call, there is no result here."""

NAMED_BY = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
"""The methods of calls by hand, and the parameter that names what is called."""


@dataclass(frozen=True, slots=True, eq=False)
class PastCall:
    """A call by hand of an earlier run: its request, and the last response, None if there is none.

    `result` is that of the response, None if it is not here; `problem` is the message of an error.
    """

    path: Path
    entry: Entry
    answer: Entry | None
    name: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None
    problem: str


def past_calls(folder: Path, server: str, besides: Path) -> list[PastCall]:
    """Return the calls to a server in the newest recordings of a folder except `besides`, newest first.

    Blocks; call it in a thread. Recordings that cannot be read are skipped.
    """
    found: list[PastCall] = []
    room = MOST_BYTES
    paths = [one.path for one in Recordings(folder).list() if one.path != besides]
    for path in paths[:MOST_RECORDINGS]:
        with suppress(McptuiError), time_limit(LIST_SECONDS), closing(RecordingReader(path)) as reader:
            for call in _in_recording(reader, server):
                found.append(call)
                room -= call.entry.size + (call.answer.size if call.answer is not None else 0)
                if len(found) >= MOST_CALLS or room <= 0:
                    return found
    return found


def _in_recording(reader: RecordingReader, server: str) -> Iterator[PastCall]:
    """Yield the calls in a recording, newest first."""
    entries = reader.by_hand(server, MOST_ENTRIES)
    answers: dict[int, Entry] = {}
    for one in entries:
        if one.kind in ANSWERS and one.pair:
            answers.setdefault(one.root or one.pair, one)  # of several rounds, the last
    for entry in entries:
        named_by = NAMED_BY.get(entry.method)
        if named_by is None or entry.kind is not Kind.REQUEST or entry.direction is not Direction.OUT:
            continue
        params = object_in(_message(reader, entry), "params")
        name, arguments = params.get(named_by), mapping(params.get("arguments"))
        if not isinstance(name, str) or entry.root not in (0, entry.seq) or entry.cause is None:
            continue
        answer = answers.get(entry.seq)
        said = _message(reader, answer) if answer is not None else {}
        result = said.get("result") if isinstance(said.get("result"), Mapping) else None
        problem = text_in(object_in(said, "error"), "message")
        yield PastCall(reader.path, entry, answer, name, arguments, result, problem)


def _message(reader: RecordingReader, entry: Entry) -> Mapping[str, Any]:
    """Return the message of an entry, empty if it is too large or no JSON object."""
    if entry.size > MOST_BODY:
        return {}
    return mapping(json_value(reader.body(entry.seq, 0, MOST_BODY).decode("utf-8", "replace")))
