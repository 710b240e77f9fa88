"""Finds the turns of a saved conversation in a recording, by what they called and asked."""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence

from tui.core.traffic import Entry, Kind
from tui.storage.recordings.reader import RecordingReader

PAGE = 2_000


class RecordedTurns:
    """The turns of a recording: `seqs` of the entries of each, `besides` of those of each source without."""

    def __init__(self, reader: RecordingReader) -> None:
        """Read all entries without bodies. Raises StorageError."""
        self._reader = reader
        self.seqs: dict[int, list[int]] = defaultdict(list)
        self.besides: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self._calls: dict[str, set[int]] = defaultdict(set)
        self._begins: dict[int, int] = {}  # nanoseconds since 1970
        self._requests: dict[int, int] = {}
        after = 0
        while page := reader.columns(after, PAGE):
            after = page[-1].seq
            for entry in page:
                self._see(entry)

    def _see(self, entry: Entry) -> None:
        if (cause := entry.cause) is not None and cause.turn:
            self.seqs[cause.turn].append(entry.seq)
            self._begins.setdefault(cause.turn, entry.wall_ns)
            self._calls[cause.call].add(cause.turn)
            if entry.kind is Kind.MODEL_REQUEST:
                self._requests.setdefault(cause.turn, entry.seq)
        elif cause is None and entry.detail.get("event") != "spawn":  # its folders are the user's
            self.besides[entry.source].append(entry.seq)

    def turn_of(self, calls: Iterable[str], questions: Sequence[str], at: float = 0.0) -> int:
        """Return the turn with one of these calls, or that asked these questions; 0 for none.

        `questions` are the user's so far, with the one that the turn answers as the last. Some models number
        the calls of each turn from 0, so that the questions count more. Of several turns, such as the answers
        of two models, it is the one that began nearest to `at`, seconds since 1970; by default the first.
        """

        def distance(turn: int) -> float:
            return abs(self._begins[turn] / 1e9 - at)

        with_call = {turn for call in calls for turn in self._calls.get(call, ())}
        nearest = sorted(with_call or self._requests, key=distance)
        return self._turn_asked(nearest, questions) or (nearest[0] if with_call else 0)

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
