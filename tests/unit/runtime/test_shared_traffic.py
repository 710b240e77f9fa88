"""The recorded traffic of a conversation, by turn."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from tests.unit.storage.traffic_samples import request
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    SessionMeta,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import SessionInfo
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome
from tui.runtime.shared_traffic import NOT_RECORDED, SharedTraffic, findings_of
from tui.settings.locations import state_dir
from tui.storage.exports.contents import WHOLE, Choice
from tui.storage.exports.document import Aside, Part, Portion, Row, Rows, Timeline
from tui.storage.exports.session import SessionTranscript
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter

SECRET = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"city":"Beijing-key-1234"}}}'
ODD = b'{"jsonrpc":"2.0","id":99,"result":{}}'
TALK: list[Message] = [
    UserMessage("Is it warm?"),
    AssistantMessage("", calls=(CallRequest("c1", "weather__get", "{}"),)),
    ToolMessage("c1", "weather__get", "sunny"),
    AssistantMessage("Yes."),
    UserMessage("And there?"),
    AssistantMessage("", calls=(CallRequest("c2", "weather__get", "{}"),)),
    ToolMessage("c2", "weather__get", "rain"),
    UserMessage("Thanks"),
]


def transcript(recordings: Sequence[str], messages: Sequence[Message] = TALK) -> SessionTranscript:
    meta = SessionMeta(recording="\n".join(recordings))
    return SessionTranscript(SessionInfo("x"), meta, list(messages), [0.0] * len(messages), {}, {}, [])


def exchange(seq: int, turn: int, call: str) -> list[Entry]:
    cause = Cause(turn, 1, call)
    asked = request(seq, SECRET, cause=cause, method="tools/call", tool="get", source="weather")
    answer = asked._replace(
        seq=seq + 1,
        mono_ns=asked.mono_ns + 4_000_000,
        kind=Kind.RESPONSE,
        direction=Direction.IN,
        pair=seq,
        outcome=Outcome.OK,
        body=ODD,
        size=len(ODD),
    )
    return [asked, answer]


def recorded(name: str, *entries: Entry) -> str:
    folder = state_dir() / "recordings"
    folder.mkdir(parents=True, exist_ok=True)
    with closing(RecordingWriter(folder / name)) as writer:
        writer.write(entries)
        writer.note(2, text="look here", marked=True)
    return name


@pytest.fixture
def talk() -> SessionTranscript:
    """A conversation in two recordings; its last turn was not recorded."""
    first = recorded("a.mcptrace", *exchange(1, 7, "c1"), *exchange(3, 8, "other"))
    return transcript([first, recorded("b.mcptrace", *exchange(1, 1, "c2")), "gone.mcptrace"])


def parts(shown: SessionTranscript, place: int, choice: Choice = WHOLE) -> Iterator[tuple[Part, list[Row]]]:
    with SharedTraffic(shown, choice, Redactor()) as of_turn:
        for part in of_turn(place).parts:
            yield part, list(part.rows) if isinstance(part, Rows) else []


def rows(shown: SessionTranscript, place: int, choice: Choice = WHOLE) -> list[Row]:
    return [row for _, found in parts(shown, place, choice) for row in found]


def test_a_turn_has_its_waterfall_and_its_own_messages_with_times_and_notes(talk: SessionTranscript):
    (waterfall, _), (wire, found) = parts(talk, 0)
    assert isinstance(waterfall, Timeline) and isinstance(wire, Rows)
    assert [(bar.label, bar.kind, bar.end_ns) for bar in waterfall.bars] == [
        ("weather › get", "tools", 4_000_000)
    ]
    assert wire.title == "2 messages of this turn"
    assert [(row.number, row.took, row.note) for row in found] == [
        (1, "4.0 ms", ""),
        (2, "4.0 ms", "Note: look here"),
    ]


def test_a_waterfall_says_how_long_a_model_took_whose_requests_were_not_recorded():
    messages = [UserMessage("Weather?"), AssistantMessage("", calls=TALK[1].calls, seconds=0.3)]
    shown = transcript([recorded("a.mcptrace", *exchange(1, 7, "c1"))], messages)
    waterfall, _ = next(parts(shown, 0))
    assert isinstance(waterfall, Timeline)
    assert waterfall.facts == "tools 100 %. Without the 300 ms of the model, not recorded"


def test_turns_of_several_recordings_have_anchors_of_their_own(talk: SessionTranscript):
    with SharedTraffic(talk, WHOLE, Redactor()) as of_turn:
        first, second = of_turn(0), of_turn(4)
    assert first.anchors == {("c1", False): "e1", ("c1", True): "e2"}
    assert second.anchors == {("c2", False): "r2-e1", ("c2", True): "r2-e2"}


@pytest.mark.parametrize("names", [[], ["gone.mcptrace"]])
def test_a_turn_that_was_not_recorded_says_so_where_its_traffic_would_be(names: list[str]):
    assert list(parts(transcript(names), 0)) == [(Aside(NOT_RECORDED), [])]
    nothing = Choice(without=frozenset({Portion.WATERFALL, Portion.MESSAGES}))
    assert list(parts(transcript(names), 0, nothing)) == []


def test_a_turn_has_what_its_servers_said_besides_until_the_next_one():
    def stderr(seq: int, source: str) -> Entry:
        return Entry(seq, seq, seq, source, kind=Kind.STDERR, direction=Direction.NONE, body=b"log")

    shown = transcript(
        [
            recorded(
                "s.mcptrace",
                *(stderr(1, "weather"), stderr(2, "other"), *exchange(3, 1, "c1"), stderr(5, "weather")),
                *(*exchange(6, 2, "c2"), stderr(8, "weather")),
                stderr(9, "weather")._replace(kind=Kind.EVENT, detail={"event": "spawn", "cwd": "/home/me"}),
            )
        ]
    )
    with SharedTraffic(shown, WHOLE, Redactor()) as of_turn:
        found = [part for place in (0, 4) for part in of_turn(place).parts if isinstance(part, Rows)]
        assert [part.title for part in found] == [
            "4 messages of this turn and its servers",
            "3 messages of this turn and its servers",
        ]
        assert [[row.number for row in part.rows] for part in found] == [[1, 3, 4, 5], [6, 7, 8]]


def test_without_messages_no_call_links_to_one(talk: SessionTranscript):
    with SharedTraffic(talk, Choice(without=frozenset({Portion.MESSAGES})), Redactor()) as of_turn:
        assert of_turn(0).anchors == {}


def test_calls_that_are_numbered_from_0_in_each_turn_are_told_apart_by_the_question():
    def asked(seq: int, turn: int, *questions: str) -> Entry:
        body = json.dumps({"messages": [{"role": "user", "content": text} for text in questions]}).encode()
        return request(seq, body, kind=Kind.MODEL_REQUEST, source="model:m", cause=Cause(turn, 1))

    first, second = TALK[0].text, TALK[4].text
    name = recorded(
        "n.mcptrace",
        *(asked(1, 1, first), *exchange(2, 1, "call_0")),
        *(asked(4, 2, first, second), *exchange(5, 2, "call_0")),
    )
    again = [
        replace(one, calls=(CallRequest("call_0", "w", "{}"),)) if n in (1, 5) else one
        for n, one in enumerate(TALK)
    ]
    shown = transcript([name], again)
    assert [[row.number for row in rows(shown, place)] for place in (0, 4)] == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(("seconds", "numbers"), [(100.2, [1, 2]), (160.1, [3, 4])])
def test_answers_of_two_models_to_one_question_are_told_apart_by_the_time(seconds: float, numbers: list[int]):
    first, second = exchange(1, 1, "call_0"), exchange(3, 2, "call_0")
    turns = [
        one._replace(wall_ns=wall * 1_000_000_000)
        for wall, pair in ((100, first), (160, second))
        for one in pair
    ]
    shown = transcript(
        [recorded("n.mcptrace", *turns)],
        [TALK[0], replace(TALK[1], calls=(CallRequest("call_0", "w", "{}"),))],
    )
    shown.times[0] = seconds
    assert [row.number for row in rows(shown, 0)] == numbers


def test_findings_are_made_if_the_recording_has_none(talk: SessionTranscript):
    assert [one.code for one in rows(talk, 0)[1].findings] == ["unknown-id"]
    assert rows(talk, 0, Choice(without={Portion.FINDINGS}))[1].findings == ()


def test_values_are_replaced_or_left_out_as_chosen(talk: SessionTranscript):
    assert "Beijing" in rows(talk, 0)[0].body
    assert "<text, 16 characters>" in rows(talk, 0, Choice(shapes=True))[0].body
    assert rows(talk, 0, Choice(without={Portion.VALUES}))[0].body == "(left out)"


def test_a_secret_that_is_known_by_now_is_redacted(talk: SessionTranscript):
    known = Redactor({"CITY": "Beijing-key-1234", "PLACE": "look here"})
    with SharedTraffic(talk, WHOLE, known) as of_turn:
        found = [row for part in of_turn(0).parts if isinstance(part, Rows) for row in part.rows]
    assert not any("Beijing" in row.body or "look here" in row.note for row in found)
    assert "1 redacted" in found[0].facts


def test_stored_findings_are_not_made_again(talk: SessionTranscript):
    with closing(RecordingReader(state_dir() / "recordings" / "a.mcptrace")) as reader:
        assert findings_of(reader) != reader.findings_of
    with closing(RecordingWriter(path := state_dir() / "recordings" / "c.mcptrace")) as writer:
        writer.write(exchange(1, 1, "c9"), judged=2)
    with closing(RecordingReader(path)) as reader:
        assert findings_of(reader) == reader.findings_of


def test_a_damaged_recording_leaves_the_conversation(
    talk: SessionTranscript, monkeypatch: pytest.MonkeyPatch
):
    (state_dir() / "recordings" / "a.mcptrace").write_bytes(json.dumps({}).encode() * 999)
    assert rows(talk, 0) == []
