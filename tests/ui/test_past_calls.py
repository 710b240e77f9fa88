"""Calls by hand of an earlier run, in the workbench of this one."""

from pathlib import Path

from tests.conftest import until
from tests.ui.test_keep import called, workbench
from tui.ui.traffic.screen import TrafficScreen


async def test_calls_of_the_last_run_can_be_seen_compared_repeated_and_traced(
    project: Path, separate_home: Path
) -> None:
    async with workbench(project, separate_home, "get_weather", {"location": "Oslo"}) as app:
        await called(app)
    async with workbench(project, separate_home, "get_weather", {"location": "Rome"}) as app:
        bench = app.app.screen.bench
        await until(lambda: "earlier today" in app.text)
        assert "appears here" in app.text, "no old result is shown as that of the form"
        await called(app)
        app.app.screen.set_focus(bench.calls)
        await app.press("d")
        await until(lambda: "COMPARED" in app.text and '"Oslo"' in app.text and '"Rome"' in app.text)
        await app.press("d", "down", "f4")
        await until(lambda: isinstance(app.app.screen, TrafficScreen) and "call:hand-1" in app.text)
        await until(lambda: "mcptrace" in app.text)
        await app.press("escape")
        await until(lambda: app.app.screen is bench.screen)
        await app.press("enter")
        await until(lambda: bench.arguments()[0] == {"location": "Oslo"})
