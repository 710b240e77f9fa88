"""The preview beside the list: what it shows of an entry."""

from tests.cases import each_case
from tests.ui.traffic_stage import Recorded, some
from tests.unit.traffic.small_traffic import Bodies
from tui.core.traffic import Kind
from tui.ui.traffic.entry_preview import MOST_BYTES, folded_section, part_of, sections
from tui.ui.widgets.preview import Sections
from tui.ui.widgets.rows import text_of


def rows(recorded: Recorded, seq: int, width: int = 60) -> list[str]:
    found = sections(recorded.columns, seq, Bodies(recorded))
    assert found is not None
    sheet = Sections(found)
    sheet.fit(width)
    return [text_of(sheet.row(index, width)).rstrip() for index in range(sheet.count())]


def test_a_call_is_shown_by_its_arguments_and_its_result_whichever_half_is_selected() -> None:
    recorded = some()
    assert rows(recorded, 2) == rows(recorded, 3)
    text = "\n".join(rows(recorded, 3))
    assert 'location  "Beijing"' in text and "25 °C" in text and "4.1 ms" in text
    assert "jsonrpc" not in text


def test_a_body_that_is_not_json_is_shown_without_its_controls() -> None:
    recorded = some()
    assert any("warning: " in line and "cache is cold" in line for line in rows(recorded, 7))
    assert "\x1b" not in "".join(rows(recorded, 7))


def test_of_a_large_body_only_the_first_characters_are_shown() -> None:
    recorded = Recorded()
    recorded.call(result={"text": "x" * (MOST_BYTES + 1)})
    found = sections(recorded.columns, 2, Bodies(recorded))
    assert found is not None
    sheet = Sections(found)
    sheet.fit(60)
    assert sheet.count() < 250 and "in all" in text_of(sheet.row(sheet.count() - 1, 60))


def test_an_entry_that_was_dropped_has_no_preview() -> None:
    recorded = some()
    recorded.dropped = 3
    assert sections(recorded.columns, 2, Bodies(recorded)) is None


@each_case(
    ("kind", "message", "part"),
    [
        (Kind.REQUEST, {"params": {"name": "x", "arguments": {"a": 1}}}, {"a": 1}),
        (Kind.REQUEST, {"params": {"uri": "a:b"}}, {"uri": "a:b"}),
        (Kind.REQUEST, {"params": [1]}, [1]),
        (Kind.RESPONSE, {"result": {"b": 2}}, {"b": 2}),
        (Kind.ERROR, {"error": {"code": 1}}, {"code": 1}),
        (Kind.REQUEST, {}, None),
        (Kind.RESPONSE, [], None),
        (Kind.MODEL_REQUEST, {"messages": []}, None),
    ],
)
def test_the_part_of_a_message_that_is_read_first(kind: Kind, message: object, part: object) -> None:
    assert part_of(kind, message) == part


def test_a_fold_is_shown_by_its_methods() -> None:
    recorded = Recorded()
    recorded.call("", method="initialize", takes_ms=30)
    recorded.call("", method="tools/list", takes_ms=2)
    section = folded_section(recorded.columns, range(4), 9)
    assert "9 entries of weather" in text_of(section.left)
    assert [text_of(section.sheet.row(row, 60)) for row in range(3)] == [
        "initialize  30 ms",
        "tools/list  2.0 ms",
        "…",
    ]
