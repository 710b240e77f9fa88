"""The request of a case of a test file, to be copied."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tui.addons.tests.screens.case_copies import request_of
from tui.addons.tests.suite.case import Case, Request, RequestKind, Suite, SuiteServer
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerStatus
from tui.traffic.copies.ways import copied, ways

CALL = Case("rain", 3, Request(RequestKind.TOOL, "get_weather", {"location": "Oslo"}))


def request(server: SuiteServer | None, case: Case = CALL) -> Any:
    configured = ServerStatus("weather", ServerSpec("weather", "run", ("it",)))
    host = SimpleNamespace(find=lambda name: configured if name == "weather" else None)
    options = SimpleNamespace(config=None, trust_config=False)
    runtime = SimpleNamespace(host=host, redactor=Redactor(), options=options)
    return request_of(cast(Any, runtime), Suite(Path("a.mcp.toml"), server), case, [])


def test_the_server_of_the_file_is_reached_as_it_says() -> None:
    found = request(SuiteServer(command=("python", "s.py"), env={"A": "${A}"}))
    assert [*ways(found)] == ["mcptui", "python", "typescript"]
    assert copied("mcptui", found).text == (
        """mcptui call get_weather --args '{"location": "Oslo"}' --env 'A=${A}' -- python s.py"""
    )


def test_a_configured_server_is_reached_by_its_name_and_by_scripts() -> None:
    found = request(SuiteServer(name="weather"))
    assert copied("mcptui", found).text.startswith("mcptui call weather get_weather")
    assert "command='run'" in copied("python", found).text


def test_a_case_that_needs_a_saved_value_has_no_request_of_its_own() -> None:
    needing = Case("x", 1, Request(RequestKind.TOOL, "t", {"id": "${id}"}))
    assert request(SuiteServer(name="weather"), needing) is None
    assert request(None) is None
