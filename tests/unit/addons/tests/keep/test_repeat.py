"""Sending a request again: which, after which question, and with which results."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tui.addons.tests.keep.draft import Draft
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.repeat import compared_words, question, results_again, why_not_repeated
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.errors import ServerError
from tui.core.workbench import RawAnswer
from tui.traffic.record.entry_columns import EntryColumns

CALL = Exchange("weather", Request(RequestKind.TOOL, "get", {"city": "Oslo"}))


def test_only_what_changes_nothing_is_sent_again():
    assert "get is not marked read-only or idempotent" in why_not_repeated(CALL)
    assert why_not_repeated(replace(CALL, hints={"readOnlyHint": True})) == ""
    assert why_not_repeated(replace(CALL, hints={"idempotentHint": True})) == ""
    assert why_not_repeated(replace(CALL, request=Request(RequestKind.READ, "note://a"))) == ""
    asked = replace(CALL, hints={"readOnlyHint": True}, answers={"form": {}})
    assert "asked for input" in why_not_repeated(asked)


def test_the_question_names_tool_and_arguments():
    head, about = question(replace(CALL, hints={"readOnlyHint": True}))
    assert head == "Call “get” twice more, to find what varies? weather marks it as read-only."
    assert about == 'get {"city": "Oslo"}'


class Bench:
    """A workbench that answers raw requests."""

    def __init__(self, answer: RawAnswer) -> None:
        self.answer = answer
        self.sent: list[Any] = []

    async def request(self, server: str, method: str, params: Any, **more: Any) -> RawAnswer:
        self.sent.append((server, method, params, more["call"]))
        return self.answer


def runtime(bench: Bench) -> Any:
    limits = SimpleNamespace(limits=SimpleNamespace(call_timeout=5))
    recording = SimpleNamespace(entries=EntryColumns(), open_reader=lambda: SimpleNamespace(close=int))
    return SimpleNamespace(workbench=bench, turn_context=limits, recording=recording)


async def test_a_request_is_sent_twice_with_ids_of_its_own():
    bench, numbers = Bench(RawAnswer(result={"content": []})), iter("ab")
    found = await results_again(runtime(bench), "weather", CALL.request, lambda: next(numbers))
    params = {"name": "get", "arguments": {"city": "Oslo"}, "_meta": {"progressToken": 0}}
    assert bench.sent == [("weather", "tools/call", params, one) for one in "ab"]
    assert [result for result, *_ in found] == [{"content": []}] * 2


async def test_without_a_result_it_says_why():
    bench = Bench(RawAnswer(error={"code": -1, "message": "busy"}))
    with pytest.raises(ServerError, match="busy"):
        await results_again(runtime(bench), "weather", CALL.request, str)


def test_what_a_comparison_found_is_a_sentence():
    def said(*texts: str) -> str:
        first, *others = ({"content": [{"type": "text", "text": one}]} for one in texts)
        exchange = Exchange("s", Request(RequestKind.TOOL, "t"), result=first, others=others)
        return compared_words(Draft.of(exchange, "a case"))

    assert said("It is 5.") == ""
    assert said("It is 5.", "It is 5.") == "Compared with 1 other result: nothing differs."
    assert "They agree: if the server has changed" in said("It is 5.", "It is 6.", "It is 6.")
    assert said("It is 5.", "It is 6.", "It is 5.") == "Compared with 2 other results: 1 part differs."
