"""The rows of the calls of one item: two that look alike do not."""

import time
from dataclasses import replace
from pathlib import Path

from tests.cases import each_case
from tests.ui.stage import Stage
from tests.unit.storage.traffic_samples import request
from tui.core.tools import TextContent, Tool, ToolResult
from tui.core.traffic import Cause, Outcome
from tui.storage.recordings.past_calls import PastCall
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.call_list import CallList, argument_words, day_words
from tui.ui.workbench.calls import BenchHistory, HandCall, earlier
from tui.ui.workbench.items import of_tools

(ITEM,) = of_tools([Tool("s", "t")])
NOW = 1_790_000_000.0


@each_case(
    ("given", "near", "words"),
    [
        ({"city": "Oslo"}, [], '"Oslo"'),
        ({"city": "Oslo", "days": 3}, [{"city": "Oslo", "days": 2}], 'days 3, city "Oslo"'),
        ({"a": 1, "b": 2}, [{"a": 1}], "b 2, a 1"),
        ({"q": "x" * 60 + "end"}, [{"q": "x" * 60 + "another"}], '…xxxxxxend"'),
        ({"a": 1, "b": 2}, [[1]], "a 1, b 2"),
        ("text", [], '"text"'),
    ],
)
def test_the_argument_that_differs_from_the_neighbours_comes_first(given, near, words):
    assert argument_words(given, near) == words


def test_calls_of_earlier_runs_are_under_their_day():
    assert day_words(NOW - 86_400, NOW) == "yesterday"
    assert day_words(NOW - 1, NOW) == "earlier today"
    assert day_words(NOW - 9 * 86_400, NOW).startswith("2026-")


class OneList(Stage):
    def __init__(self) -> None:
        super().__init__()
        self.list = CallList()

    def compose(self):
        yield self.list


def test_a_secret_that_the_recording_does_not_have_is_not_put_into_the_form():
    arguments = {"token": "[redacted:TOKEN]", "city": "Oslo", "tags": ["a", "Bearer [redacted:X]"]}
    found = earlier(replace(past("t", NOW), arguments=arguments), ITEM)
    assert found.reusable == {"city": "Oslo", "tags": ["a"]}
    assert found.arguments == arguments


def past(name: str, seconds: float) -> PastCall:
    asked = request(1, wall_ns=int(seconds * 1e9), cause=Cause(0, 0, "hand-7"))
    result = {"content": [{"type": "text", "text": "before"}]}
    return PastCall(Path("a.mcptrace"), asked, request(2, outcome=Outcome.OK), name, {"a": 2}, result, "")


async def test_a_row_has_number_time_and_argument_and_old_calls_a_heading():
    book, now = BenchHistory(), time.time()
    book.past["s"] = [past("t", now - 86_400), past("other", now)]
    call = book.begin("s", ITEM, {"a": 1}, "12:00:01", 0)
    call.took_ms, call.state, call.result = 8.0, Outcome.OK, ToolResult((TextContent("now"),))
    app = OneList()
    async with app.run_test(size=(60, 10)) as pilot:
        app.list.show(book.of_item("s", ITEM))
        await pilot.pause()
        rows = [text_of(app.list.row(index)).rstrip() for index in range(app.list.row_count())]
        assert rows[0].split() == ["▸", "✓", "1", "12:00:01", "8", "ms", "1"]
        assert rows[1].strip() == "yesterday"
        assert rows[2].split()[:2] == ["✓", "7"] and rows[2].split()[-1] == "2"
        assert not app.list.row_selectable(1)
        before = app.list.before
        assert isinstance(before, HandCall) and before.result == ToolResult(
            (TextContent("before"),), raw={"content": [{"type": "text", "text": "before"}]}
        )


async def test_no_old_result_is_selected_before_the_first_call_of_this_run():
    book = BenchHistory()
    book.past["s"] = [past("t", time.time())]
    app = OneList()
    async with app.run_test(size=(60, 10)) as pilot:
        app.list.show(book.of_item("s", ITEM))
        app.list.focus()
        assert (app.list.selected, app.list.newest) == (None, None)
        await pilot.press("down")
        assert app.list.selected is not None and app.list.selected.past is not None
