"""The stage itself: a server of a configuration runs, leaves with the file's entry, and stops at the end."""

from pathlib import Path

from tests import programs
from tests.ui.real_stage import real_app

SERVER = Path(__file__).parents[2] / "sample_config" / "servers" / "weather.py"


async def test_a_server_runs_until_the_configuration_no_longer_names_it(separate_home: Path) -> None:
    config = f'[servers.forecast]\ncommand = "{programs.interpreter()}"\nargs = ["{SERVER}"]\n'
    async with real_app(separate_home, config) as app:
        await app.has_state("forecast", "RUNNING")
        await app.shows("forecast")
        app.write("")
        await app.runtime.configuration.reload()
        assert app.state("forecast") == ""
