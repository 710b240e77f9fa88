"""Third-party servers from npm and PyPI, driven by a scripted endpoint over real HTTP."""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import mcptui
from tests.real.installed import EVERYTHING, FILES, TIME, needs

pytestmark = needs(EVERYTHING, FILES, TIME)


SERVERS = {"everything": EVERYTHING, "files": FILES, "time": TIME}


def configured(folder: Path, endpoint: Endpoint | None = None, servers: Iterable[str] = SERVERS) -> str:
    """Write a simple configuration: servers by their commands, and one model."""
    (folder / "hello.txt").write_text("hello from a file", encoding="utf-8")
    model = f'[models.scripted]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n' if endpoint else ""
    path = folder / "config.toml"
    tables = "".join(
        f"[servers.{name}]\ncommand = {json.dumps(str(SERVERS[name]))}\n"
        + (f"args = [{json.dumps(str(folder))}]\n" if name == "files" else "")
        for name in servers
    )
    path.write_text(model + tables, encoding="utf-8")
    return str(path)


async def test_each_server_uses_its_own_protocol_version_and_lists_everything(tmp_path: Path):
    done = await mcptui("servers", "--json", "--config", configured(tmp_path))
    found = {server["name"]: server for server in json.loads(done.out)}
    assert done.code == 0
    assert found["everything"]["protocol"] == "2025-11-25" and found["everything"]["tools"] >= 13
    assert found["everything"]["resources"] > 0 and found["everything"]["prompts"] > 0
    assert found["files"]["tools"] >= 14 and found["time"]["tools"] == 2
    assert not any(server["quarantined"] for server in found.values())


async def test_parallel_calls_to_three_servers_are_answered_in_call_order(tmp_path: Path):
    asked = calls(
        ("everything__echo", {"message": "marco"}),
        ("files__read_text_file", {"path": str(tmp_path / "hello.txt")}),
        ("time__get_current_time", {"timezone": "Europe/Berlin"}),
        ("everything__get-sum", {"a": 2, "b": 40}),
    )
    async with Endpoint([asked, says("Done.")]) as endpoint:
        path = configured(tmp_path, endpoint)
        done = await mcptui("run", "--json", "--approve", "all", "--config", path, "go")
        told = [message["content"] for message in endpoint.requests[1].json["messages"][-4:]]
    assert done.code == 0 and not any(result["is_error"] for result in done.of_type("tool_result"))
    for words, content in zip(("marco", "hello from a file", "Europe/Berlin", "42"), told, strict=True):
        assert words in content


async def test_a_long_call_reports_progress_and_returns_its_result(tmp_path: Path):
    asked = calls(("everything__trigger-long-running-operation", {"duration": 1, "steps": 4}))
    async with Endpoint([asked, says("Done.")]) as endpoint:
        path = configured(tmp_path, endpoint, ["everything"])
        done = await mcptui("run", "--approve", "all", "--config", path, "go")
    assert done.code == 0 and "4 of 4" in done.err


async def test_the_model_reads_an_error_for_a_path_outside_the_allowed_directory(tmp_path: Path):
    asked = calls(("files__read_text_file", {"path": "/etc/hostname"}))
    async with Endpoint([asked, says("I may not.")]) as endpoint:
        path = configured(tmp_path, endpoint, ["files"])
        done = await mcptui("run", "--json", "--trust", "files", "--config", path, "go")
        told = endpoint.requests[1].json["messages"][-1]["content"]
    assert done.of_type("tool_result")[0]["is_error"] and told.startswith("ERROR: ") and "denied" in told
