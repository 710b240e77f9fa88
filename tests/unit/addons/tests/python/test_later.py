from datetime import UTC, datetime
from typing import Any

import pytest

from tui.addons.tests.python.later import ANOTHER, as_if_by_another, as_if_later, without_places

NOW = datetime(2026, 11, 29, 10, 5, 33, tzinfo=UTC)


@pytest.mark.parametrize(
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
        NOW.timestamp(),
        int(NOW.timestamp() * 1000),
        {"day": 29},
        {"weekday": 7},
        [{"at": {"hour": 18}}],
    ],
)
def test_a_time_of_now_is_moved(value: Any):
    assert as_if_later(value, NOW) != value


@pytest.mark.parametrize(
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
    assert as_if_later(value, NOW) == value


def test_only_the_time_in_a_text_is_moved():
    assert as_if_later("Order 29 of Rome at 10:05: open", NOW) == "Order 29 of Rome at 13:22: open"


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
