from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cases import each_case
from tui.addons.tests.review.catalog import Listed
from tui.addons.tests.review.last_runs import LastCase
from tui.addons.tests.run.outcome import State
from tui.addons.tests.screens.kept_calls import badges_of, is_server_of, verdict_on
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite, SuiteServer
from tui.core.servers import ServerSpec
from tui.core.tools import CallFailure, ToolResult
from tui.core.workbench import CallKey, CallKind
from tui.ui.workbench.kept_calls import Badge

RAIN = CallKey("weather", CallKind.TOOL, "rain")


def kept(text: str = "yes", state: State | None = None, arguments: Any = None, **more: Any) -> Listed:
    request = Request(RequestKind.TOOL, "rain", arguments or {})
    case = Case(f"case {text}", 1, request, Expectation(text, **more))
    return Listed(Path("a.mcp.toml"), case, None if state is None else LastCase(state))


def result(text: str) -> ToolResult:
    return ToolResult(raw={"content": [{"type": "text", "text": text}]})


def suite(path: Path, **server: Any) -> Suite:
    return Suite(path, SuiteServer(**server) if server else None)


def test_a_suite_is_about_a_server_that_it_names_or_starts(tmp_path: Path):
    (tmp_path / "server.py").touch()
    path = tmp_path / "a.mcp.toml"
    spec = ServerSpec("weather", "python", (str(tmp_path / "server.py"),), cwd="/")
    assert is_server_of(suite(path, name="weather"), spec)
    assert is_server_of(suite(path, command=("python", "server.py")), spec)
    assert not is_server_of(suite(path, command=("python", "other.py")), spec)
    assert not is_server_of(suite(path, name="other"), spec)
    assert not is_server_of(suite(path), spec)
    remote = ServerSpec("remote", url="http://127.0.0.1/mcp")
    assert is_server_of(suite(path, url="http://127.0.0.1/mcp"), remote)


@each_case(
    ("states", "passed"),
    [
        ((State.PASSED, State.PASSED), True),
        ((State.PASSED, State.FAILED), False),
        ((State.PASSED, State.ERROR), False),
        ((State.PASSED, None), None),
        ((State.SKIPPED,), None),
    ],
)
def test_the_badge_of_a_tool_says_how_its_kept_calls_ended(
    states: tuple[State | None, ...], passed: bool | None
):
    failed = sum(state in (State.FAILED, State.ERROR) for state in states)
    badge = Badge(len(states), passed, failed)
    assert badges_of("weather", [kept(state=state) for state in states]) == {RAIN: badge}


def test_a_saved_call_without_a_result_is_not_a_kept_one():
    saved = replace(kept(), what=Case("rain", 1, Request(RequestKind.TOOL, "rain")))
    assert badges_of("weather", [saved]) == {}


def test_a_result_is_as_kept_if_it_is_as_one_kept_call_expects():
    cases = [kept("no"), kept("yes")]
    found = verdict_on(cases, RAIN, {}, result("yes"))
    assert found is not None and found.is_same and found.name == "case yes"
    found = verdict_on(cases, RAIN, {}, result("perhaps"))
    assert found is not None and not found.is_same and found.name == "case no"
    assert any(pair.before == "  no" and pair.after == "  perhaps" for pair in found.pairs)


def test_an_escaped_reference_is_the_text_it_stands_for_and_a_saved_value_is_unknown():
    found = verdict_on([kept("a $${x} <<id>")], RAIN, {}, result("a ${x} <id>"))
    assert found is not None and found.is_same
    assert verdict_on([kept("a ${x}")], RAIN, {}, result("a b")) is None


def test_a_call_with_other_arguments_has_no_verdict():
    assert verdict_on([kept(arguments={"a": 1})], RAIN, {"a": 2}, result("yes")) is None
    assert verdict_on([kept(arguments={"a": 1})], RAIN, {"a": 1}, result("yes")) is not None
    assert verdict_on([kept()], RAIN._replace(name="snow"), {}, result("yes")) is None


def test_a_failed_call_differs():
    found = verdict_on([kept()], RAIN, {}, ToolResult.failed("timed out", CallFailure.TIMEOUT))
    assert found is not None and not found.is_same
