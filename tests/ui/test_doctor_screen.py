"""The checklist of a server in the app."""

from pathlib import Path

from tests.configurations import server
from tests.ui.real_stage import real_app

HANGS = server("slow", "-c", "import time; time.sleep(60)", autostart=False)


async def test_the_key_checks_the_selected_server_with_a_process_of_its_own(separate_home: Path) -> None:
    config = server("broken", "-c", "import no_such_module", autostart=False)
    async with real_app(separate_home, config) as app:
        await app.press("f3", "H")
        await app.shows("DOCTOR", "has no module no_such_module", "not reached", "Failed at start")
        assert app.runtime.host.status("broken").pid is None


async def test_esc_stops_the_check_and_then_closes_the_screen(separate_home: Path) -> None:
    async with real_app(separate_home, HANGS) as app:
        await app.press("f3", "H")
        await app.shows("checking", "first byte")
        await app.press("escape")
        await app.shows("Stopped.")
        await app.press("escape")
        await app.shows("SERVERS")
