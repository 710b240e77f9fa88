"""The protocol era of a server is changed in the configuration file while it runs."""

import sys
from pathlib import Path

from tests.conftest import until
from tests.ui.real_stage import real_app

GATEWAY = Path(__file__).parents[1] / "protocol" / "gateway_server.py"


def configuration(era: str) -> str:
    return f'[servers.bridge]\ncommand = "{sys.executable}"\nargs = ["{GATEWAY}", "error"]\nera = "{era}"\n'


async def test_changing_the_era_of_a_server_restarts_it(separate_home: Path) -> None:
    async with real_app(separate_home, configuration("legacy")) as app:
        await app.has_state("bridge", "RUNNING")
        app.write(configuration("modern"))
        await app.runtime.configuration.reload()
        why = 'initialize was not tried because era is "modern".'
        await until(lambda: why in app.runtime.host.status("bridge").detail, what="the failure")
        app.write(configuration("auto"))
        await app.runtime.configuration.reload()
        await app.has_state("bridge", "RUNNING")
