"""The server of a suite: its folder, variables and name, and what consent to it covers."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.launch import (
    for_cases,
    has_consent,
    name_of,
    place_of,
    record_consent,
    require_consents,
    suite_server,
)
from tui.addons.tests.suite.case import Case, Request, RequestKind, Suite, SuiteServer, TurnCase
from tui.addons.tests.suite.read import suite_of
from tui.core.errors import ConfigError, UsageError
from tui.core.permission.consent import question_of
from tui.core.servers import EraChoice, SamplingRule, ServerSpec, Transport
from tui.host.server.server_start import start_seconds
from tui.runtime.permission.consent import RunConsent
from tui.runtime.permission.subjects import launch_of
from tui.settings.state.permission.stored_decisions import StoredDecisions

PROD = ServerSpec("prod", sys.executable, ("-m", "prod"))


def suite(folder: Path, file: str = "weather.mcp.toml", **server: object) -> Suite:
    return Suite(folder / file, SuiteServer(**server))  # type: ignore[arg-type]


def spec(found: Suite, **configured: ServerSpec) -> ServerSpec:
    return suite_server(found, configured).spec


def test_a_command_starts_in_the_folder_of_the_file(tmp_path: Path):
    found = spec(suite(tmp_path, command=("python", "server.py")))
    assert (found.command, found.args, found.cwd) == ("python", ("server.py",), str(tmp_path))
    assert spec(suite(tmp_path, command=("python",), cwd="src")).cwd == str(tmp_path / "src")


def test_the_server_has_the_name_of_the_file(tmp_path: Path):
    assert spec(suite(tmp_path, "my weather.mcp.toml", command=("x",))).name == "my-weather"
    assert name_of(Path("%%%.mcp.toml")) == "server"


@pytest.mark.parametrize(
    ("command", "ms", "seconds"),
    [("x", None, 60), ("x", 1000, 20), ("x", 90_000, 90), ("npx", 1000, 180)],
)
def test_the_timeout_of_a_file_also_limits_the_start(
    tmp_path: Path, command: str, ms: float | None, seconds: float
):
    found = suite(tmp_path, command=(command,), timeout_ms=ms)
    used = for_cases(spec(found), found, name="x")
    assert start_seconds(used) == seconds
    assert place_of(found, used) == f"{found.path}:1"
    assert place_of(found, PROD) == ""


def test_variables_are_filled_in_where_they_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("API_KEY", "s3cr3t-value-1")
    server = suite_server(suite(tmp_path, command=("x", "${API_KEY}"), env={"KEY": "${API_KEY}"}), {})
    assert server.spec.env == {"KEY": "s3cr3t-value-1"}
    assert server.spec.args == ("${API_KEY}",)
    assert "s3cr3t-value-1" in server.secrets.values()
    remote = spec(suite(tmp_path, url="https://h/${API_KEY}", headers={"X": "a ${API_KEY}"}))
    assert (remote.url, remote.headers) == ("https://h/s3cr3t-value-1", {"X": "a s3cr3t-value-1"})


def test_a_variable_that_is_not_set_is_named_with_its_line(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"weather.mcp.toml:1: .*NOT_SET_ANYWHERE"):
        spec(suite(tmp_path, command=("x",), env={"KEY": "${NOT_SET_ANYWHERE}"}))


def test_a_variable_that_is_not_set_has_the_line_of_its_key(tmp_path: Path):
    text = '[server]\ncommand = ["x"]\n[server.env]\nA = "1"\nY = "${NOT_SET_ANYWHERE}"\n'
    with pytest.raises(ConfigError, match=r"x.mcp.toml:5: env.Y: .*\. Set it, or write"):
        spec(suite_of(text, tmp_path / "x.mcp.toml"))


def test_transport_and_era_are_those_of_the_file(tmp_path: Path):
    found = spec(suite(tmp_path, url="https://h/mcp", transport="sse", era="modern"))
    assert (found.transport, found.era) == (Transport.SSE, EraChoice.MODERN)


def test_a_file_without_a_server_says_what_to_add(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"names no server.*\[server\].*-- COMMAND"):
        spec(Suite(tmp_path / "x.mcp.toml"))


def test_an_unknown_configured_server_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match="“prd” is not configured, did you mean “prod”"):
        spec(suite(tmp_path, name="prd"), prod=PROD)


def test_cases_decide_about_era_and_sampling(tmp_path: Path):
    asking = Case("a", 1, Request(RequestKind.TOOL, "x"), answers={"sampling": "yes"})
    found = replace(suite(tmp_path, command=("x",)), cases=(asking,))
    run = for_cases(spec(found), found, name="weather-2", era="legacy")
    assert (run.name, run.era, run.sampling) == ("weather-2", EraChoice.LEGACY, SamplingRule.ASK)
    assert run.process_of == spec(found).name != run.name
    assert for_cases(spec(found), suite(tmp_path), name="weather").sampling is SamplingRule.NEVER


# ---- consent -----------------------------------------------------------------------------------------------


def digest(found: Suite, **configured: ServerSpec) -> str:
    return launch_of(spec(found, **configured)).digest()


def test_a_server_of_a_file_needs_consent(tmp_path: Path):
    assert spec(suite(tmp_path, command=("x",))).source == f"the test file {tmp_path / 'weather.mcp.toml'}"
    assert spec(suite(tmp_path, name="prod"), prod=PROD).source


def test_consent_to_a_command_is_for_its_folder(tmp_path: Path):
    (tmp_path / "other").mkdir()
    one = digest(suite(tmp_path, "a.mcp.toml", command=("x",)))
    assert one == digest(suite(tmp_path, "b.mcp.toml", command=("x",)))
    assert one != digest(suite(tmp_path / "other", "a.mcp.toml", command=("x",)))
    assert one != digest(suite(tmp_path, "a.mcp.toml", command=("x", "y")))


@pytest.mark.parametrize("server", [{"url": "https://h/mcp"}, {"name": "prod"}], ids=["url", "configured"])
def test_consent_to_what_has_no_folder_is_for_the_file(tmp_path: Path, server: dict[str, str]):
    one = digest(suite(tmp_path, "a.mcp.toml", **server), prod=PROD)
    assert one != digest(suite(tmp_path, "b.mcp.toml", **server), prod=PROD)
    assert one != launch_of(PROD).digest()


def calling(folder: Path, *tools: str, **more: object) -> Suite:
    cases = tuple(Case(tool, 1, Request(RequestKind.TOOL, tool)) for tool in tools)
    return replace(suite(folder, name="prod"), cases=cases, **more)  # type: ignore[arg-type]


def test_consent_to_a_configured_server_is_for_the_tools_that_the_file_calls(tmp_path: Path):
    prod = replace(PROD, cwd=str(tmp_path))
    one = digest(calling(tmp_path, "echo", "echo"), prod=prod)
    assert one == digest(calling(tmp_path, "echo"), prod=prod)
    echo, after = (Case(name, 1, Request(RequestKind.TOOL, name)) for name in ("echo", "z"))
    for other in (
        calling(tmp_path, "echo", "write"),
        replace(calling(tmp_path), cases=(replace(echo, then=(after,)),)),
        calling(tmp_path, "echo", turns=(TurnCase("Who?", 1),)),
    ):
        assert digest(other, prod=prod) != one
    asked = spec(calling(tmp_path, "write", "a, b", turns=(TurnCase("Who?", 1),)), prod=prod)
    facts = dict(question_of("prod", asked.source, launch_of(asked)).facts)
    assert facts["calls"] == '"a, b", write, any tool that a model chooses in turn cases'
    before = launch_of(spec(calling(tmp_path, "write"), prod=prod)).summary("")
    assert launch_of(spec(calling(tmp_path, "read"), prod=prod)).changes(before, "") == [
        "calls: was write, is now read"
    ]


def test_the_question_about_a_configured_server_says_that_a_file_wants_to_use_it(tmp_path: Path):
    asked = spec(suite(tmp_path, name="prod"), prod=PROD)

    def head(*changes: str) -> str:
        return question_of("prod", asked.source, launch_of(asked), changes).head

    assert head().startswith("is in your configuration. The test file ") and "wants to use it" in head()
    assert head("command: was a, is now b").startswith("in your configuration has changed since you agreed")
    assert "makes other calls than when you agreed" in head("calls: was write, is now read")


def test_without_a_terminal_all_that_would_run_is_in_one_error(tmp_path: Path):
    specs = [
        spec(suite(tmp_path, "a.mcp.toml", command=("rm", "-rf", "x"), env={"TOKEN": "abc"})),
        spec(suite(tmp_path, "b.mcp.toml", url="https://example.com/mcp")),
    ]
    consent = RunConsent(CaseAnswers(), StoredDecisions())
    with pytest.raises(UsageError) as error:
        require_consents(consent, specs)
    said = str(error.value)
    for words in (
        "rm -rf x",
        "TOKEN",
        "https://example.com/mcp",
        "--trust-config",
        "-- COMMAND",
        "a.mcp.toml",
    ):
        assert words in said
    assert "abc" not in said
    require_consents(RunConsent(CaseAnswers(), StoredDecisions(), trust=True), specs)


def test_files_that_start_the_same_share_its_description(tmp_path: Path):
    specs = [spec(suite(tmp_path, f"{name}.mcp.toml", command=("python", "x.py"))) for name in "ab"]
    with pytest.raises(UsageError) as error:
        require_consents(RunConsent(CaseAnswers(), StoredDecisions()), specs)
    assert str(error.value).count("python x.py") == 1
    assert "a.mcp.toml, the test file" in str(error.value)


def test_keeping_a_call_is_consent_to_exactly_its_server(tmp_path: Path):
    file = tmp_path / "weather.mcp.toml"
    file.write_text('[server]\ncommand = ["x", "y"]\n')
    assert record_consent(file, PROD) == ""
    consent = RunConsent(CaseAnswers(), StoredDecisions())
    assert consent.allows(spec(suite(tmp_path, command=("x", "y"))))
    assert not consent.allows(spec(suite(tmp_path, command=("x", "z"))))


def test_keeping_a_call_of_a_configured_server_is_consent_for_that_file(tmp_path: Path):
    file = tmp_path / "weather.mcp.toml"
    file.write_text('server = "prod"\n')
    assert record_consent(file, PROD) == ""
    consent = RunConsent(CaseAnswers(), StoredDecisions())
    assert consent.allows(spec(suite(tmp_path, name="prod"), prod=PROD))
    assert not consent.allows(spec(suite(tmp_path, "other.mcp.toml", name="prod"), prod=PROD))
    assert has_consent(suite(tmp_path, name="prod"), PROD)
    assert not has_consent(calling(tmp_path, "write"), PROD)
