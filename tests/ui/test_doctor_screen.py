"""The checklist of a server in the app."""

import socket
from pathlib import Path

from tests.configurations import server
from tests.protocol.doctor_setups import answering
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


async def test_a_port_that_the_running_server_holds_is_no_fault(separate_home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    holds = f"import socket\nheld = socket.socket()\nheld.bind(('127.0.0.1', {port}))\nheld.listen()\n"
    tool = '[{"name": "pick", "description": "Picks.", "inputSchema": {"type": "object"}}]'
    async with real_app(separate_home, server("holder", "-c", holds + answering(tool))) as app:
        await app.runtime.host.start("holder")
        pid = app.runtime.host.status("holder").pid
        await app.press("f3", "H")
        await app.shows("its port is in use by", f"own process {pid}", "no fault", "1 tool", "Nothing failed")
        assert app.runtime.host.status("holder").pid == pid
