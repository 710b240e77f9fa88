"""Servers that leave the configuration, or are replaced in it, while a turn is at them: the turn goes on."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import until
from tests.endpoint import Endpoint, calls, says
from tests.ui.app_stage import send
from tests.ui.real_stage import RealApp, real_app
from tui.core.permission.approval_policy import Mode
from tui.runtime.options import Options

SERVER = Path(__file__).parents[1] / "protocol" / "leaving_server.py"
HOW = pytest.mark.parametrize("how", ["removed", "edited"])
ERA = pytest.mark.parametrize("era", ["legacy", "modern"])


def server(era: str, **env: str) -> str:
    values = ", ".join(f'{name} = "{value}"' for name, value in {"ERA": era, **env}.items())
    return f'[servers.srv]\ncommand = "{sys.executable}"\nargs = ["{SERVER}"]\nenv = {{{values}}}\n'


class Stage:
    """The app, and the configuration of the model without the server."""

    def __init__(self, app: RealApp, endpoint: Endpoint, model: str, era: str) -> None:
        self.app = app
        self.endpoint = endpoint
        self._model = model
        self._era = era

    async def leaves(self, how: str) -> None:
        """Edit the file, and reload it as the key does."""
        self.app.write(self._model + (server(self._era, EDITED="1") if how == "edited" else ""))
        await self.app.runtime.configuration.reload()

    async def told(self) -> str:
        """Wait for the end of the turn; return the result that the model got."""
        await self.app.shows("All done.")
        results = [one for one in self.endpoint.requests[-1].json["messages"] if one["role"] == "tool"]
        return str(results[-1]["content"])


@asynccontextmanager
async def calling(home: Path, tool: str, era: str, mode: Mode = Mode.ALL) -> AsyncIterator[Stage]:
    """Open the app, and have the model call a tool."""
    async with Endpoint([calls((f"srv__{tool}", {})), says("All done.")]) as endpoint:
        model = (
            f'default_model = "m"\n[models.m]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
            'api_key = "none"\n'
        )
        config = model + server(era)
        async with real_app(home, config, options=Options(mode=mode)) as app:
            await app.has_state("srv", "RUNNING")
            await send(app.pilot, "go")
            yield Stage(app, endpoint, model, era)


@ERA
@HOW
async def test_a_turn_goes_on_when_the_server_of_its_call_leaves(
    separate_home: Path, how: str, era: str
) -> None:
    async with calling(separate_home, "wait", era) as stage:
        turns = stage.app.app.main.parts.turns
        await until(lambda: turns._turn is not None and turns._turn.calls and turns._turn.calls.running)
        await stage.leaves(how)
        told = await stage.told()
        assert "The server “srv” was stopped during the call" in told or "“srv” is not running" in told


@HOW
async def test_the_approval_of_a_call_is_withdrawn_when_its_server_leaves(
    separate_home: Path, how: str
) -> None:
    async with calling(separate_home, "wait", "legacy", Mode.ASK) as stage:
        approvals = stage.app.app.main.parts.approvals
        await until(lambda: approvals.first)
        while approvals.current is None:  # the question whether to trust the server
            await stage.app.press("escape")
            await until(lambda: approvals.first)
        await stage.leaves(how)
        await until(lambda: not approvals.first)
        assert "the server “srv” was removed or changed" in await stage.told()


@ERA
@HOW
async def test_the_form_of_a_server_closes_when_it_leaves(separate_home: Path, how: str, era: str) -> None:
    async with calling(separate_home, "ask", era) as stage:
        await stage.app.shows("Your name?")
        await stage.leaves(how)
        assert "was stopped during the call" in await stage.told()
        await until(lambda: "Your name?" not in stage.app.text)
