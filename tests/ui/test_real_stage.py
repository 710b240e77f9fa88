"""The stage itself: a configured server runs, and leaves once the configuration no longer names it."""

import sys
from pathlib import Path

from tests.ui.real_stage import real_app

SERVER = Path(__file__).parents[2] / "sample_config" / "servers" / "weather.py"


async def test_a_server_runs_until_the_configuration_no_longer_names_it(separate_home: Path) -> None:
    config = f'[servers.forecast]\ncommand = "{sys.executable}"\nargs = ["{SERVER}"]\n'
    async with real_app(separate_home, config) as app:
        await app.has_state("forecast", "RUNNING")
        await app.shows("forecast")
        app.write("")
        await app.runtime.configuration.reload()
        assert app.state("forecast") == ""
