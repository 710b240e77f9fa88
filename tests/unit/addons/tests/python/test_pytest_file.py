import argparse
import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.python.pytest_file import file_name, literal, python_file, write
from tui.addons.tests.suite.case import (
    Case,
    Contract,
    Expectation,
    Lose,
    Request,
    RequestKind,
    Suite,
    SuiteServer,
    TurnCase,
)
from tui.core.errors import UsageError

SERVER = SuiteServer(command=("python", "server.py"))
WEATHER = Case(
    "weather in Hangzhou",
    4,
    Request(RequestKind.TOOL, "get_weather", {"location": "Hangzhou"}),
    Expectation(text="Weather in Hangzhou: light rain, <number> °C."),
)
ORDER = Case(
    "an order is placed once, even if its answer is lost",
    9,
    Request(RequestKind.TOOL, "create_order", {"sku": "A1", "key": "order-1"}),
    Expectation(result={"id": "<id>", "state": "open"}),
    lose=Lose.ANSWER,
    save={"id": "$.id"},
    then=(
        Case(
            "",
            9,
            Request(RequestKind.TOOL, "get_order", {"id": "${id}"}),
            Expectation(text="Order ${id} is {open}"),
        ),
    ),
)


def suite(*cases: Case, **more: Any) -> Suite:
    return Suite(Path("/x/weather.mcp.toml"), more.pop("server", SERVER), cases, **more)


def test_a_suite_reads_as_a_person_would_write_it():
    assert (
        python_file(suite(WEATHER, ORDER, turns=(TurnCase("Rain?", 20),), contract=Contract("x.json")))
        == '''\
"""The cases of weather.mcp.toml as Python tests."""

import pytest

from tui.pytest_plugin import assert_result


@pytest.fixture(scope="module")
def server(mcp_server):
    return mcp_server("python server.py")


def test_weather_in_hangzhou(server):
    """weather in Hangzhou"""
    result = server.call("get_weather", location="Hangzhou")
    assert_result(result, "Weather in Hangzhou: light rain, <number> °C.")


def test_an_order_is_placed_once_even_if_its_answer_is_lost(server):
    """an order is placed once, even if its answer is lost"""
    saved = {}
    result = server.options(lose="answer").call("create_order", sku="A1", key="order-1")
    assert_result(result, {"id": "<id>", "state": "open"})
    saved["id"] = result.value("$.id")
    result = server.call("get_order", id=saved["id"])
    assert_result(result, f"Order {saved['id']} is {{open}}")


# Only in weather.mcp.toml: 1 turn case and the contract.
'''
    )


def test_a_case_whose_values_others_use_is_a_fixture_so_that_each_test_can_run_alone():
    paid = Case("paid", 20, Request(RequestKind.TOOL, "pay", {"id": "${id}"}), Expectation(text="ok"))
    later = replace(ORDER, name="later", then=(), lose=None)
    skipped = replace(later, name="skipped", save={"no": "$.no"}, skip="not today")
    last = replace(paid, name="last", expected=Expectation(text="${no}"))
    whole = python_file(suite(replace(later, name="first"), later, paid, skipped, last))
    assert (
        whole.partition("def test_first(server):")[2].partition("\n\n\n")[2]
        == '''\
@pytest.fixture(scope="module")
def saved_by_later(server):
    """later"""
    saved = {}
    result = server.call("create_order", sku="A1", key="order-1")
    assert_result(result, {"id": "<id>", "state": "open"})
    saved["id"] = result.value("$.id")
    return saved


def test_later(saved_by_later):
    assert saved_by_later


def test_paid(server, saved_by_later):
    """paid"""
    saved = {**saved_by_later}
    result = server.call("pay", id=saved["id"])
    assert_result(result, "ok")


@pytest.fixture(scope="module")
def saved_by_skipped(server):
    """skipped"""
    pytest.skip("not today")


def test_skipped(saved_by_skipped):
    assert saved_by_skipped


def test_last(server, saved_by_later, saved_by_skipped):
    """last"""
    saved = {**saved_by_later, **saved_by_skipped}
    result = server.call("pay", id=saved["id"])
    assert_result(result, saved["no"])
'''
    )


def test_a_text_and_a_value_are_one_assertion_and_long_calls_are_broken():
    arguments = {"question": "w" * 80}
    case = Case(
        "a",
        1,
        Request(RequestKind.TOOL, "ask", arguments),
        Expectation(text="7", result=7),
        answers={"sampling": "Hello"},
    )
    assert (
        python_file(suite(case)).partition("def test_a(server):\n")[2]
        == f'''\
    """a"""
    result = server.options(answers={{"sampling": "Hello"}}).call(
        "ask",
        question="{"w" * 80}",
    )
    assert_result(result, "7", structured=7)
'''
    )
    assert 'mcp_server("python server.py", sampling=True)' in python_file(suite(case))


def test_a_case_without_an_expectation_is_skipped():
    empty = Case("empty", 1, Request(RequestKind.TOOL, "add"), Expectation())
    assert '@pytest.mark.skip(reason="expects nothing yet' in python_file(suite(empty))


def test_the_file_is_named_after_the_suite():
    assert file_name(Suite(Path("/x/my weather.mcp.toml"))) == "test_my_weather.py"
    assert file_name(Suite(Path("/x/.mcp.toml"))) == "test_mcp.py"


def test_two_files_of_one_name_are_refused(tmp_path: Path):
    for name in ("a-b", "a_b"):
        (tmp_path / f"{name}.mcp.toml").write_text('[[call]]\ntool = "add"\n')
    with pytest.raises(UsageError, match=r"would both be .*test_a_b\.py\. Rename"):
        write(argparse.Namespace(words=[str(tmp_path)], yes=True))
    assert len([*tmp_path.iterdir()]) == 2


def test_what_a_case_says_besides_is_in_the_file():
    case = Case(
        "a",
        1,
        Request(RequestKind.READ, "notes://all"),
        Expectation(error=True, content=[{"type": "link", "uri": "x:y"}], findings=("bad-uri",)),
        fresh=True,
        timeout_ms=5_000,
        tags=("slow",),
        skip="not yet",
    )
    assert (
        python_file(suite(case)).partition("# tags")[2]
        == ''': slow
@pytest.mark.skip(reason="not yet")
def test_a(server):
    """a"""
    result = server.options(timeout="5s", fresh=True).read("notes://all")
    assert_result(
        result,
        error=True,
        findings=["bad-uri"],
        content=[{"type": "link", "uri": "x:y"}],
    )
'''
    )


@each_case(
    ("server", "line"),
    [
        (None, "mcp_server()"),
        (SuiteServer(name="weather"), 'mcp_server(name="weather")'),
        (SuiteServer(command=("python", "my server.py")), 'mcp_server(["python", "my server.py"])'),
        (
            SuiteServer(url="https://h.example/mcp", headers={"Authorization": "Bearer ${TOKEN}"}),
            'mcp_server("https://h.example/mcp", headers={"Authorization": "Bearer ${TOKEN}"})',
        ),
        (
            SuiteServer(command=("x",), env={"A": "b"}, cwd="srv", era="legacy"),
            'mcp_server("x", env={"A": "b"}, cwd="srv", era="legacy")',
        ),
    ],
)
def test_each_kind_of_server_is_started(server: SuiteServer | None, line: str):
    assert f"    return {line}\n" in python_file(suite(WEATHER, server=server))


def test_cases_whose_names_differ_only_in_punctuation_are_different_tests():
    one = Case("a-b", 1, Request(RequestKind.LIST, "tools"), Expectation(text="x"))
    two = Case("a b", 2, Request(RequestKind.LIST, "tools"), Expectation(text="x"))
    names = [
        node.name
        for node in ast.parse(python_file(suite(one, two))).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert names == ["server", "test_a_b", "test_a_b_2"]


@each_case(
    ("text", "python"),
    [
        ("${id}", 'saved["id"]'),
        ("a ${id} {b}", "f\"a {saved['id']} {{b}}\""),
        ("$${id}", '"${id}"'),
        ("${other}", '"${other}"'),
        ("$${id} ${id}", "f\"${{id}} {saved['id']}\""),
    ],
)
def test_saved_values_are_variables(text: str, python: str):
    assert literal(text, 0, frozenset({"id"})) == python


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from([0, 8]))
def test_a_literal_is_the_same_value_in_python(value: Any, indent: int):
    text = literal(value, indent)
    assert ast.literal_eval(f"({text})") == value
    assert all(char.isprintable() or char == "\n" for char in text)


def test_nothing_of_a_suite_becomes_code():
    hostile = '"""\n\\" + boom() + "\u202e${id}{boom()}'
    case = Case(
        hostile,
        1,
        Request(RequestKind.TOOL, hostile, {hostile: hostile}),
        Expectation(text=hostile, result={hostile: [hostile]}),
        tags=(hostile,),
        skip=hostile,
    )
    whole = python_file(Suite(Path(f"/x/{hostile}.mcp.toml"), SuiteServer(name=hostile), (case,)))
    called = [n.func for n in ast.walk(ast.parse(whole)) if isinstance(n, ast.Call)]
    assert {getattr(f, "id", getattr(f, "attr", "")) for f in called} == {
        "fixture",
        "mcp_server",
        "skip",
        "call",
        "assert_result",
    }
    assert "\u202e" not in whole
