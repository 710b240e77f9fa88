"""What the workbench marks as new or changed, over the real runtime, host and configuration file."""

import sys
from pathlib import Path

from tests.conftest import until
from tests.ui.real_stage import real_app
from tui.ui.workbench.screen import ServerScreen

OFFERING = Path(__file__).parents[1] / "protocol" / "offering_server.py"
SERVER = f'[servers.s]\ncommand = "{sys.executable}"\nargs = ["{OFFERING}"]\n'


async def test_no_decision_of_the_user_about_a_server_marks_its_tools_as_changed(separate_home: Path) -> None:
    async with real_app(separate_home, SERVER) as app:
        await app.has_state("s", "RUNNING")
        app.app.main.parts.navigator.open_server("s")
        await app.shows("tools 9")
        screen = app.app.screen
        assert isinstance(screen, ServerScreen)
        tools = screen.benches["tools"].list

        app.runtime.trust.decide("s", True)
        await until(lambda: all(item.about.trusted for item in tools._all), what="trusted tools are shown")
        app.write(f'{SERVER}pin = ["sh*"]\n')
        await app.runtime.configuration.reload()
        await until(lambda: any(item.about.pinned for item in tools._all), what="a pinned tool is shown")
        assert "changed" not in app.text
