"""The answers that the user gave during a call, in both eras."""

from typing import Any

from tui.addons.tests.keep.exchange import answered


def form(action: str = "accept", **content: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    asked = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {}}}
    return asked, {"result": {"action": action, **({"content": content} if content else {})}}


def test_a_form_that_was_filled_in_is_an_answer_with_its_values():
    assert answered([], [], [form(name="Ada")]) == {"form": {"name": "Ada"}}


def test_several_equal_answers_are_one_and_others_a_list():
    assert answered([], [], [form(name="Ada"), form(name="Ada")]) == {"form": {"name": "Ada"}}
    assert answered([], [], [form(name="Ada"), form("decline")]) == {"form": [{"name": "Ada"}, "decline"]}


def test_sampling_is_answered_with_the_text_of_the_reply_or_declined():
    asked = {"method": "sampling/createMessage", "params": {}}
    reply = {"result": {"role": "assistant", "content": {"type": "text", "text": "Sunny."}}}
    assert answered([], [], [(asked, reply)]) == {"sampling": "Sunny."}
    assert answered([], [], [(asked, {"error": {"code": -1, "message": "no"}})]) == {"sampling": False}


def test_the_answers_of_rounds_are_in_the_next_request():
    asked, response = form(name="Ada")
    rounds = [{"result": {"resultType": "input_required", "inputRequests": {"1": asked}}}]
    sent = [{"params": {}}, {"params": {"inputResponses": {"1": response["result"]}}}]
    assert answered(sent, rounds, []) == {"form": {"name": "Ada"}}


def test_a_url_is_answered_with_its_action():
    asked = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://example.com"}}
    assert answered([], [], [(asked, {"result": {"action": "accept"}})]) == {"url": "accept"}
