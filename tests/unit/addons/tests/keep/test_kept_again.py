"""What a case expects when its call is kept again."""

from typing import Any

import pytest

from tui.addons.tests.keep.draft import Draft
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.kept_again import kept_again
from tui.addons.tests.suite.case import Expectation, Request, RequestKind

ID = "84e9b578-a22e-41f1-b30d-5e1b3dd0f0aa"


def result(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    return {"content": [], "structuredContent": value}


def draft(value: Any, *others: Any) -> Draft:
    request = Request(RequestKind.TOOL, "get")
    return Draft.of(Exchange("s", request, result(value), others=[*map(result, others)]), "")


@pytest.mark.parametrize(
    ("before", "value", "others", "after"),
    [
        ("Weather in <text>: <text>", "Weather in Rome: sun", (), "Weather in <text>: <text>"),
        (
            "Now in <text>: <number> C",
            "Later in Oslo: 5 C",
            ("Later in Oslo: 7 C",),
            "Later in <text>: <number> C",
        ),
        ("Order <id>", f"Order: {ID}", (), "Order: <id>"),
        ("Order", f"Order {ID}", (), "Order <id>"),
        ("Rain.", "Rain at 5.", ("Rain at 6.",), "Rain at <number>."),
    ],
)
def test_placeholders_of_a_text_stay_where_they_fit(before: str, value: str, others: Any, after: str):
    assert kept_again(Expectation(text=before), draft(value, *others)).text == after


@pytest.mark.parametrize(
    ("before", "value", "others", "after"),
    [
        (
            {"by": "<text>", "title": "Nets"},
            {"by": "A", "title": "New"},
            (),
            {"by": "<text>", "title": "New"},
        ),
        ({"row": 4, "n": 1}, {"rows": 4, "n": 1}, ({"rows": 4, "n": 2},), {"rows": 4, "n": "<number>"}),
        ({"n": 1}, {"n": 2, "volatile": 7}, (), {"n": 2}),
        ({"n": "<number>"}, {"n": "many"}, (), {"n": "many"}),
        ({"a": ["<re:x+>", "b"]}, {"a": ["xx", "c"]}, (), {"a": ["<re:x+>", "c"]}),
        ({"a": ["<text>"], "b": 1}, {"a": ["c", "d"], "b": 1}, (), {"a": ["c", "d"], "b": 1}),
    ],
)
def test_placeholders_of_a_result_stay_and_a_renamed_member_is_expected(
    before: Any, value: Any, others: Any, after: Any
):
    assert kept_again(Expectation(result=before), draft(value, *others)).result == after


def test_what_the_user_switched_is_as_in_the_draft():
    made = draft({"n": 1, "m": 1}, {"n": 2, "m": 1})
    (one,) = made.variations
    before = Expectation(result={"n": "<any>", "m": "<any>"})
    assert kept_again(before, made.switch(one)).result == {"n": 1, "m": "<any>"}
