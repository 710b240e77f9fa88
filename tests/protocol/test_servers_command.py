"""`mcptui servers` and `mcptui sessions`."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from tests.protocol.command import finish, mcptui, start
from tests.unit.storage.session_samples import ANSWER, QUESTION, saved
from tui.core.conversation.conversation import UserMessage
from tui.core.secrets.redact import Redactor
from tui.settings.locations import data_dir
from tui.storage.sessions.store import SessionStore


def mcp_json(folder: Path, servers: dict[str, object]) -> Path:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


async def test_all_sample_servers_run_and_list_what_they_offer():
    done = await mcptui("servers", "--json")
    found = {server["name"]: server for server in json.loads(done.out)}
    assert done.code == 0 and {server["status"] for server in found.values()} == {"RUNNING"}
    assert (found["notes"]["tools"], found["notes"]["resources"], found["notes"]["prompts"]) == (4, 1, 1)
    assert found["weather"]["protocol"] == "2026-07-28" and found["weather"]["start_ms"] > 0


async def test_a_failed_server_is_reported_with_code_and_last_line_and_exit_code_5(tmp_path: Path):
    broken = {
        "command": "python3",
        "args": ["-c", "import sys; print('no luck', file=sys.stderr); sys.exit(3)"],
    }
    path = mcp_json(tmp_path, {"broken": broken})
    done = await mcptui("servers", "--config", str(path))
    assert done.code == 5
    assert "broken" in done.out and "exited with code 3" in done.out and "no luck" in done.out


async def test_a_server_with_an_invalid_configuration_is_listed_as_failed(tmp_path: Path):
    servers = {
        "unset": {"command": "python3", "env": {"TOKEN": "${NO_SUCH_TOKEN}"}},
        "typed": {"command": 5},
        "off": {"command": 5, "disabled": True},
    }
    path = mcp_json(tmp_path, servers)
    done = await mcptui("servers", "--json", "--config", str(path))
    found = {server["name"]: server for server in json.loads(done.out)}
    assert (done.code, set(found)) == (5, {"unset", "typed"})
    assert found["unset"]["reason"] == "failed to start"
    assert "the environment variable NO_SUCH_TOKEN is not set" in found["unset"]["detail"]
    assert "must be a string, not a number" in found["typed"]["detail"]
    shown = await mcptui("servers", "--config", str(path))
    assert shown.code == 5 and "✗ unset" in shown.out and "NO_SUCH_TOKEN is not set" in shown.out


async def test_without_servers_the_output_says_how_to_begin(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers]\n")
    done = await mcptui("servers", "--config", str(path))
    assert (done.code, "mcptui config init" in done.out) == (0, True)


async def test_a_server_that_hangs_does_not_hold_back_the_lines_of_others(tmp_path: Path):
    server = str(Path(__file__).parents[2] / "sample_config" / "servers" / "notes.py")
    servers = {
        "hanging": {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]},
        "quick": {"command": sys.executable, "args": [server]},
        "broken": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
        "typed": {"command": 5},
    }
    path = mcp_json(tmp_path, servers)
    process = await start("servers", "--config", str(path), piped=False)
    try:
        async with asyncio.timeout(25):
            marked: set[str] = set()
            while len(marked) < 3:
                line = (await process.stdout.readline()).decode()
                assert line, "ended before the lines of the other servers"
                if line[0] != " ":
                    marked.add(" ".join(line.split()[:2]))
        assert marked == {"● quick", "✗ broken", "✗ typed"}
        process.send_signal(signal.SIGINT)
        done = await finish(process)
        assert done.code == 130 and "hanging" not in done.out
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_json_is_in_the_order_of_the_configuration(tmp_path: Path):
    leaves_late = "import sys; sys.stdin.readline(); sys.exit(3)"
    servers = {
        "late": {"command": sys.executable, "args": ["-c", leaves_late]},
        "missing": {"command": "/no/such/program"},
    }
    path = mcp_json(tmp_path, servers)
    done = await mcptui("servers", "--json", "--config", str(path))
    assert [server["name"] for server in json.loads(done.out)] == ["late", "missing"]


async def test_disabled_servers_are_not_said_to_be_missing(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[servers.off]\ncommand = "python3"\ndisabled = true\n')
    done = await mcptui("servers", "--config", str(path))
    assert done.code == 0 and "All servers are disabled: off." in done.out
    assert "No servers are configured" not in done.out


OTHER = UserMessage("北京天气如何？")


@pytest.fixture
async def ids() -> list[str]:
    """Save two conversations. The second one is the last."""
    store = SessionStore(data_dir() / "sessions", lambda: Redactor())
    return [await saved(store, QUESTION, ANSWER), await saved(store, OTHER)]


async def test_an_empty_list_of_sessions_says_so():
    done = await mcptui("sessions")
    assert (done.code, done.out) == (0, "no sessions yet\n")


async def test_sessions_are_listed_newest_first(ids: list[str]):
    lines = (await mcptui("sessions", "list")).out.splitlines()
    assert [line.split()[0] for line in lines] == ["id", *reversed(ids)]
    assert lines[2].endswith(QUESTION.text)
    assert (await mcptui("sessions", "list", "weather")).out.splitlines()[1:] == lines[2:]
    objects = (await mcptui("sessions", "--json")).objects
    assert [(one["id"], one["turns"], one["messages"]) for one in objects] == [(ids[1], 1, 1), (ids[0], 1, 2)]


async def test_sessions_are_found_by_their_messages(ids: list[str]):
    (found,) = (await mcptui("sessions", "search", "SUNNY", "--json")).objects
    assert found == {"id": ids[0], "title": QUESTION.text, "message": 1, "excerpt": "It is sunny."}
    assert "北京" in (await mcptui("sessions", "search", "天气")).out
    assert (await mcptui("sessions", "search", "nothing like it")).out == "no matches\n"


async def test_an_unknown_or_ambiguous_name_is_an_error(ids: list[str]):
    for name, why in (("nope", "session not found"), ("2", "2 sessions match")):
        done = await mcptui("sessions", "show", name)
        assert (done.code, done.out) == (2, "") and why in done.err


async def test_a_session_is_renamed(ids: list[str]):
    assert (await mcptui("sessions", "rename", ids[0], "Weather")).code == 0
    assert (await mcptui("sessions", "show", "weather")).out.startswith("# Weather\n")
    assert (await mcptui("sessions", "rename", ids[0], "  ")).code == 2


async def test_a_deleted_session_can_be_restored(ids: list[str]):
    done = await mcptui("sessions", "delete", ids[0], "last")
    assert done.code == 0 and f"mcptui sessions restore {ids[0]}" in done.out
    assert (await mcptui("sessions", "--json")).objects == []
    deleted = (await mcptui("sessions", "list", "--deleted", "--json")).objects
    assert {one["id"] for one in deleted} == set(ids)
    assert (await mcptui("sessions", "restore", ids[0])).code == 0
    assert [one["id"] for one in (await mcptui("sessions", "--json")).objects] == [ids[0]]
    assert "list --deleted" in (await mcptui("sessions", "restore", ids[0])).err


async def test_an_export_can_be_imported_again(ids: list[str], tmp_path: Path):
    file = tmp_path / "talk.json"
    assert (await mcptui("sessions", "export", ids[0], "--output", str(file))).code == 0
    refused = await mcptui("sessions", "export", ids[0], "--json")
    assert refused.code == 2 and "To print the session as JSON: --as json." in refused.err
    (taken,) = (await mcptui("sessions", "import", str(file), "--json")).objects
    assert taken["id"] not in ids and taken["title"] == QUESTION.text
    again = (await mcptui("sessions", "show", taken["id"])).out
    assert again == (await mcptui("sessions", "show", ids[0])).out
    assert json.loads((await mcptui("sessions", "show", ids[0], "--json")).out)["id"] == ids[0]


async def test_the_suffix_of_the_file_selects_the_format(ids: list[str], tmp_path: Path):
    for name, begins in (("a.html", "<!doctype html>"), ("a.md", "# "), ("a.json", "{"), ("a", "# ")):
        await mcptui("sessions", "export", ids[0], "-o", str(tmp_path / name))
        assert (tmp_path / name).read_text().startswith(begins)
    assert (await mcptui("sessions", "export", ids[0], "--as", "html")).out.startswith("<!doctype html>")


async def test_configured_secrets_are_redacted_in_an_export(ids: list[str], tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text('[servers.w]\ncommand = "w"\nenv = { TOKEN = "It is sunny." }\n')
    config.chmod(0o600)
    done = await mcptui("sessions", "export", ids[0], "--config", str(config))
    assert "sunny" not in done.out and "redacted" in done.out


async def test_a_file_that_is_not_an_export_is_refused_with_a_reason(tmp_path: Path):
    file = tmp_path / "x.json"
    file.write_text('{"format": "mcptui-session", "version": 1, "messages": [{"role": "boss"}]}')
    done = await mcptui("sessions", "import", str(file))
    assert done.code == 2
    assert 'messages[0]: "role" is "boss"' in done.err and "Traceback" not in done.err


async def test_an_export_reports_its_content_and_redact_leaves_only_shapes(ids: list[str], tmp_path: Path):
    file = tmp_path / "talk.json"
    done = await mcptui("sessions", "export", ids[0], "-o", str(file))
    assert f"wrote {file}: " in done.out and " messages" in done.out and "0 redacted values" in done.out
    assert "sunny" in file.read_text()
    for kind in ("json", "markdown", "html"):
        out = (await mcptui("sessions", "export", ids[0], "--as", kind, "--redact")).out
        assert "sunny" not in out and QUESTION.text not in out and "characters" in out
    await mcptui("sessions", "export", ids[0], "-o", str(file), "--redact")
    assert "sunny" not in file.read_text()
    assert (await mcptui("sessions", "import", str(file))).code == 0


DECLARING = Path(__file__).with_name("declaring_server.py")


def declaring(folder: Path) -> Path:
    """Write a configuration of servers that show their client in what they offer."""
    path = folder / "config.toml"
    one = f'command = "python"\nargs = ["{DECLARING}"]\n'
    acting = f'[servers.acting]\n{one}act_as = "vscode"\n'
    off = f'[servers.off]\n{one}extensions = {{ "io.modelcontextprotocol/tasks" = false }}\n'
    path.write_text(f"[servers.plain]\n{one}{acting}{off}")
    return path


async def test_extensions_of_each_server_are_reported_with_both_sides(tmp_path: Path, sdk_python: None):
    path = str(declaring(tmp_path))
    done = await mcptui("servers", "--extensions", "--json", "--config", path, "--trust-config")
    found = {one["name"]: one for one in json.loads(done.out)}
    tasks = {name: one["extensions"][0]["use"] for name, one in found.items() if one["extensions"]}
    assert done.code == 0 and tasks == {"plain": "in use", "off": "off"}
    assert (found["acting"]["era"], found["acting"]["acts_as"]["host"]) == ("legacy", "vscode")


async def test_what_a_server_offers_without_an_extension_is_shown(tmp_path: Path, sdk_python: None):
    path = str(declaring(tmp_path))
    done = await mcptui("servers", "plain", "--without", "tasks", "--config", path, "--trust-config")
    assert done.code == 0 and "without Tasks: 1 tool removed" in done.out and "acting" not in done.out


async def test_a_server_that_fails_is_in_the_report_of_extensions_too(tmp_path: Path, sdk_python: None):
    path = declaring(tmp_path)
    path.write_text(f'{path.read_text()}[servers.gone]\ncommand = "/nonexistent"\n')
    words = ("plain", "gone", "--extensions", "--json", "--config", str(path), "--trust-config")
    done = await mcptui("servers", *words)
    found = {one["name"]: one for one in json.loads(done.out)}
    assert done.code == 5 and "/nonexistent" in found["gone"]["detail"] and "extensions" in found["plain"]


async def test_servers_can_be_named_and_an_unknown_one_is_an_error(tmp_path: Path, sdk_python: None):
    path = str(declaring(tmp_path))
    done = await mcptui("servers", "acting", "--config", path, "--trust-config")
    assert done.code == 0 and "acts as vscode" in done.out and "plain" not in done.out
    missing = await mcptui("servers", "nowhere", "--config", path, "--trust-config")
    assert missing.code == 2 and "Configured servers: plain, acting, off" in missing.err
    unknown = await mcptui("servers", "--extensions", "--without", "x", "--config", path, "--trust-config")
    assert unknown.code == 2 and "unknown extension x" in unknown.err
