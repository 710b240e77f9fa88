"""The pytest plugin in real runs of pytest, in a process of their own."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.terminal.pty_app import home_in
from tui.addons.tests.python.pytest_file import python_file
from tui.addons.tests.suite.read import read_suite

SERVER = Path(__file__).with_name("suite_server.py")
COMMAND = [sys.executable, "-I", str(SERVER)]
HEAD = f"[server]\ncommand = {json.dumps(COMMAND)}\n"

SHOP = f"""{HEAD}
[[call]]
name = "adds"
tool = "add"
args = {{ a = 1 }}
text = "2"
tags = ["quick", "not a mark"]

[[call]]
name = "adds wrong"
tool = "add"
args = {{ a = 1 }}
text = "3"

[[call]]
name = "an order"
tool = "order"
result = '{{ "id": "<id>" }}'
save = {{ id = "$.id" }}

[[call]]
name = "one server for all"
tool = "count"
result = '{{ "orders": 1 }}'

[[call]]
name = "a later case"
read = "note:${{id}}"
error = true
text = "<text>note:order-1<text>"

[[call]]
name = "skipped"
tool = "add"
skip = "not today"
"""
ABSENT = """[server]
command = ["./no-such-program"]

[[call]]
name = "cannot run"
tool = "add"
text = "2"
"""
PYTHON = f"""
import pytest
from tui.pytest_plugin import assert_result

COMMAND = {COMMAND!r}

def test_differs(mcp_server):
    result = mcp_server(COMMAND).call("add", a=1)
    assert_result(result, "<number>")
    assert_result(result, "3")

def test_shares_the_server_of_the_module(mcp_server):
    server = mcp_server(COMMAND)
    order = server.options(lose="answer").call("order")
    assert order.value("$.id") == "order-2"
    assert_result(server.call("count"), {{"orders": 2}})
    assert_result(server.options(fresh=True).call("count"), {{"orders": 0}})

def test_an_error_is_a_result(mcp_server):
    assert_result(mcp_server(COMMAND).call("refuse"), "no such <text>", error=True)

def test_answers_are_sent_to_what_the_server_asks(mcp_server):
    server = mcp_server(COMMAND, sampling=True, era="legacy")
    assert_result(server.options(answers={{"sampling": "Hello"}}).call("sample"), "<text>Hello<text>")
    assert_result(server.options(answers={{"roots": ["data"]}}).call("roots"), "<text>/data<text>")
    with pytest.raises(AssertionError, match="answers.form"):
        server.options(answers={{"form": {{"name": 7}}}}).call("ask")
    with pytest.raises(AssertionError, match="note: declined: the server asked for a form"):
        assert_result(server.call("ask"), "<text>Ada<text>")
    with pytest.raises(ValueError, match="sampling=True"):
        mcp_server(COMMAND).options(answers={{"sampling": "Hello"}})

def test_a_request_ends_after_the_timeout_of_its_server(mcp_server):
    with pytest.raises(AssertionError, match="did not respond within 0.2 s"):
        mcp_server(COMMAND, timeout="200ms").call("hang")

def test_a_suite_names_the_server(mcp_server):
    assert mcp_server("shop.mcp.toml").list("tools").data["tools"]

async def test_beside_an_event_loop(mcp_server):
    assert_result(mcp_server(COMMAND).call("add", a=1), "2")
"""


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    cases: Mapping[str, ET.Element]


def run_pytest(folder: Path, *words: str) -> Run:
    """Run pytest in a folder, with the plugin as if it were installed."""
    report = folder / "report.xml"
    plugin = ("-p", "no:mcptui", "-p", "tui.pytest_plugin", "-p", "no:randomly")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, f"--junitxml={report}", "-o", "asyncio_mode=auto", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        | home_in(folder / "home"),
        stdin=subprocess.DEVNULL,
        timeout=90,
    )
    cases = {one.attrib["name"]: one for one in ET.parse(report).iter("testcase")}
    return Run(done.returncode, done.stdout + done.stderr, cases)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("shop")
    (found / "pytest.ini").write_text("[pytest]\n")
    (found / "shop.mcp.toml").write_text(SHOP)
    (found / "absent.mcp.toml").write_text(ABSENT)
    (found / "typo.mcp.toml").write_text(f'{HEAD}\n[[call]]\ntol = "add"\n')
    (found / "test_python.py").write_text(PYTHON)
    (found / "test_written.py").write_text(python_file(read_suite(found / "shop.mcp.toml")))
    return found


@pytest.fixture(scope="module")
def whole(folder: Path) -> Run:
    return run_pytest(folder, "-v", "-rs", "--strict-markers", "--continue-on-collection-errors")


def failure(run: Run, name: str) -> str:
    return str(run.cases[name].findtext("failure"))


def test_each_case_is_an_item(whole: Run):
    names = re.findall(r"^(\S+?\.mcp\.toml::.+?) (PASSED|FAILED|SKIPPED)", whole.out, re.MULTILINE)
    assert names == [
        ("absent.mcp.toml::cannot run", "FAILED"),
        ("shop.mcp.toml::adds", "PASSED"),
        ("shop.mcp.toml::adds wrong", "FAILED"),
        ("shop.mcp.toml::an order", "PASSED"),
        ("shop.mcp.toml::one server for all", "PASSED"),
        ("shop.mcp.toml::a later case", "PASSED"),
        ("shop.mcp.toml::skipped", "SKIPPED"),
    ]
    assert whole.code == 1


def test_a_failure_reads_as_that_of_mcptui_test_with_file_and_line(whole: Run):
    said = failure(whole, "adds wrong").splitlines()
    assert said[:3] == ["text", '  - expected "3"', '  + got      "2"']
    assert said[3].startswith("repeat: mcptui call add ")
    assert said[-1] == "shop.mcp.toml:11: FAILED"
    assert "Traceback" not in whole.out


def test_a_skipped_case_shows_its_reason(whole: Run):
    assert re.search(r"SKIPPED \[1\] shop\.mcp\.toml\S*: not today", whole.out), whole.out


def test_a_server_that_does_not_start_fails_its_cases_in_a_sentence(whole: Run):
    said = failure(whole, "cannot run")
    assert "no-such-program" in said and said.endswith("absent.mcp.toml:4: ERROR"), said


def test_an_invalid_file_is_an_error_with_line_and_key(whole: Run):
    assert re.search(r"typo\.mcp\.toml:5 call\[1\]\.tol: unknown key", whole.out), whole.out


def test_tests_in_python_call_a_server_and_assert_results(whole: Run):
    cases = {name: one for name, one in whole.cases.items() if one.get("classname") == "test_python"}
    assert len(cases) == 7
    assert [name for name, one in cases.items() if one.find("failure") is not None] == ["test_differs"]
    assert 'AssertionError: text\nE         - expected "3"\nE         + got      "2"' in whole.out


@pytest.fixture(scope="module")
def selected(folder: Path) -> Run:
    """Run some of the tests, in two workers."""
    files = ("shop.mcp.toml", "test_python.py", "test_written.py")
    words = ("-n2", "--dist=loadgroup", "-m", "quick or not quick", "-k", "adds or shares or later")
    return run_pytest(folder, *files, *words)


def test_a_selected_case_runs_those_that_save_its_values_and_tags_are_marks(selected: Run):
    assert "a later case" in selected.cases and "an order" not in selected.cases, selected.out
    assert selected.cases["a later case"].find("failure") is None, selected.out


def test_a_written_test_that_needs_a_saved_value_runs_alone(selected: Run):
    assert "test_a_later_case" in selected.cases and "test_an_order" not in selected.cases, selected.out
    assert not [*selected.cases["test_a_later_case"]], selected.out


def test_workers_of_xdist_have_servers_of_their_own(selected: Run):
    failed = [name for name, one in selected.cases.items() if one.find("failure") is not None]
    assert "test_shares_the_server_of_the_module" in selected.cases, selected.out
    assert failed == ["adds wrong", "test_adds_wrong"], selected.out
