import os
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.python.trial import (
    ANOTHER,
    MOST_CHARS,
    Trial,
    as_if_by_another,
    as_if_later,
    without_places,
)
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.suite.case import Case, Request, RequestKind
from tui.core.traffic import Finding, Severity

NOW = datetime(2026, 11, 29, 10, 5, tzinfo=UTC)


def trial(
    *texts: str, findings: tuple[Finding, ...] = (), places: tuple[str, ...] = ()
) -> tuple[Case | None, str]:
    tried = Trial("a case", Request(RequestKind.TOOL, "tool"), moment=NOW)
    tried.responses = [
        Response(RequestKind.TOOL, {"content": [{"type": "text", "text": text}]}, findings=findings)
        for text in texts
    ]
    return tried.case(lambda text: text, places), tried.problem


def text_of(*texts: str, **more: Any) -> str | None:
    case, problem = trial(*texts, **more)
    assert case is not None, problem
    for text in texts:
        response = Response(RequestKind.TOOL, {"content": [{"type": "text", "text": text}]})
        assert not judge(case.expected, response).mismatches
    return case.expected.text


def test_what_is_the_same_each_time_is_expected():
    assert text_of("sunny", "sunny", "sunny") == "sunny"


def test_what_varies_becomes_a_placeholder():
    assert text_of("21 °C, sunny", "19 °C, sunny", "20 °C, sunny") == "<number> °C, sunny"


@pytest.mark.parametrize("text", ["It is 10:05 now", "Today: Sunday", "on 29/11/2026"])
def test_what_would_differ_tomorrow_becomes_one_too(text: str):
    assert text_of(text, text, text) != text


def test_what_would_differ_on_another_computer_becomes_one_too():
    said = text_of("in /home/me: 3", "in /home/me: 3", places=("/home/me",))
    assert said is not None and "/home/me" not in said and said.endswith(": 3")


def test_where_most_numbers_vary_all_of_them_do():
    assert text_of("cpu 5 %, up 17 s, 3 of 8", "cpu 5 %, up 18 s, 4 of 9") == (
        "cpu <number> %, up <number> s, <number> of <number>"
    )
    assert text_of("17 of 100 in 5 rooms", "18 of 100 in 5 rooms") == "<number> of 100 in 5 rooms"


@pytest.mark.parametrize(
    "texts",
    [
        ("a: 2, b: 1, c: 1", "a: 3, b: 2, c: 1", "a: 4, b: 3, c: 3"),
        ("a: 2, b: 1, c: 1", "a: 3, d: 2, c: 1", "a: 4, c: 3, b: 3"),
        ("first alice, then bob", "first bob, then alice"),
    ],
)
def test_a_line_whose_parts_change_places_is_one_placeholder(texts: tuple[str, ...]):
    assert text_of(*(f"Used.\n{text}\nEnd." for text in texts)) == "Used.\n<text>\nEnd."


def test_a_value_of_this_computer_is_found_as_a_word_or_a_whole_value():
    said = text_of(*["Runs /bin/zsh, not /usr/bin/zsh-5, as me"] * 2, places=("/bin/zsh", "me"))
    assert said == "Runs <text>, not /usr/bin/zsh-5, as me"


def test_a_uuid_is_another_on_another_computer():
    assert text_of(*["client d7d2cde2-047e-4602-882a-551639aaf486"] * 2) == "client <id>"


def test_a_result_of_which_nothing_stays_gives_no_case():
    case, problem = trial("17", "18", "19")
    assert case is None and problem == "nothing of its result is the same each time"


def test_a_large_case_is_not_written():
    case, problem = trial(*["\\" * MOST_CHARS] * 3)
    assert case is None and "large" in problem


def test_a_result_that_no_file_can_have_gives_no_case():
    case, problem = trial(*["half of a pair: \ud83d"] * 3)
    assert case is None and "invalid character" in problem


def test_findings_are_accepted_by_their_codes():
    finding = Finding(0, "structured-content", Severity.ERROR, "x")
    case, _ = trial("a", "a", findings=(finding,))
    assert case is not None and case.expected.findings == ("structured-content",)


def test_the_time_is_not_limited():
    case, _ = trial("a", "a", "a")
    assert case is not None and case.expected.within_ms is None


def test_a_member_that_only_some_results_have_is_not_expected():
    tried = Trial("a case", Request(RequestKind.TOOL, "tool"), moment=NOW)
    for value in ({"a": "x", "b": "y"}, {"a": "x"}, {"a": "x"}):
        tried.responses.append(Response(RequestKind.TOOL, {"content": [], "structuredContent": value}))
    case = tried.case(str)
    assert case is not None and case.expected.result == {"a": "x"}


def test_a_list_of_the_processes_of_this_computer_gives_no_case():
    case, problem = trial(*[f"PID: 1, init\nPID: {os.getpid()}, mcptui"] * 3)
    assert case is None and problem == "its result lists the processes of this computer"


def test_a_result_with_a_reference_in_its_text_is_expected_as_it_is():
    case, problem = trial(*["echo ${PATH} and <id>"] * 3)
    assert case is not None and (case.expected.text, problem) == ("echo $${PATH} and <<id>", "")


LOOKED_AT = datetime(2026, 11, 29, 10, 5, 33, tzinfo=UTC)


@each_case(
    "value",
    [
        "2026-11-29T10:05:33Z",
        "2026/11/29",
        "29.11.2026",
        "11/29/2026",
        "It is 18:05 in Shanghai",
        "10:05 AM",
        "Sunday",
        "Sun, 29 Nov",
        "November 29th",
        "Copyright 2026",
        "The week of the year is 49",
        "The number of days in month is 30.",
        "day 333",
        LOOKED_AT.timestamp(),
        int(LOOKED_AT.timestamp() * 1000),
        {"day": 29},
        {"weekday": 7},
        [{"at": {"hour": 18}}],
    ],
)
def test_a_time_of_now_is_moved(value: Any):
    assert as_if_later(value, LOOKED_AT) != value


@each_case(
    "value",
    [
        "",
        "2026-07-28",
        "version 1.2026",
        "12:30",
        "1:55.3",
        "May 5",
        "29 apples",
        "week 12",
        "days: 7",
        "Rome",
        "<number>",
        7,
        True,
        None,
        {"day": 3},
        {"count": 29},
        ["2025-11-29"],
    ],
)
def test_everything_else_stays(value: Any):
    assert as_if_later(value, LOOKED_AT) == value


def test_only_the_time_in_a_text_is_moved():
    assert as_if_later("Order 29 of Rome at 10:05: open", LOOKED_AT) == "Order 29 of Rome at 13:22: open"


def test_texts_of_this_computer_are_not_expected():
    value = {"cwd": "/home/me/shop/data", "lines": ["in /home/me", "an /opt", "/opt", 5]}
    found = without_places(value, ["/home/me", "/home/me/shop", "", "/opt"])
    assert found == {"cwd": "<text>/data", "lines": ["in <text>", "an /opt", "<text>", 5]}


def test_uuids_that_were_not_given_are_others_on_another_computer():
    owner = "1bcfd2d7-43f3-4228-b46d-6c113286ac80/06ccbe81490a"
    assert as_if_by_another({"MCPTUI_OWNER": owner, "id": owner[:36]}) == {
        "MCPTUI_OWNER": ANOTHER,
        "id": ANOTHER[:36],
    }
    assert as_if_by_another(owner[:36], f"id={owner[:36]}") == owner[:36]
