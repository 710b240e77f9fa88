"""The recorded traffic of a saved conversation, for a page to share: waterfall and messages of each turn."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from tui.core.conversation.conversation import AssistantMessage, UserMessage
from tui.core.errors import StorageError
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import Clear, without_secrets
from tui.core.traffic import ANSWERS, Entry, EntryNote, Finding, Kind
from tui.core.units import plural, span
from tui.runtime.recording import model_judge
from tui.runtime.recording_file import recording_named
from tui.storage.exports.contents import Choice
from tui.storage.exports.document import LONGEST, Aside, Bar, Part, Portion, Row, Rows, Timeline
from tui.storage.exports.export import EntryFacts, FindingsOf, entry_rows, no_findings
from tui.storage.exports.session import SessionTranscript, TurnTraffic
from tui.storage.exports.shapes import MODEL, with_shapes
from tui.storage.files.sqlite_file import on_error
from tui.storage.recordings.database import notes_of
from tui.storage.recordings.findings import judged_of
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.turns import RecordedTurns
from tui.traffic.lint.lint import Linter
from tui.traffic.lint.lint_thread import lint_entries
from tui.traffic.record.open_recording import columns_of, whole_entry
from tui.traffic.spans.waterfall import of_entries

MOST_OF_TURN, MOST_BESIDES = 4_000, 1_000
"""Maximum entries of a turn, and of its servers besides."""

NOT_RECORDED = "No recording of this turn was found, so it has no waterfall and no messages."


def findings_of(reader: RecordingReader) -> FindingsOf:
    """Return the findings of a recording: the stored ones if they are complete, otherwise computed now."""
    if judged_of(reader.meta()) >= reader.span()[1]:
        return reader.findings_of
    found: dict[int, Sequence[Finding]] = {}
    with closing(model_judge()) as judge:
        found.update((entry.seq, each) for entry, each in lint_entries(Linter(judge), reader) if each)
    return lambda seq: found.get(seq, ())


class _Recorded:
    """An open recording with its turns. `clear` removes secrets from a text."""

    def __init__(self, path: Path, clear: Clear, *, with_findings: bool) -> None:
        self._clear = clear
        self.reader = RecordingReader(path)
        self._notes: dict[int, EntryNote] = {}
        self._findings: FindingsOf = no_findings
        with on_error(self.reader.close):
            self.turns = RecordedTurns(self.reader)
        with suppress(StorageError):  # damaged: the messages are there
            self._notes = notes_of(path)
            self._findings = findings_of(self.reader) if with_findings else no_findings

    def entries(self, turn: int) -> tuple[list[Entry], int]:
        """Return the first entries of a turn without bodies, and how many it has."""
        seqs = self.turns.seqs[turn]
        return self._columns(seqs[:MOST_OF_TURN]), len(seqs)

    def besides(self, turn: int, servers: Iterable[str]) -> tuple[list[Entry], int]:
        """Return what these servers exchanged for no turn until the next one, and was not returned before.

        Such as the handshake, lists and stderr: the last of them without bodies, and how many there are.
        """
        last = self.turns.seqs[turn][-1]
        later = [seqs[0] for seqs in self.turns.seqs.values() if seqs[0] > last]
        end = min(later, default=self.reader.span()[1] + 1)
        seqs: list[int] = []
        for server in servers:
            found = self.turns.besides[server]
            place = bisect_left(found, end)
            seqs += found[:place]
            del found[:place]
        return self._columns(sorted(seqs)[-MOST_BESIDES:]), len(seqs)

    def _columns(self, seqs: Sequence[int]) -> list[Entry]:
        return [entry for _, entry in columns_of(self.reader, seqs) if entry is not None]

    def note_of(self, seq: int) -> EntryNote:
        return without_secrets(self._notes.get(seq, EntryNote()), self._clear)

    def findings_of(self, seq: int) -> Sequence[Finding]:
        return [without_secrets(one, self._clear) for one in self._findings(seq)]


class SharedTraffic(ExitStack):
    """Finds and reads the turns of a conversation in its recordings, which are open meanwhile."""

    def __init__(self, shown: SessionTranscript, choice: Choice, redactor: Redactor) -> None:
        super().__init__()
        self._shown, self._choice, self._redactor = shown, choice, redactor
        self._names = tuple(filter(None, (shown.meta.recording or "").split("\n")))
        self._open: dict[str, _Recorded | None] = {}

    def __call__(self, place: int) -> TurnTraffic:
        """Return the traffic of the turn of the question at `place`."""
        messages = self._shown.messages
        end = next((n for n in range(place + 1, len(messages)) if isinstance(messages[n], UserMessage)), None)
        replies = [one for one in messages[place:end] if isinstance(one, AssistantMessage)]
        calls = [call.id for reply in replies for call in reply.calls]
        questions = [one.text for one in messages[: place + 1] if isinstance(one, UserMessage)]
        at = self._shown.times[place]
        for name in reversed(self._names):
            with suppress(StorageError):  # deleted or damaged: the conversation is complete without it
                recorded = self._recorded(name)
                if recorded is not None and (turn := recorded.turns.turn_of(calls, questions, at)):
                    number = self._names.index(name)
                    prefix = f"r{number + 1}-e" if number else "e"
                    return self._recorded_turn(recorded, turn, prefix, sum(one.seconds for one in replies))
        is_wanted = not {Portion.WATERFALL, Portion.MESSAGES} <= self._choice.without
        return TurnTraffic([Aside(NOT_RECORDED)] if is_wanted else ())

    def _recorded(self, name: str) -> _Recorded | None:
        """Return a recording of this computer, None if there is none of this name."""
        if name not in self._open:
            self._open[name] = None
            if (path := recording_named(name)) is None:
                return None
            with_findings = Portion.FINDINGS not in self._choice.without
            found = _Recorded(path, self._redactor.redact, with_findings=with_findings)
            self.callback(found.reader.close)
            self._open[name] = found
        return self._open[name]

    def _recorded_turn(
        self, recorded: _Recorded, turn: int, prefix: str, model_seconds: float
    ) -> TurnTraffic:
        """Return the traffic of a turn. The conversation says how long the model took, if no request does."""
        entries, count = recorded.entries(turn)
        servers = {one.source for one in entries if not one.source.startswith(MODEL)}
        besides, more = recorded.besides(turn, servers)
        parts: list[Part] = []
        if (waterfall := of_entries(entries, turn)) is not None:
            bars = (
                Bar(one.label, one.part, one.start_ns, one.end_ns, one.failed, one.critical)
                for one in waterfall.bars
            )
            facts = waterfall.words
            if model_seconds and not any(one.kind is Kind.MODEL_REQUEST for one in entries):
                facts = f"{facts}. Without the {span(int(model_seconds * 1e9))} of the model, not recorded"
            parts.append(Timeline(facts, waterfall.ns, tuple(bars)))
        anchors: dict[tuple[str, bool], str] = {}
        if Portion.MESSAGES in self._choice.without:
            title = "Messages with a finding or a note"
        else:
            shown = len(entries) + len(besides)
            fewer = f", {shown:,} of them here" if count + more > shown else ""
            whose = "this turn and its servers" if besides else "this turn"
            title = f"{plural(count + more, 'message')} of {whose}{fewer}"
            anchors = {
                (one.cause.call, one.kind in ANSWERS): f"{prefix}{one.seq}"
                for one in entries
                if one.cause is not None and one.cause.call and one.method == "tools/call"
            }
        listed = sorted((*entries, *besides), key=lambda one: one.seq)
        return TurnTraffic([*parts, Rows(title, self._rows(recorded, listed, prefix))], anchors)

    def _rows(self, recorded: _Recorded, entries: Sequence[Entry], prefix: str) -> Iterator[Row]:
        asked = {one.seq: one.mono_ns for one in entries}
        took: dict[int, int] = {}
        for one in entries:
            if one.kind in ANSWERS and one.pair in asked:
                took[one.pair] = took[one.seq] = one.mono_ns - asked[one.pair]
        facts = EntryFacts(recorded.note_of, lambda seq: took.get(seq, -1), recorded.findings_of)
        whole = (whole_entry(recorded.reader, one.seq, LONGEST * 4) for one in entries)
        found = (self._shown_entry(one) for one in whole if one is not None)
        return entry_rows(found, facts, self._choice, prefix)

    def _shown_entry(self, entry: Entry) -> Entry:
        """Return an entry without the secrets that are known now: more than when it was recorded."""
        body, marks = self._redactor.redact_bytes(entry.body)
        entry = entry._replace(body=body, redactions=(*entry.redactions, *marks)) if marks else entry
        return with_shapes(entry) if self._choice.shapes else entry
