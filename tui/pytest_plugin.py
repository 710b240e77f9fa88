"""The pytest plugin: the cases of `*.mcp.toml` files as items, and a server for tests in Python.

pytest loads it in every run, so it loads nothing else until it sees such a file or a test asks for a server.
The work is done by the add-on `tests`. If that is not installed, each file is a warning.

    def test_weather(mcp_server):
        server = mcp_server("python server.py")
        result = server.call("get_weather", location="Hangzhou")
        assert_result(result, "Weather in Hangzhou: light rain, <number> °C.")
"""

from collections.abc import Callable, Generator
from pathlib import Path
from warnings import warn

import pytest

from tui.core.addons import brought, missing, not_installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDING = ".mcp.toml"
_COLLECT = "mcp_suites"
_ITEMS, _SERVERS, _ASSERTION = "pytest items", "pytest servers", "pytest assertion"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting that turns off the collection of test files."""
    parser.addini(
        _COLLECT, f"collect the cases of *{ENDING} files (default: true)", type="bool", default=True
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a test file of mcptui, None for any other file."""
    if not file_path.name.endswith(ENDING) or not parent.config.getini(_COLLECT):
        return None
    if missing("service", _ITEMS):
        said = not_installed("tests", file_path.name)
        warn(pytest.PytestWarning(f"{said}. Its cases are not run."), stacklevel=1)
        return None
    found: pytest.Collector = brought("service", _ITEMS).from_parent(parent, path=file_path)
    return found


@pytest.fixture(scope="module")
def mcp_server(request: pytest.FixtureRequest) -> "Generator[Callable[..., Any]]":
    """Start MCP servers: `mcp_server("python server.py")`. Each command runs once a module, and ends with it.

    `server.call("tool", name=value)`, `server.read("uri")`, `server.prompt("name")` and
    `server.list("tools")` return results for `assert_result`. A URL, `name=` of a configured server, and a
    *.mcp.toml file for its [server] work too, with `env`, `headers` and `cwd`.
    """
    with brought("service", _SERVERS)(request.config, request.path.parent) as start:
        yield start


def assert_result(result: "Any", expected: "Any" = ..., /, **more: "Any") -> None:
    """Assert that a result is as expected: a text, or a structured value.

    Placeholders stand for what varies: <text> <number> <time> <id> <any> <re:…>. Objects may have more
    members. `content=[…]` compares images, links and other items. `error=True` expects an error, and
    `findings=["code"]` accepts findings of the linter.
    """
    __tracebackhide__ = True
    if said := brought("service", _ASSERTION)(result, expected, **more):
        raise AssertionError(said)
