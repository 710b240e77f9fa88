"""Rows of the trace pane that need no screen."""

import pytest

from tui.core.text import preview
from tui.traffic.spans.span_values import CallSpan, CallState
from tui.ui.chat.trace_rows import TraceLook, span_rows
from tui.ui.widgets.rows import text_of
from tui.ui.widgets.symbols import UNICODE


def rows(result: str, *, columns: int = 60, state: CallState = CallState.DONE) -> list[str]:
    span = CallSpan(1, 1, "c", "weather", "get", (), state, result=preview(result))
    return [text_of(row) for row in span_rows(span, TraceLook(columns, UNICODE, 0), open=False)]


def test_an_indented_json_result_is_one_compact_line() -> None:
    said = '{\n  "city": "Bei  jing",\n  "days": [\n    1,\n    2\n  ]\n}'
    assert rows(said)[-1].strip() == '→ {"city": "Bei jing", "days": [1, 2]}'


def test_a_text_of_several_lines_shows_its_first_line_and_an_ellipsis() -> None:
    assert rows("sunny\nwarm")[-1].strip() == "→ sunny …"


def test_the_rows_of_a_result_without_line_breaks_are_bounded() -> None:
    def work(size: int) -> tuple[int, int]:
        span = CallSpan(1, 1, "c", "s", "t", (), CallState.DONE, result=preview("A" * size))
        found = list(span_rows(span, TraceLook(60, UNICODE, 0), open=True))
        return len(found), sum(len(text_of(row)) for row in found)

    assert work(4 << 20) == work(1 << 20)
    assert work(4 << 20)[1] < 1 << 17


def test_a_call_that_did_not_run_says_this_only_once() -> None:
    head, result = rows("not run: limit (max_steps)", state=CallState.NOT_RUN)
    assert head.endswith("not run")
    assert result.strip() == "→ limit (max_steps)"


def test_an_expanded_call_labels_its_duration_as_the_total() -> None:
    span = CallSpan(1, 1, "c", "weather", "get", (), CallState.DONE, ms=6.0)
    found = [text_of(row) for row in span_rows(span, TraceLook(60, UNICODE, 0), open=True)]
    assert found[1].strip() == "took 6 ms in total. Press f8 for the time on the wire"


@pytest.mark.parametrize(
    ("state", "open", "shown"), [("denied", False, 1), ("done", False, 0), ("done", True, 1)]
)
def test_the_rule_that_decided_a_call_is_named(state: str, open: bool, shown: int) -> None:
    span = CallSpan(1, 1, "c", "notes", "add", (), CallState(state), rule="deny notes/*")
    found = [text_of(row) for row in span_rows(span, TraceLook(60, UNICODE, 0), open=open)]
    assert sum("rule: deny notes/*" in row for row in found) == shown
