from typing import Any

from tui.addons.tests.review.compared import Section
from tui.addons.tests.review.sections import MISSING, sections
from tui.addons.tests.run.judge import Response
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import Expectation, RequestKind


def answer(text: str, **more: Any) -> Response:
    return Response(RequestKind.TOOL, {"content": [{"type": "text", "text": text}], **more})


def test_only_what_is_expected_is_compared():
    response = answer("sunny", structuredContent={"a": 1})
    assert sections(Expectation(text="rain"), response) == [Section("text", "rain", "sunny")]
    assert sections(Expectation(result={"a": 2}), response) == [Section("result", {"a": 2}, {"a": 1})]


def test_an_unexpected_error_shows_what_it_says():
    assert sections(Expectation(result={"a": 1}), answer("no such city", isError=True)) == [
        Section("error", False, True),
        Section("text", ABSENT, "no such city"),
        Section("result", {"a": 1}, MISSING),
    ]


def test_a_case_that_expects_nothing_shows_all_that_it_could_expect():
    assert sections(Expectation(), answer("sunny")) == [Section("text", ABSENT, "sunny")]
    found = sections(Expectation(), answer("{}", structuredContent={"a": 1}))
    assert found == [Section("result", ABSENT, {"a": 1})]
