from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.python.server import Result, Servers, assertion
from tui.addons.tests.run.judge import Response
from tui.addons.tests.suite.case import RequestKind
from tui.core.errors import ConfigError
from tui.core.traffic import Finding, Severity
from tui.pytest_plugin import assert_result


def result(text: str = "", **more: Any) -> Result:
    return Result(Response(RequestKind.TOOL, {"content": [{"type": "text", "text": text}], **more}))


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (result("It is 21 °C"), "It is <number> °C"),
        (result('{"id": "a-7"}'), {"id": "<id>"}),
        (result("", structuredContent={"a": 1, "b": 2}), {"a": 1}),
        (result("[1, 2]"), [1, 2]),
    ],
)
def test_a_text_or_a_value_is_expected_with_placeholders(got: Result, expected: Any):
    assert assertion(got, expected) == ""


def test_each_difference_is_named_with_both_values():
    got = result("", structuredContent={"count": 2})
    assert assertion(got, {"count": 1}) == "result.count\n  - expected 1\n  + got      2"


def test_a_text_and_a_value_can_be_expected_together():
    got = result("two", structuredContent={"count": 2})
    assert assertion(got, "two", structured={"count": 2}) == ""
    assert assertion(got, structured={"count": 3}).startswith("result.count")


def test_an_error_must_be_expected():
    got = result("no such place", isError=True)
    assert "the call failed" in assertion(got)
    assert assertion(got, "no such <text>", error=True) == ""
    assert "did not fail" in assertion(result("fine"), error=True)


def test_a_finding_must_be_accepted():
    finding = Finding(0, "structured-content", Severity.ERROR, "x")
    got = Result(Response(RequestKind.TOOL, {"content": []}, findings=[finding]))
    assert assertion(got).startswith("finding structured-content")
    assert assertion(got, findings=["structured-content"]) == ""


def test_a_result_has_its_value_by_path():
    got = result("", structuredContent={"items": [{"id": 7}]})
    assert got.value("$.items[0].id") == 7
    assert got.data == {"items": [{"id": 7}]} and not got.is_error
    with pytest.raises(LookupError):
        got.value("$.none")


def test_a_misspelled_placeholder_is_named():
    assert "note: “<nubmer>” is literal text, did you mean <number>?" in assertion(result("7"), "<nubmer>")


def test_anything_else_is_not_a_result():
    with pytest.raises(TypeError, match="mcp_server"):
        assertion("text", "text")  # type: ignore[arg-type]


def test_assert_result_without_an_expectation_does_not_compare_the_value():
    got = result(content=[{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}])
    assert_result(got, content=[{"type": "image", "size": 5}])
    assert_result(got)
    with pytest.raises(AssertionError, match="result"):
        assert_result(got, None)


def test_a_server_that_contradicts_itself_is_refused(tmp_path: Path, engine: Engine):
    start = Servers(engine, tmp_path).start
    for given, said in (
        ({"name": "weather"}, "combined with a command"),
        ({"era": "medieval"}, "^era: must be"),
        ({"timeout": "soon"}, "is not a duration"),
        ({"env": {"A": "${NOT_SET_X}"}}, "^env.A: the environment variable NOT_SET_X is not set"),
    ):
        with pytest.raises((ValueError, ConfigError), match=said):
            start("python server.py", **given)
    for command in ("shop.mcp.toml", ""):
        with pytest.raises(ValueError, match="a test file cannot be combined"):
            start(command, env={"A": "b"})


def test_a_timeout_of_a_server_is_a_duration(tmp_path: Path):
    with pytest.raises(ValueError, match="“soon” is not a duration"):
        Servers(None, tmp_path).start("python x.py", timeout="soon")  # type: ignore[arg-type]
