"""What a run will do: which cases are chosen, and the names of their servers."""

from dataclasses import replace
from pathlib import Path

import pytest

from tui.addons.tests.run.plan import PlannedSuite, RunOptions, read_suites, with_names
from tui.addons.tests.suite.case import Case, Request, RequestKind, Suite, TurnCase
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec

ADD = Case("add", 1, Request(RequestKind.TOOL, "add"), save={"id": "$.id"}, tags=("slow",))
GET = Case("get it", 2, Request(RequestKind.TOOL, "get", {"id": "${id}"}))
ASK = TurnCase("Get it?", 3)
SUITE = Suite(Path("s.mcp.toml"), cases=(ADD, GET), turns=(ASK,))


def test_a_case_needs_all_words_of_k_and_one_of_the_tags():
    assert RunOptions(matching="it get").selects("get it", ())
    assert not RunOptions(matching="get all").selects("get it", ())
    assert RunOptions(tags=("slow", "net")).selects("add", ("slow",))
    assert not RunOptions(tags=("slow",)).selects("add", ())


def test_a_chosen_case_brings_the_earlier_one_whose_value_it_uses():
    assert RunOptions(matching="get it").chosen(SUITE) == [ADD, GET, ASK]
    assert RunOptions(matching="add").chosen(SUITE) == [ADD]


def test_a_folder_without_test_files_is_an_error_that_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(UsageError, match=r"no test file \(\*\.mcp\.toml\)") as raised:
        read_suites([str(tmp_path)])
    assert "mcptui keep" in raised.value.next_step


def test_an_invalid_file_is_planned_with_its_problem_beside_the_valid_ones(tmp_path: Path):
    (tmp_path / "a.mcp.toml").write_text("call = 1\n")
    (tmp_path / "b.mcp.toml").write_text('server = "weather"\n')
    bad, good = read_suites([str(tmp_path)])
    assert "a.mcp.toml" in bad.problem and not good.problem and good.suite.server is not None


def test_servers_of_the_same_name_get_numbers_but_a_configured_one_is_shared():
    plan = PlannedSuite(SUITE, ServerSpec("s", "python"))
    assert [one.spec.name for one in with_names([plan, plan]) if one.spec is not None] == ["s", "s-2"]
    own = replace(plan, configured="s")
    assert [one.spec.name for one in with_names([own, own]) if one.spec is not None] == ["s", "s"]
