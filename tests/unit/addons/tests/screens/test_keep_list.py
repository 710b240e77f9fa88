"""The lines of a keep dialog."""

from pathlib import Path

import pytest

from tui.addons.tests.keep.home import Written
from tui.addons.tests.keep.target import Target, added_to
from tui.addons.tests.screens.keep_list import heading, sentences, server_of, switch
from tui.addons.tests.suite.case import Case, Request, RequestKind, Suite, SuiteServer
from tui.ui.widgets.rows import text_of, width_of

CASE = Case("c", 1, Request(RequestKind.LIST, "tools"))
PATH = Path("s.mcp.toml")


def target(*cases: Case, server: SuiteServer | None = None) -> Target:
    return Target(PATH, Written(SuiteServer(name="mine")), suite=Suite(PATH, server, cases))


@pytest.mark.parametrize(("cases", "words"), [((), "0 cases"), ((CASE,), "1 case")])
def test_the_number_of_cases_in_the_file_is_told(cases: tuple[Case, ...], words: str):
    assert added_to(target(*cases)) == f"added to {words}"


def test_the_server_that_the_file_names_counts_before_the_one_that_would_be_written():
    assert server_of(target()) == "“mine”"
    assert server_of(target(server=SuiteServer(name="theirs"))) == "“theirs”"


def test_a_line_to_switch_shows_whether_it_is_on_and_has_its_remark_at_the_right():
    on, off = (switch("within 1s", "took 9 ms", "time", is_on=is_on).row(40) for is_on in (True, False))
    assert text_of(on)[0] != text_of(off)[0] and text_of(on).endswith("took 9 ms") and width_of(on) == 40


def test_a_heading_and_a_wrapped_text_cannot_be_chosen():
    lines = [heading("VARIES"), *sentences("a text that is longer than its line has cells", 24)]
    assert len(lines) == 3 and not any(line.key for line in lines)
    assert sentences("", 24) == []
