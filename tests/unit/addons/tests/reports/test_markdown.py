"""The report in Markdown."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.unit.addons.tests.reports.outcomes import (
    BASE,
    EMPTY,
    FAILED,
    MIXED,
    NOT_STARTED,
    PASSED,
    run_outcome,
)
from tui.addons.tests.reports.markdown import MOST_ROWS, markdown
from tui.addons.tests.run.outcome import Mismatch, RunOutcome
from tui.addons.tests.run.reporter import RunStart


def page(run: RunOutcome) -> str:
    return "".join(markdown(RunStart(), run, BASE))


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")][1:]


def test_a_report_counts_and_has_a_row_for_each_case():
    text = page(MIXED)
    assert text.startswith("## mcptui test: 1 failed, 1 error, 1 passed, 1 skipped in 2.0 s\n")
    assert rows(text) == [
        "| passed | sun | tests/weather.mcp.toml:5 | 41 ms |  |",
        '| **failed** | rain | tests/weather.mcp.toml:12 | 1.2 s | result.rain: expected 3, got "three" |',
        "| **error** | snow | tests/weather.mcp.toml:20 |  | The server ended before it responded. |",
        "| skipped | hail | tests/weather.mcp.toml:30 |  | not in summer |",
    ]


def test_a_case_that_failed_has_its_details():
    assert "### rain\n\n```text\ntests/weather.mcp.toml:12\n" in page(MIXED)


def test_a_server_that_does_not_start_has_a_row():
    (row,) = rows(page(NOT_STARTED))
    assert row.startswith("| **error** | (server start) |")


def test_a_run_without_cases_says_so():
    assert page(EMPTY) == "## mcptui test: nothing was run in 0 ms\n\n"


def test_of_many_cases_those_that_failed_are_in_the_table():
    text = page(run_outcome(*[PASSED] * MOST_ROWS, FAILED))
    assert len(rows(text)) == 1
    assert "500 more cases are not in the table." in text


def test_the_recording_is_named_with_its_command():
    text = page(replace(MIXED, recording=Path("/tmp/my run.mcptrace")))
    assert "mcptui traffic '/tmp/my run.mcptrace'" in text


@settings(max_examples=20)
@given(st.text(), st.text(st.sampled_from("|`\\<>*_[]()#!@ \n~$a")))
def test_no_text_changes_the_page(name: str, text: str):
    outcome = replace(FAILED, name=name, problem=text, mismatches=[Mismatch(text, text, text)], said=[text])
    tokens = MarkdownIt("commonmark").enable("table").parse(page(run_outcome(outcome)))
    kinds = [token.type for token in tokens]
    assert kinds.count("td_open") == 5
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h2", "h3"]
    assert kinds.count("fence") == 1
    inside = {child.type for token in tokens for child in token.children or ()}
    assert not inside & {"html_inline", "image", "link_open", "code_inline"}
