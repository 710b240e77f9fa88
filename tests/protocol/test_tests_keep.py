"""`mcptui keep`: from `mcptui call` over a kept call to a green `mcptui test`."""

import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import server
from tests.protocol.command import Done, doubtful, mcptui

SERVER = Path(__file__).with_name("keeping_server.py")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a project with a server in a folder below."""
    folder = tmp_path / "weather"
    (folder / "src").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    shutil.copy(SERVER, folder / "src" / "weather.py")
    monkeypatch.chdir(folder)
    return folder


async def call(*words: str) -> Done:
    """Run `mcptui call` and the like with the server of the project."""
    return await mcptui(*words, "--", sys.executable, "src/weather.py")


def suites(project: Path) -> list[Path]:
    return [*project.rglob("*.mcp.toml")]


def suite(project: Path) -> dict[str, Any]:
    (path,) = suites(project)
    assert path.parent == project
    return tomllib.loads(path.read_text("utf-8"))


async def test_a_kept_call_is_compared_with_two_more_calls_and_passes(project: Path):
    await call("call", "get_weather", "location=Hangzhou")
    kept = await mcptui("keep", "--yes")
    assert kept.code == 0, kept.err
    assert kept.out.endswith("Kept in weather.mcp.toml. Run it with: mcptui test weather.mcp.toml\n")
    assert "text: " in kept.out and "→ <number> (differs in " in kept.out
    (case,) = suite(project)["call"]
    assert case == {
        "name": "get_weather Hangzhou",
        "tool": "get_weather",
        "args": {"location": "Hangzhou"},
        "text": "Weather in Hangzhou: light rain, <number> °C.",
        "within": case["within"],
    }
    assert suite(project)["server"] == {"command": [sys.executable, "src/weather.py"]}
    tested = await mcptui("test")  # keeping was consent
    assert tested.code == 0 and "1 passed" in tested.out, tested.out + tested.err


async def test_a_tool_that_may_change_something_is_not_called_again_but_compared_with_earlier_calls(
    project: Path,
):
    await call("call", "create_order", "sku=A1")
    await call("call", "create_order", "sku=A1")
    kept = await mcptui("keep", "--yes", "--name", "an order", "-o", "orders.mcp.toml")
    assert kept.code == 0 and "starting" not in kept.err, kept.err
    (case,) = suite(project)["call"]
    assert case["name"] == "an order" and "text" not in case
    assert (
        case["result"].split()
        == '{ "id": "<id>", "createdAt": "<time>", "sku": "A1", "state": "open" }'.split()
    )


async def test_errors_reads_prompts_and_lists_are_kept_in_one_file_and_pass(project: Path):
    await call("call", "fail", "why=too late")
    assert (await mcptui("keep")).code == 0
    await call("read", "note://today")
    assert (await mcptui("keep")).code == 0
    await call("prompt", "ask", "topic=rain")
    assert (await mcptui("keep")).code == 0
    await call("list", "prompts")
    assert (await mcptui("keep")).code == 0
    failed, read, prompt, listed = suite(project)["call"]
    assert (listed["list"], listed["result"]) == ("prompts", '{ "prompts": [{ "name": "ask" }] }')
    assert (failed["error"], failed["text"]) == (True, "No: too late")
    assert (read["read"], read["text"]) == ("note://today", "Buy milk")
    assert (prompt["prompt"], prompt["args"], prompt["text"]) == (
        "ask",
        {"topic": "rain"},
        "Tell me about rain.",
    )
    tested = await mcptui("test")
    assert tested.code == 0 and "4 passed" in tested.out, tested.out + tested.err


async def test_a_call_with_equal_results_is_called_again_and_kept_once(project: Path):
    await call("call", "fail", "why=closed")
    await call("call", "fail", "why=closed")
    kept = await mcptui("keep", "--yes")
    assert "Compared with 2 other results: nothing differs." in kept.out and "starting" in kept.err
    again = await mcptui("keep", "--yes")
    assert (again.code, len(suite(project)["call"])) == (0, 1)
    assert again.out.endswith("Already kept in weather.mcp.toml: fail closed\n")


async def test_what_the_user_answered_is_kept_and_answered_again(project: Path):
    (project / "answer.json").write_text('{"name": "Ada"}')
    await call("call", "greet", "--elicit", "@answer.json")
    kept = await mcptui("keep", "--yes")
    assert "asked for input" in kept.out
    (case,) = suite(project)["call"]
    assert (case["answers"], case["text"]) == ({"form": {"name": "Ada"}}, "Hello Ada")
    tested = await mcptui("test")
    assert tested.code == 0, tested.out + tested.err


async def test_a_configured_server_of_the_project_is_written_as_its_command_and_another_one_is_named(
    project: Path, separate_home: Path
):
    config = separate_home / "config" / "mcptui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(server("sky", project / "src" / "weather.py") + server("elsewhere", SERVER))
    await mcptui("call", "sky", "fail", "why=closed")
    kept = await mcptui("keep")
    assert kept.code == 0, kept.err
    assert suite(project)["server"] == {"command": [sys.executable, "src/weather.py"]}
    assert (await mcptui("test")).code == 0
    await mcptui("call", "elsewhere", "fail", "why=closed")
    kept = await mcptui("keep", "-o", "elsewhere.mcp.toml")
    assert kept.code == 0, kept.err
    named = project / "elsewhere.mcp.toml"
    assert tomllib.loads(named.read_text())["server"] == "elsewhere"
    config.unlink()
    tested = await mcptui("test", "elsewhere.mcp.toml", "--trust-config")
    assert tested.code == 2 and 'Write [server] command = ["…"] into the file' in tested.out, tested.out


async def test_a_secret_in_the_arguments_is_refused(project: Path):
    await call("call", "login", "password=hunter2-hunter2")
    kept = await mcptui("keep")
    assert kept.code == 2 and "contains a secret (" in kept.err
    assert not suites(project)


async def test_a_call_of_a_recording_from_elsewhere_is_kept_without_running_or_trusting_its_server(
    project: Path, separate_home: Path
):
    await call("call", "get_weather", "location=NYC")
    (recording,) = (separate_home / "state" / "mcptui" / "recordings").glob("*.mcptrace")
    recording.rename(project / "from-a-friend.mcptrace")
    await call("call", "get_weather", "location=NYC")
    kept = await mcptui("keep", "from-a-friend.mcptrace", "--yes")
    assert kept.code == 0 and "starting" not in kept.err, kept.err
    assert "Compared with 1 other result: 1 part differs." in kept.out
    tested = await mcptui("test")
    assert tested.code == 2 and "need your consent" in tested.err


async def test_a_foreign_configuration_that_records_nothing_has_no_effect_and_that_is_said(project: Path):
    (project / "theirs.toml").write_text("[traffic]\nrecord = false\n")
    await call("call", "fail", "why=closed")
    kept = await doubtful("keep", "--config", "theirs.toml")
    assert kept.code == 0 and "record = false of this configuration has no effect" in kept.out, kept.err


async def test_a_call_that_is_kept_again_after_a_change_of_the_server_expects_the_new_result(project: Path):
    script = project / "src" / "weather.py"
    await call("call", "fail", "why=closed")
    await mcptui("keep", "--yes")
    script.write_text(script.read_text().replace('f"No: {', 'f"Sorry: {'))
    await call("call", "fail", "why=closed")
    kept = await mcptui("keep", "--yes")
    assert "Compared with 2 other results: nothing differs." in kept.out
    (case,) = suite(project)["call"]
    assert case["text"] == "Sorry: closed"


async def test_a_call_from_before_a_change_of_the_server_is_not_compared_with_later_ones(project: Path):
    await call("call", "fail", "why=closed")
    script = project / "src" / "weather.py"
    script.write_text(script.read_text().replace('f"No: {', 'f"Sorry: {'))
    kept = await mcptui("keep", "--yes")
    assert "weather.py has changed since this call." in kept.out and "starting" not in kept.err
    (case,) = suite(project)["call"]
    assert case["text"] == "No: closed"
