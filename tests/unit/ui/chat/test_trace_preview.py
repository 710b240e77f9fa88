"""The preview below the trace: the arguments and the result of the selected call."""

from tui.core.text import Preview
from tui.traffic.spans.span_values import CallSpan, CallState
from tui.ui.chat.trace_preview import call_sections
from tui.ui.widgets.preview import Sections
from tui.ui.widgets.rows import text_of


def rows(call: CallSpan) -> list[str]:
    sheet = Sections(call_sections(call))
    sheet.fit(40)
    return [text_of(sheet.row(index, 40)).rstrip() for index in range(sheet.count())]


def call(**fields: object) -> CallSpan:
    given = (("location", '"Beijing"'),)
    return CallSpan(1, 1, "call-1", "weather", "get", given, **fields)  # type: ignore[arg-type]


def test_a_result_of_json_is_laid_out() -> None:
    done = call(state=CallState.DONE, ms=4.0, result=Preview('{"temp": 25}', 0))
    assert rows(done) == [
        "weather › get                       4 ms",
        'location  "Beijing"',
        "",
        "Result",
        "  temp  25",
    ]


def test_a_truncated_result_is_shown_as_text_with_the_number_of_missing_characters() -> None:
    found = rows(call(state=CallState.DONE, ms=4.0, result=Preview('{"temp":\n[1, 2', 700)))
    assert found[3].endswith("700 more characters") and found[4:] == ['{"temp":', "[1, 2"]


def test_a_call_that_waits_has_no_result_yet() -> None:
    assert rows(call())[0].endswith("waiting") and len(rows(call())) == 2
