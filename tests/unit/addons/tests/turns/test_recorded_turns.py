import json
from collections.abc import Sequence
from typing import Any

from tui.addons.tests.turns.recorded_turns import (
    Prompt,
    RecordedMessage,
    RecordedTurns,
    other_names,
    recorded_turns,
    renamed,
)
from tui.core.traffic import Cause, Direction, Entry, Kind

URL = "https://models.example/v1/chat/completions"
WEATHER = {"name": "get_weather", "description": "Weather.", "parameters": {"properties": {"place": {}}}}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str | None = None, **arguments: Any) -> dict[str, Any]:
    calls = [{"id": "1", "function": {"name": "get_weather", "arguments": json.dumps(arguments)}}]
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if arguments else {})}


def body(*messages: dict[str, Any], tools: Sequence[dict[str, Any]] = (WEATHER,)) -> dict[str, Any]:
    listed = [{"type": "function", "function": tool} for tool in tools]
    return {"model": "m-1", "messages": [{"role": "system", "content": "s"}, *messages], "tools": listed}


def result(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}


class Traffic:
    """Collects entries of models."""

    def __init__(self) -> None:
        self.messages: list[RecordedMessage] = []

    def add(
        self,
        asked: dict[str, Any],
        reply: str = "data: {}",
        *,
        turn: int = 1,
        model: str = "gpt",
        status: int = 200,
        is_whole: bool = True,
        **detail: Any,
    ) -> None:
        seq = len(self.messages) + 1
        cause = Cause(turn) if turn else None
        source, headers = f"model:{model}", {"content-type": "text/event-stream"}
        out = Entry(seq, 0, 0, source, Direction.OUT, Kind.MODEL_REQUEST, cause=cause, detail={"url": URL})
        more = {"status": status, "headers": headers, **detail}
        back = Entry(seq + 1, 0, 0, source, Direction.IN, Kind.MODEL_REPLY, pair=seq, detail=more)
        self.messages += [
            RecordedMessage(out, json.dumps(asked).encode()),
            RecordedMessage(back, reply.encode(), is_whole),
        ]

    def turns(self) -> RecordedTurns:
        return recorded_turns(self.messages)


def replies(turns: RecordedTurns, question: str, model: str = "gpt") -> list[list[bytes]]:
    return [[one.reply for one in turn.exchanges] for turn in turns.of(model, question)]


def test_the_exchanges_of_a_turn_belong_together() -> None:
    traffic = Traffic()
    traffic.add(body(user("rain?")), "one")
    traffic.add(body(user("rain?"), said(place="H"), result("22")), "two")
    traffic.add(body(user("rain?")), "three", turn=2)
    turns = traffic.turns()
    assert replies(turns, "rain?") == [[b"one", b"two"], [b"three"]]
    assert (turns.models, turns.problem, turns.native("gpt")) == (["gpt"], "", True)


def test_white_space_in_a_question_does_not_matter() -> None:
    traffic = Traffic()
    traffic.add(body(user("does it\nrain? ")))
    assert len(traffic.turns().of("gpt", "does it rain?")) == 1


def test_each_model_has_turns_of_its_own() -> None:
    traffic = Traffic()
    traffic.add(body(user("rain?")), "g")
    traffic.add(body(user("rain?")), "q", model="qwen")
    assert replies(traffic.turns(), "rain?", "qwen") == [[b"q"]]


def test_a_question_with_a_history_is_found_by_its_last_message() -> None:
    traffic = Traffic()
    earlier = (user("hi"), said("hello"))
    traffic.add(body(*earlier, user("rain?")), "one")
    traffic.add(body(*earlier, user("rain?"), said(place="H"), result("22")), "two")
    (turn,) = traffic.turns().of("gpt", "rain?")
    assert turn.find(Prompt.of(body(user("rain?"), said(place="H"), result("23"))), 1) == 1


def test_refused_and_broken_requests_are_left_out() -> None:
    traffic = Traffic()
    traffic.add(body(user("rain?")), "no", status=429)
    traffic.add(body(user("rain?")), "cut", broken="ReadError")
    traffic.add(body(user("rain?")), "yes")
    assert replies(traffic.turns(), "rain?") == [[b"yes"]]


def test_incomplete_replies_are_left_out_and_named() -> None:
    traffic = Traffic()
    traffic.add(body(user("rain?")), is_whole=False)
    traffic.add(body(user("sun?")), withheld=True)
    turns = traffic.turns()
    assert turns.models == []
    assert turns.why_none("gpt") == "some replies of models were not recorded completely"


def test_a_recording_without_turn_numbers_is_split_at_its_questions() -> None:
    traffic = Traffic()
    for reply in ("one", "three"):
        traffic.add(body(user("rain?")), reply, turn=0)
        traffic.add(body(user("rain?"), said(place="H"), result("22")), "two", turn=0)
    assert replies(traffic.turns(), "rain?") == [[b"one", b"two"], [b"three", b"two"]]


def test_what_servers_answered_does_not_matter_but_calls_do() -> None:
    traffic = Traffic()
    traffic.add(body(user("rain?"), said(place="H", days=1), result("22")))
    (turn,) = traffic.turns().of("gpt", "rain?")
    same = body(user("rain?"), said(days=1, place="H"), result("other"), user("nudge"))
    assert turn.find(Prompt.of(same, 1), 0) == 0
    other = body(user("rain?"), said(place="B", days=1), result("22"))
    assert turn.find(Prompt.of(other, 1), 0) is None


def test_texts_in_parts_are_read_as_texts() -> None:
    parts = [{"type": "text", "text": "rain?", "cache_control": {}}, {"type": "image_url"}]
    assert Prompt.of(body(user(parts))).question == "rain?"


def test_tools_that_changed_are_named() -> None:
    before = Prompt.of(body(user("?"), tools=[WEATHER, {"name": "gone"}]))
    now = Prompt.of(body(user("?"), tools=[{**WEATHER, "description": "Sky."}, {"name": "new"}]))
    assert before.changed_tools(now) == ["get_weather", "gone", "new"]
    assert before.changed_tools(before) == []


def test_why_there_is_no_turn() -> None:
    traffic = Traffic()
    assert traffic.turns().why_none("gpt") == "the recording has no replies of models"
    traffic.add(body(user("rain?")))
    turns = traffic.turns()
    assert turns.why_none("qwen") == "the recording has no replies of qwen. It has replies of gpt"
    assert turns.why_none("gpt") == "the recording has no reply of gpt to this question"
    assert turns.why_none("") == "the recording has no reply to this question"


def test_a_body_that_is_no_request_is_read_as_an_empty_one() -> None:
    bodies: list[Any] = [None, [], {"messages": "x"}, {"messages": [3, {"role": "user"}]}, {"tools": [1, {}]}]
    assert all(Prompt.of(one).said == () for one in bodies)


def test_recorded_tools_are_found_by_their_own_names_if_their_server_has_another_name():
    names = other_names(("t__add", "t__list", "gone", "a__x", "b__x"), ("t2__add", "t2__list", "new", "c__x"))
    assert names == {"t__add": "t2__add", "t__list": "t2__list"}
    assert other_names(("t__add",), ("t__add", "u__add")) == {}
    assert other_names(("t__add",), ("u__add", "v__add")) == {}


def test_only_whole_names_of_tools_are_replaced():
    names = {"t__add": "u__add", "t__add_all": "u__add_all"}
    assert renamed('["t__add", "t__add_all", "xt__add", "t__add-1"]', names) == (
        '["u__add", "u__add_all", "xt__add", "t__add-1"]'
    )
    assert renamed("t__add", {}) == "t__add"
