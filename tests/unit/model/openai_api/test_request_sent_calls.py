"""Ids and names of calls are valid for every provider, whichever model made them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.strict import FLAVOURS, check
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import ModelRequest
from tui.core.schemas.tool_names import accepted_name
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.request import body_for

QUESTION = UserMessage("q")
LONG = "chatcmpl-tool-" + "0" * 32


def body_of(*messages: Message, model: str = "gpt-5.1") -> dict[str, Any]:
    return body_for(ModelProfile("test", "http://host/v1", model), ModelRequest("", messages), Learned())


def turn(*calls: CallRequest, model: str = "other") -> list[Message]:
    results = [ToolMessage(one.id, one.name, f"r{at}") for at, one in enumerate(calls)]
    return [QUESTION, AssistantMessage("", calls=calls, model=model), *results]


def ids_in(body: dict[str, Any]) -> list[str]:
    return [call["id"] for one in body["messages"] for call in one.get("tool_calls", ())]


def test_an_id_from_another_model_is_sanitized_and_shortened() -> None:
    calls = [CallRequest(identity, "a__b", "{}") for identity in (LONG, "functions.a__b:0", "call_1", "")]
    ids = ids_in(body_of(*turn(*calls)))
    assert ids[2] == "call_1" and len({len(one) for one in ids}) == 2 and all(len(one) <= 40 for one in ids)
    assert all(one.replace("_", "").isalnum() for one in ids) and len(set(ids)) == 4


def test_an_id_from_the_same_model_is_sent_back_unchanged() -> None:
    calls = [CallRequest(identity, "a__b", "{}") for identity in (LONG, "functions.a__b:0")]
    assert ids_in(body_of(*turn(*calls, model="kimi-k2.5"), model="kimi-k2.5")) == [LONG, "functions.a__b:0"]


def test_call_ids_are_unique_in_a_request_and_results_match_them() -> None:
    twice = turn(CallRequest("c1", "a__b", "{}"))
    messages = body_of(*twice, *twice)["messages"]
    assert len(set(ids_in({"messages": messages}))) == 2
    for at in (1, 4):
        assert messages[at]["tool_calls"][0]["id"] == messages[at + 1]["tool_call_id"]


def test_call_ids_are_the_same_in_each_request() -> None:
    talk = turn(CallRequest(LONG, "a__b", "{}"), CallRequest("x y", "a__b", "{}"))
    assert ids_in(body_of(*talk)) == ids_in(body_of(*talk, QUESTION, AssistantMessage("a"), QUESTION))


@each_case(
    ("written", "sent"),
    [
        ("srv__echo", "srv__echo"),
        ("server/tool.name", "server_tool_name"),
        ("9lives", "_9lives"),
        ("工具", "__"),
        ("", "_"),
        ("x" * 90, "x" * 64),
    ],
)
def test_an_invalid_tool_name_is_sent_as_a_valid_one(written: str, sent: str) -> None:
    assert accepted_name(written) == sent


def test_results_carry_their_tool_name_only_for_providers_that_need_it() -> None:
    talk = turn(CallRequest("c1", "a/b", "{}"))
    assert body_of(*talk, model="gemini-3-pro")["messages"][2]["name"] == "a_b"
    assert "name" not in body_of(*talk)["messages"][2]


def test_a_damaged_conversation_is_sent_starting_with_a_question_and_alternating() -> None:
    left = [
        AssistantMessage("and so on"),
        AssistantMessage("more"),
        *turn(CallRequest("c1", "a__b", "{}"))[1:],
    ]
    roles = [one["role"] for one in body_of(*left, QUESTION)["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]
    assert body_of(*left, QUESTION)["messages"][1]["content"] == "and so on\n\nmore"


def test_an_answer_of_only_white_space_is_omitted() -> None:
    messages = body_of(QUESTION, AssistantMessage("\n\n", model="m"), UserMessage("again"))["messages"]
    assert [one["content"] for one in messages] == ["q\n\nagain"]


ANY = st.text(st.characters(codec=None), max_size=20)
SAID = ANY.map(lambda text: f"say {text}")
IDS = st.one_of(ANY, st.sampled_from(["c1", "c2", LONG, "functions.a__b:0"]))
CALLS = st.lists(st.builds(CallRequest, IDS, ANY, ANY), max_size=3).map(tuple)
MESSAGES = st.one_of(
    SAID.map(UserMessage),
    st.builds(ToolMessage, IDS, ANY, ANY),
    st.builds(AssistantMessage, text=ANY, reasoning=ANY, calls=CALLS, model=st.just("other")),
)
NATIVE = [model for name, model in FLAVOURS.items() if name != "template"]


@given(st.lists(MESSAGES, max_size=8), st.sampled_from(NATIVE))
def test_any_history_from_another_model_is_valid_for_every_provider(
    messages: list[Message], model: str
) -> None:
    check(body_of(*messages, QUESTION, model=model))
