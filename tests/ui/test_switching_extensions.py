"""Turning an extension of a server on and off in its workbench, over the real host and file."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.ui.real_stage import real_app

PROTOCOL = Path(__file__).parents[1] / "protocol"
TABLE = server("decl", PROTOCOL / "declaring_server.py", trusted=True)
SWITCH = 'extensions = { "io.modelcontextprotocol/tasks" = false }'


async def test_a_switch_is_saved_and_shows_what_the_server_offers_differently(separate_home: Path):
    async with real_app(separate_home, TABLE) as app:
        await app.has_state("decl", "RUNNING")
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "with-tasks")
        await app.press("1")
        await app.shows("EXTENSIONS   V turns one on or off", "in use         Tasks")
        await app.press("V")
        await app.shows("TURN AN EXTENSION ON OR OFF", "Tasks   in use")
        await app.press("enter")
        await app.shows("WHAT THE SERVER OFFERS DIFFERENTLY WITHOUT TASKS", "tool with-tasks: removed")
        await app.press("escape")
        await app.shows("off            Tasks   declared by the server only")
        assert SWITCH in app.config.read_text()
        await app.press("V", "enter")
        await app.shows("WHAT THE SERVER OFFERS DIFFERENTLY WITH TASKS", "tool with-tasks: added")
        assert "extensions" not in app.config.read_text()


async def test_a_server_that_does_not_answer_cannot_keep_an_extension_on(
    separate_home: Path, monkeypatch: pytest.MonkeyPatch
):
    async def never(*asked: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr("tui.runtime.server_changes.BEFORE_SECONDS", 0.01)
    async with real_app(separate_home, TABLE) as app:
        await app.has_state("decl", "RUNNING")
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "with-tasks")
        monkeypatch.setattr("tui.runtime.server_offers._offer", never)
        await app.press("V", "enter")
        await app.shows("Asking “decl” what it offers…")
        await until(lambda: SWITCH in app.config.read_text(), what="the switch is saved")


async def test_a_server_that_is_shown_another_host_says_so_wherever_it_is_shown(separate_home: Path):
    async with real_app(separate_home, f'{TABLE}act_as = "claude-code"\n') as app:
        await app.has_state("decl", "RUNNING")
        await app.press("f3")
        await app.shows("as claude-code")
        await app.press("enter")
        await app.shows("WORKBENCH", "as claude-code")
        await app.press("1")
        await app.shows("ACTS AS", "Claude Code, as claude-code 2.1.260", "0 of 1 tool")
        await app.shows("not used       Tasks", "claude-code does not declare it")
