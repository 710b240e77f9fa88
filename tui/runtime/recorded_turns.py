"""Finds the turns of a saved conversation in its recordings, by what they called and asked."""

import json
import logging
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from tui.core.errors import McptuiError
from tui.core.traffic import Entry, Kind
from tui.settings.locations import state_dir
from tui.storage.files.foreign_file import LIST_SECONDS, time_limit
from tui.storage.recordings.reader import RecordingReader

PAGE = 2_000

_log = logging.getLogger(__name__)


def turn_in_recording(
    names: Sequence[str], calls: Sequence[str], questions: Sequence[str]
) -> tuple[Path, int] | None:
    """Return the newest of the named earlier recordings that contains a turn, and the turn's number in it.

    The turn is identified as by `RecordedTurns.turn_of`.
    """
    for name in reversed(names):
        try:
            if (path := recording_named(name)) is not None:
                with time_limit(LIST_SECONDS), closing(RecordingReader(path)) as reader:
                    if turn := RecordedTurns(reader).turn_of(calls, questions):
                        return path, turn
        except McptuiError as error:
            _log.info("recording skipped: %s", error)
    return None


def recording_named(name: str) -> Path | None:
    """Return the recording of this computer that a conversation names, None if there is none any more."""
    path = state_dir() / "recordings" / Path(name).name
    return path if path.is_file() else None


class RecordedTurns:
    """The turns of a recording: `seqs` of the entries of each, `besides` of those of each source without."""

    def __init__(self, reader: RecordingReader) -> None:
        """Read all entries without bodies. Raises StorageError."""
        self._reader = reader
        self.seqs: dict[int, list[int]] = defaultdict(list)
        self.besides: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self._calls: dict[str, set[int]] = defaultdict(set)
        self._requests: dict[int, int] = {}
        after = 0
        while page := reader.columns(after, PAGE):
            after = page[-1].seq
            for entry in page:
                self._see(entry)

    def _see(self, entry: Entry) -> None:
        if (cause := entry.cause) is not None and cause.turn:
            self.seqs[cause.turn].append(entry.seq)
            self._calls[cause.call].add(cause.turn)
            if entry.kind is Kind.MODEL_REQUEST:
                self._requests.setdefault(cause.turn, entry.seq)
        elif cause is None and entry.detail.get("event") != "spawn":  # its folders are the user's
            self.besides[entry.source].append(entry.seq)

    def turn_of(self, calls: Iterable[str], questions: Sequence[str]) -> int:
        """Return the turn with one of these calls, or that asked these questions; 0 for none.

        `questions` are the user's so far, with the one that the turn answers as the last. Some models number
        the calls of each turn from 0, so that the questions count more.
        """
        with_call = sorted({turn for call in calls for turn in self._calls.get(call, ())})
        return (
            self._turn_asked(with_call, questions)
            or next(iter(with_call), 0)
            or self._turn_asked(self._requests, questions)
        )

    def _turn_asked(self, turns: Iterable[int], questions: Sequence[str]) -> int:
        """Return the turn whose first model request has these questions, or ends with the last; else 0."""
        found = 0
        for turn in turns:
            said = questions_in(self._reader.body(seq)) if (seq := self._requests.get(turn)) else []
            if said == list(questions):
                return turn
            if said and questions and said[-1] == questions[-1]:
                found = found or turn
        return found


def questions_in(body: bytes) -> list[str]:
    """Return the questions of the user in a request to a model, none if it cannot be read."""
    try:
        messages = json.loads(body)["messages"]
        said = [one["content"] for one in messages if one["role"] == "user"]
        return [one if isinstance(one, str) else one[0]["text"] for one in said]
    except (ValueError, RecursionError, LookupError, TypeError):
        return []
