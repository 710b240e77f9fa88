"""Ids of spans."""

from tests.cases import each_case
from tui.addons.telemetry.span import made_id, parsed_context


@each_case(
    "value",
    [
        None,
        7,
        "",
        "00-" + "0" * 32 + "-" + "1" * 16 + "-01",
        "00-" + "1" * 32 + "-" + "0" * 16 + "-01",
        "00-" + "A" * 32 + "-" + "1" * 16 + "-01",
        "00-" + "1" * 32 + "-" + "1" * 16 + "-01\n",
    ],
)
def test_what_is_no_trace_context_is_ignored(value: object):
    assert parsed_context(value) == ("", "")


def test_a_trace_context_has_a_trace_and_a_span():
    assert parsed_context("00-" + "1a" * 16 + "-" + "2b" * 8 + "-00") == ("1a" * 16, "2b" * 8)


def test_an_id_depends_on_all_of_its_parts_and_on_nothing_else():
    assert made_id(16, "a", 1) == made_id(16, "a", 1) != made_id(16, "a1")
    assert len(made_id(32, "\ud800")) == 32
