import json
from collections.abc import Sequence
from typing import Any

from tui.addons.tests.turns.recorded_turns import (
    Prompt,
    RecordedMessage,
    RecordedTurns,
    recorded_names,
    recorded_turns,
)
from tui.core.ports import ToolSpec
from tui.core.traffic import Cause, Direction, Entry, Kind
from tui.model.dialects.text_tools import DIALECTS

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
    def found(recorded: Sequence[str | tuple[str, str]], *now: str) -> dict[str, tuple[str, str]]:
        names = [("", one) if isinstance(one, str) else one for one in recorded]
        tools = [ToolSpec(one, "", {}, *one.split("__")) for one in now]
        return dict(recorded_names(names, tools))

    assert found(("t__add", "t__list", "gone", "a__x", "b__x"), "u__add", "u__list", "u__x", "u__new") == {
        "u__add": ("", "t__add"),
        "u__list": ("", "t__list"),
    }
    assert found(("t__add",), "t__add", "u__add") == {}
    assert found(("t__add",), "u__add", "v__add") == {}
    assert found(("t_v2__add_0a1b2c3d",), "u__add") == {"u__add": ("", "t_v2__add_0a1b2c3d")}
    assert found((("t", "add"), ("t", "list")), "u__add") == {"u__add": ("t", "add")}
    assert found((("u", "add"),), "u__add") == {}


def test_tools_in_the_system_text_of_a_dialect_are_read() -> None:
    listed = [ToolSpec("t__add", "Adds\n numbers.", {"properties": {"a": {}}}, "t", "add")]
    found = [
        Prompt.of({"messages": [{"role": "system", "content": dialect.system("Help.", listed)}]})
        for dialect in DIALECTS.values()
    ]
    words = '["Adds numbers.", ["a"]]'
    assert [dict(one.tools) for one in found] == [
        {("t", "add") if dialect.apart else ("", "t__add"): words} for dialect in DIALECTS.values()
    ]
    assert not any(one.is_native for one in found)
