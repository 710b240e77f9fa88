"""Changed definitions and stored sign-ins on screen, over the real runtime, host and configuration file."""

import json
import sys
from pathlib import Path

from tests.conftest import refusing_port, until
from tests.foreign import NUMBERS
from tests.ui.real_stage import RealApp, real_app
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.host.sign_in.token_store import TokenStore
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
        assert app.runtime.host.status("calc").changes == 130


def state(app: RealApp, server: str) -> str:
    status = app.runtime.host.find(server)
    return "" if status is None else status.sign_in


async def test_the_app_starts_and_signs_out_whatever_a_stored_sign_in_says_of_its_end(
    separate_home: Path,
) -> None:
    with refusing_port() as port:
        url = f"http://127.0.0.1:{port}/mcp"
        folder = state_dir() / "sign-in"
        store = TokenStore(folder, use_keychain=False)
        tokens = {"access_token": "a-token", "token_type": "Bearer"}
        config = ""
        for number, value in enumerate(NUMBERS):
            stored = set(folder.iterdir()) if folder.exists() else set()
            name = f"far{number}"
            await store.save(StoredSignIn(name, url, "http://127.0.0.1", tokens=tokens, expires_at=1.0))
            (file,) = set(folder.iterdir()) - stored
            file.write_text(json.dumps(json.loads(file.read_text()) | {"expires_at": value}))
            config += f'[servers.{name}]\nurl = "{url}"\nautostart = false\n'
        async with real_app(separate_home, config) as app:
            await app.press("f3", "enter")
            for number, value in enumerate(NUMBERS):
                name = f"far{number}"
                await until(
                    lambda name=name: state(app, name).startswith("sign"), 5, f"the state with {value!r:.20}"
                )
                await app.runtime.host.sign_out(name)
                assert state(app, name) == "not signed in"
