"""Choices about a server while it runs, and where they are saved."""

import json
import sys
import tomllib
from contextlib import asynccontextmanager

from tests.unit.host.test_workbench import ODD
from tests.unit.runtime.stage import configuration_of
from tui.core.ports import MonotonicClock
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.host import Host
from tui.runtime.server_changes import ServerChoices

TABLE = {"command": sys.executable, "args": [str(ODD)]}
TEXT = f'# mine\n[servers."a.b"]\ncommand = "{sys.executable}"  # this\nargs = ["{ODD}"]\n'
NONE = ServerSpec("a.b", sys.executable, (str(ODD),))


@asynccontextmanager
async def choices_over(path, text=TEXT):
    if text:
        path.write_text(text)
    configuration = configuration_of(path, lambda: host)
    specs = configuration.adopt(configuration.file.read(), configuration.file.stamp())
    host = Host(specs if text else [NONE], sink=lambda *_: None, clock=MonotonicClock())
    try:
        await host.start_all()
        yield ServerChoices(configuration, lambda: host), host
    finally:
        await host.shutdown()


async def test_a_disabled_tool_is_disabled_at_once_and_in_the_file(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        assert await choices.toggle_tool("a.b", "t") == ""
        assert host.toolbox.tools() == []
        assert tomllib.loads(path.read_text())["servers"]["a.b"] == TABLE | {"off": ["t"]}
        assert "# mine" in path.read_text() and "# this" in path.read_text()
        assert await choices.toggle_tool("a.b", "t") == ""
        assert len(host.toolbox.tools()) == 1
        assert tomllib.loads(path.read_text())["servers"]["a.b"]["off"] == []


async def test_all_tools_of_a_server_are_disabled_and_enabled_together(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        await choices.toggle_all("a.b")
        assert host.status("a.b").spec.off == ("*",)
        await choices.toggle_all("a.b")
        assert host.status("a.b").spec.off == ()


async def test_a_server_that_is_in_no_file_is_changed_for_this_run_only(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path, "") as (choices, host):
        assert "until mcptui quits" in await choices.toggle_tool("a.b", "t")
        assert host.toolbox.tools() == [] and not path.exists()


async def test_the_file_of_another_program_is_not_changed_and_this_is_reported(tmp_path):
    path = tmp_path / "mcp.json"
    text = json.dumps({"mcpServers": {"a.b": TABLE}})
    async with choices_over(path, text) as (choices, host):
        problem = await choices.toggle_tool("a.b", "t")
        assert problem.startswith("Not saved:") and problem.endswith("The change lasts until mcptui quits.")
        assert host.toolbox.tools() == [] and path.read_text() == text


async def test_instructions_and_log_level_are_saved(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        assert await choices.toggle_instructions("a.b") == ""
        assert await choices.set_log_level("a.b", "error") == ""
        assert await choices.toggle_resources("a.b") == ""
        spec = host.status("a.b").spec
        assert (spec.instructions, spec.log_level, spec.offer_resources) == (True, "error", True)
        kept = tomllib.loads(path.read_text())["servers"]["a.b"]
        assert kept == TABLE | {
            "instructions": True,
            "log_level": "error",
            "offer_resources": True,
        }
        await choices.toggle_instructions("a.b")
        assert tomllib.loads(path.read_text())["servers"]["a.b"]["instructions"] is False


async def test_roots_are_absolute_and_applied_at_once_and_saved(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        assert await choices.set_roots("a.b", [f"{tmp_path}/x/.."]) == ""
        assert host.status("a.b").spec.roots == (str(tmp_path),)
        assert tomllib.loads(path.read_text())["servers"]["a.b"]["roots"] == [str(tmp_path)]


async def test_the_sampling_permission_of_a_server_is_saved(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        assert await choices.set_sampling("a.b", SamplingRule.ASK) == ""
        assert host.status("a.b").spec.sampling is SamplingRule.ASK
        assert tomllib.loads(path.read_text())["servers"]["a.b"]["sampling"] == "ask"


async def test_a_server_that_was_removed_is_not_changed_and_this_is_reported(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        await host.remove("a.b")
        problems = {
            await choices.toggle_tool("a.b", "t"),
            await choices.toggle_all("a.b"),
            await choices.toggle_instructions("a.b"),
            await choices.toggle_resources("a.b"),
            await choices.set_log_level("a.b", "debug"),
            await choices.set_roots("a.b", [str(tmp_path)]),
            await choices.set_sampling("a.b", SamplingRule.ASK),
        }
        assert problems == {"The server “a.b” is no longer configured."}
        assert path.read_text() == TEXT


async def test_a_server_that_left_the_file_gets_no_table_with_this_value_alone(tmp_path):
    path = tmp_path / "config.toml"
    async with choices_over(path) as (choices, host):
        path.write_text('[servers.other]\ncommand = "x"\n')
        problem = await choices.set_log_level("a.b", "debug")
        assert problem.startswith("Not saved:") and "not found" in problem
        assert host.status("a.b").spec.log_level == "debug"
        assert path.read_text() == '[servers.other]\ncommand = "x"\n'
