"""Choices about a server while it runs, and where they are saved."""

import sys
import tomllib
from contextlib import asynccontextmanager

import pytest

from tests.unit.host.test_workbench import ODD
from tests.unit.runtime.stage import configuration_of
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.host import Host
from tui.host.server.host_context import HostContext
from tui.runtime.server_changes import ServerChanges

TABLE = {"command": sys.executable, "args": [str(ODD)]}
TEXT = f'# mine\n[servers."a.b"]\ncommand = "{sys.executable}"  # this\nargs = ["{ODD}"]\n'
NONE = ServerSpec("a.b", sys.executable, (str(ODD),))


@asynccontextmanager
async def changes_over(path, text=TEXT):
    if text:
        path.write_text(text)
    configuration = configuration_of(path)
    specs = configuration.adopt(configuration.file.read(), configuration.file.stamp())
    host = configuration.host = Host(specs if text else [NONE], HostContext(lambda *_: None))
    try:
        await host.start_all()
        yield ServerChanges(configuration, {}), host, configuration
    finally:
        await host.shutdown()


async def test_a_disabled_tool_is_disabled_at_once_and_in_the_file(tmp_path):
    path = tmp_path / "config.toml"
    async with changes_over(path) as (changes, host, _):
        assert await changes.toggle_tool("a.b", "t") == ""
        assert host.toolbox.tools() == []
        assert tomllib.loads(path.read_text())["servers"]["a.b"] == TABLE | {"off": ["t"]}
        assert "# mine" in path.read_text() and "# this" in path.read_text()
        assert await changes.toggle_tool("a.b", "t") == ""
        assert len(host.toolbox.tools()) == 1
        assert tomllib.loads(path.read_text())["servers"]["a.b"]["off"] == []


async def test_a_server_that_is_in_no_file_is_changed_for_this_run_only(tmp_path):
    path = tmp_path / "config.toml"
    async with changes_over(path, "") as (changes, host, _):
        assert "until mcptui quits" in await changes.toggle_tool("a.b", "t")
        assert host.toolbox.tools() == [] and not path.exists()


@pytest.mark.parametrize(
    ("field", "value", "saved"),
    [
        ("instructions", True, True),
        ("offer_resources", True, True),
        ("log_level", "error", "error"),
        ("roots", ("/var",), ["/var"]),
        ("sampling", SamplingRule.ASK, "ask"),
        ("off", ("*",), ["*"]),
    ],
)
async def test_a_setting_applies_at_once_and_is_saved(tmp_path, field, value, saved):
    path = tmp_path / "config.toml"
    async with changes_over(path) as (_, host, configuration):
        assert await configuration.choose("a.b", field, value) == ""
        assert getattr(host.status("a.b").spec, field) == value
        assert tomllib.loads(path.read_text())["servers"]["a.b"] == TABLE | {field: saved}


async def test_a_server_that_was_removed_is_not_changed_and_this_is_reported(tmp_path):
    path = tmp_path / "config.toml"
    async with changes_over(path) as (changes, host, configuration):
        await host.remove("a.b")
        problems = {
            await changes.toggle_tool("a.b", "t"),
            await configuration.choose("a.b", "log_level", "debug"),
        }
        assert problems == {"The server “a.b” is no longer configured."}
        assert path.read_text() == TEXT
