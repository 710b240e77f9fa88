"""Trusting a server by key, in the servers pane and in the workbench."""

from tests.conftest import until
from tests.ui import bench_app
from tests.ui.app_stage import opened, shows
from tests.ui.bench_stage import rich_runtime
from tests.ui.fakes import FakeRuntime
from tui.ui.dialogs.confirm import Confirm


async def test_a_key_in_the_servers_pane_trusts_the_selected_server_and_explains_it() -> None:
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("f3", "T")
        await shows(app, "Trust the server “weather”?", "run without approval.")
        assert runtime.host.status("weather").spec.trusted is not True
        app.screen._delay._shown -= 1
        await pilot.press("r", "y")
        assert isinstance(app.screen, Confirm)
        app.screen._delay._shown -= 1
        await pilot.press("y")
        await shows(app, "The server “weather” is trusted. Its read-only tools run without approval.")
        await shows(app, "Press T to undo.")
        assert all(one.timeout >= 8 for one in app._notifications)
        assert runtime.host.status("weather").spec.trusted is True
        await pilot.press("T")
        await shows(app, "The server “weather” is not trusted. Its calls need approval. Press T to undo.")
        assert runtime.host.status("weather").spec.trusted is False


async def test_a_change_that_is_not_saved_is_reported() -> None:
    runtime = FakeRuntime()
    runtime.trust.problem = "Not saved: disk full."
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("f3", "T")
        await until(lambda: isinstance(app.screen, Confirm))
        app.screen._delay._shown -= 1
        await pilot.press("y")
        await shows(app, "Not saved:")


async def test_the_same_key_works_in_the_workbench_and_the_overview_shows_it() -> None:
    runtime = rich_runtime()
    async with bench_app.opened(runtime) as (screen, pilot):
        await pilot.press("1")
        await shows(bench_app.app_of(screen), "not trusted: each of its calls needs approval")
        await pilot.press("T")
        app = bench_app.app_of(screen)
        await until(lambda: isinstance(app.screen, Confirm))
        app.screen._delay._shown -= 1
        await pilot.press("y")
        await until(lambda: runtime.host.status("weather").spec.trusted is True)
        await shows(bench_app.app_of(screen), "its read-only marks and its results are trusted")
