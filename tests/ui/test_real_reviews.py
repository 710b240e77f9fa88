"""Changed definitions and stored sign-ins on screen, over the real runtime, host and configuration file."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import refusing_port, until
from tests.foreign import NUMBERS
from tests.ui.real_stage import RealApp, real_app
from tui.host.sign_in.token_store import StoredSignIn, TokenStore
from tui.settings.locations import state_dir

SERVER = Path(__file__).parents[1] / "protocol" / "redefined_server.py"


def tools(count: int, text: str) -> str:
    return json.dumps(
        [
            {"name": f"tool_{number:03}", "description": text, "inputSchema": {"type": "object"}}
            for number in range(count)
        ]
    )


async def later(app: RealApp, *shown: str) -> None:
    """Press esc on the question that shows some texts, once it takes keys."""
    await app.shows(*shown)
    while all(part in app.text for part in shown):
        await app.press("escape")


async def test_after_esc_on_the_first_hundred_changes_the_others_are_shown(separate_home: Path) -> None:
    listed = separate_home / "tools.json"
    listed.write_text(tools(130, "Before."))
    config = f'[servers.calc]\ncommand = "{sys.executable}"\nargs = ["{SERVER}", "{listed}"]\n'
    async with real_app(separate_home, config) as app:
        await app.has_state("calc", "RUNNING")
        listed.write_text(tools(130, "After."))
        app.runtime.host.workbench.relist("calc")
        await later(app, "100 of 130 changes")
        await later(app, "30 of 130 changes")
        assert len(app.runtime.host.definition_changes("calc")) == 130


def state(app: RealApp) -> str:
    status = app.runtime.host.find("far")
    return "" if status is None else status.sign_in


@pytest.mark.parametrize("value", NUMBERS, ids=lambda value: repr(value)[:20])
async def test_the_app_starts_and_signs_out_whatever_a_stored_sign_in_says_of_its_end(
    separate_home: Path, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refusing_port() as port:
        url = f"http://127.0.0.1:{port}/mcp"
        store = TokenStore(state_dir() / "sign-in", use_keychain=False)
        tokens = {"access_token": "a-token", "token_type": "Bearer"}
        await store.save(StoredSignIn("far", url, "http://127.0.0.1", tokens=tokens, expires_at=1.0))
        (file,) = (state_dir() / "sign-in").iterdir()
        file.write_text(json.dumps(json.loads(file.read_text()) | {"expires_at": value}))
        config = f'[servers.far]\nurl = "{url}"\nautostart = false\n'
        async with real_app(separate_home, config) as app:
            await until(lambda: state(app).startswith("sign"), 5, "the state of the sign-in")
            await app.press("f3", "enter")
            await app.runtime.host.sign_out("far")
            assert state(app) == "not signed in"
