"""Calls made by hand: their states and sizes, and two of them compared."""

from typing import Any

from tests.cases import each_case
from tui.core.tools import BinaryContent, CallFailure, TextContent, Tool, ToolResult
from tui.core.traffic import Outcome
from tui.core.workbench import PromptResult
from tui.ui.widgets.page import Sheet
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.calls import BenchHistory, HandCall, size_of, state_of
from tui.ui.workbench.items import of_tools
from tui.ui.workbench.result_view import difference

(ITEM,) = of_tools([Tool("s", "t")])


def call(result: Any, number: int = 1) -> HandCall:
    return HandCall(number, ITEM, {"a": number}, "12:00:00", 0, 1.0, Outcome.OK, result)


def lines(sheet: Sheet) -> list[str]:
    sheet.fit(80)
    return [text_of(sheet.row(index, 80)) for index in range(sheet.count())]


def test_arguments_and_results_are_compared_side_by_side_even_in_json_texts() -> None:
    before = call(ToolResult((TextContent('{"n": 1, "same": true}'),)))
    after = call(ToolResult((TextContent('{"n": 2, "same": true}'),)), number=2)
    arguments, results = (row for row in lines(difference(before, after)) if row.startswith("~"))
    assert arguments.split() == ["~", '"a":', "1", "│", '"a":', "2"]
    assert results.split() == ["~", '"n":', "1", "│", '"n":', "2"]


def test_what_is_the_same_in_two_calls_is_said() -> None:
    one = call(ToolResult((TextContent("x"),)))
    assert [row.strip() for row in lines(difference(one, one)) if row.strip()] == [
        "call 1 at 12:00:00 and call 1 at 12:00:00",
        "ARGUMENTS  The arguments are the same.",
        "RESULT  The results are the same.",
    ]


def test_the_oldest_calls_are_dropped_when_they_are_too_many_or_too_large() -> None:
    book = BenchHistory()
    for _ in range(60):
        book.begin("s", ITEM, {}, "12:00:00", 0)
    assert len(book.of("s", ITEM.key)) == 50
    assert book.of("s", ITEM.key)[0].id == "hand-60"
    large = ToolResult((TextContent("x" * 20_000_000),))
    for one in book.of("s", ITEM.key):
        one.result = large
    book.begin("s", ITEM, {}, "12:00:00", 0)
    assert len(book.of("s", ITEM.key)) <= 5


def test_the_news_of_a_restarted_server_are_those_of_the_last_restart() -> None:
    book = BenchHistory()
    for start, names in enumerate((["a"], ["b"], ["a"], ["a", "c"])):
        book.listed("s", "tools", of_tools([Tool("s", name) for name in names]), start)
    assert [*book.news["s", "tools"].values()] == ["new"]
    for names in (["a"], ["a", "d"], ["a", "d", "e"]):
        book.listed("t", "tools", of_tools([Tool("t", name) for name in names]))
    assert len(book.news["t", "tools"]) == 2


def test_the_size_of_a_result_includes_all_of_its_content() -> None:
    assert size_of(ToolResult((TextContent("abc"), BinaryContent("blob", "", 7)))) == 10


@each_case(
    ("result", "state"),
    [
        (ToolResult((TextContent("x"),)), Outcome.OK),
        (ToolResult((TextContent("x"),), is_error=True), Outcome.ERROR),
        (ToolResult((), is_error=True, failure=CallFailure.SERVER_DIED), Outcome.LOST),
        (PromptResult(problem="no"), Outcome.ERROR),
        (PromptResult(problem="it ended", lost=True), Outcome.LOST),
    ],
)
def test_the_state_of_a_call_follows_from_its_result(
    result: ToolResult | PromptResult, state: Outcome
) -> None:
    assert state_of(result) is state
