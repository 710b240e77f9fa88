"""Changed definitions in words."""

from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.addons.tests.contract.report import change_lines, json_of, markdown_of, summary_line
from tui.addons.tests.contract.verdicts import ListingComparison, compare_listings


def compared(before, after):
    return compare_listings(ServerListing({Kind.TOOL: before}), ServerListing({Kind.TOOL: after}))


FOUND = compared(
    {"add": {"description": "Adds."}, "gone\x1b[31m": {}}, {"add": {"description": "Sums | all."}}
)


def test_lines_are_grouped_by_verdict_and_cleaned():
    assert [*change_lines(FOUND), summary_line(FOUND)] == [
        "breaking (1)",
        "  tool gone␛[31m  removed",
        "    - {}",
        "routing (1)",
        "  tool add: description  the model may choose differently",
        '    - "Adds."',
        '    + "Sums | all."',
        "2 changes: 1 breaking, 1 routing",
    ]


def test_equal_sides_have_no_differences():
    assert summary_line(ListingComparison()) == "No differences."
    assert list(change_lines(ListingComparison(notes=("a note",)))) == ["note: a note"]


def test_json_has_each_change_with_its_values():
    (one,) = [change for change in json_of(FOUND)["changes"] if change["why"] == "removed"]
    assert one == {
        "verdict": "breaking",
        "kind": "tool",
        "name": "gone\x1b[31m",
        "path": "",
        "why": "removed",
        "before": {},
    }
    assert json_of(FOUND)["verdicts"]["breaking"] == 1


def test_markdown_is_a_table_without_effects_of_foreign_text():
    text = "".join(markdown_of(FOUND, "a|b", "c"))
    assert "\x1b" not in text and "Sums" in text and "\\|" in text
    rows = [line for line in text.split("\n") if line.startswith("| ")]
    assert len(rows) == 1 + len(FOUND.differences)
