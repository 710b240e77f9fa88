"""The configuration reloaded and changed by keys, over the real runtime, host and file; servers that lag."""

import asyncio
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.endpoint import Endpoint, says
from tests.ui.app_stage import keys, send
from tests.ui.real_stage import RealApp, real_app
from tui.core.servers import SamplingRule
from tui.host.process.stop_ladder import StopGrace
from tui.host.transports import stdio
from tui.runtime.options import Options
from tui.ui.keys import answer_pause

LAGGARD = Path(__file__).with_name("laggard.py")
APP = Options(disabled_too=True, demo=True)
ERRORS = "The configuration has errors. The previous one is still in use."


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait half a second for a laggard whose input is closed, not two: longer than a key takes."""
    monkeypatch.setattr(stdio, "StopGrace", partial(StopGrace, eof=0.5))


def server(name: str, *args: object) -> str:
    given = ", ".join(f'"{one}"' for one in (LAGGARD, *args))
    return f'[servers.{name}]\ncommand = "{sys.executable}"\nargs = [{given}]\n'


def model(name: str, url: str, **fields: str) -> str:
    more = "".join(f'{key} = "{value}"\n' for key, value in fields.items())
    return f'[models.{name}]\nmodel = "m-{name}"\nbase_url = "{url}"\ncontext_window = 9000\n{more}'


def read(app: RealApp) -> Any:
    return tomllib.loads(app.config.read_text(encoding="utf-8"))


async def in_servers(app: RealApp) -> None:
    await app.press("f3")
    await until(lambda: app.app.main.regions.servers.has_focus, what="focus in the servers pane")


async def reloads(app: RealApp, text: str) -> None:
    """Write the file, and reload it by its key."""
    app.write(text)
    await in_servers(app)
    await app.press("R")


async def settled(app: RealApp) -> None:
    """Wait until no operation on the configuration runs, and what it showed is on screen."""
    await app.runtime.configuration.running.settled(30)
    await app.pilot.pause()


@asynccontextmanager
async def on_servers(home: Path, *names: str) -> AsyncIterator[RealApp]:
    """The app with running servers, and the focus on the first of them."""
    async with real_app(home, "".join(map(server, names)), options=APP) as app:
        for name in names:
            await app.has_state(name, "RUNNING")
        await in_servers(app)
        yield app


# ---- reload beside changes -------------------------------------------------------------------------------


async def test_a_server_disabled_and_enabled_at_once_runs_again(separate_home: Path) -> None:
    async with on_servers(separate_home, "a") as app:
        await app.pilot.press("o", "o")
        await app.has_state("a", "STOPPING")
        await settled(app)
        await app.has_state("a", "RUNNING")
        assert "disabled" not in read(app)["servers"]["a"]
        told = [one.message for one in app.app._notifications]
        assert "Disabled the server “a”." in told and "Enabled the server “a”." in told


async def test_a_server_disabled_while_it_starts_does_not_start(separate_home: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with real_app(separate_home, server("a", gate), options=APP) as app:
        await app.has_state("a", "STARTING")
        await in_servers(app)
        await app.pilot.press("o")
        await until(lambda: app.runtime.host.status("a").spec.disabled)
        assert app.state("a") == "STOPPED"
        gate.touch()
        await app.pilot.press("o")
        await app.has_state("a", "RUNNING")


async def test_a_change_in_the_app_keeps_a_change_of_the_file_and_applies_both(separate_home: Path) -> None:
    async with real_app(separate_home, server("a"), options=APP) as app:
        await app.has_state("a", "RUNNING")
        app.write(f'{server("a")}{server("b")}[approvals]\ndeny = ["b/two"]\n')
        await in_servers(app)
        await app.pilot.press("o")
        await app.has_state("b", "RUNNING")
        assert read(app)["servers"]["a"]["disabled"] and "b" in read(app)["servers"]
        assert [str(rule) for rule in app.runtime.turn_context.policy.rules.rules] == ["deny b/two"]


async def test_a_choice_that_cannot_be_saved_survives_a_reload(separate_home: Path) -> None:
    async with real_app(separate_home, "", options=APP) as app:  # the samples are in no file
        name = app.runtime.host.statuses()[0].name
        assert "until mcptui quits" in await app.runtime.configuration.choose(name, "log_level", "error")
        await app.runtime.configuration.reload()
        assert app.runtime.host.status(name).spec.log_level == "error"


async def test_a_tool_turned_off_while_a_reload_restarts_the_server_stays_off(
    separate_home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    async with real_app(separate_home, server("slow"), options=APP) as app:
        await app.has_state("slow", "RUNNING")
        app.write(server("slow", gate))
        await in_servers(app)
        await app.pilot.press("R")
        await app.has_state("slow", "STOPPING")
        assert await app.runtime.server_changes.toggle_tool("slow", "one") == ""
        spec = app.runtime.host.status("slow").spec
        assert (spec.args[-1], spec.off) == (str(gate), ("one",))
        await app.has_state("slow", "RUNNING")
        assert [one.name for one in app.runtime.host.toolbox.tools()] == ["two"]


async def test_keys_win_over_the_command_line_and_a_reload_keeps_that(separate_home: Path) -> None:
    options = Options(
        disabled_too=True, demo=True, trusted=("a",), roots=("/tmp",), sampling=SamplingRule.ALLOW
    )
    async with real_app(separate_home, server("a"), options=options) as app:
        await app.has_state("a", "RUNNING")
        assert await app.runtime.trust.toggle("a") == ""
        assert await app.runtime.configuration.choose("a", "roots", ("/var",)) == ""
        assert await app.runtime.configuration.choose("a", "sampling", SamplingRule.NEVER) == ""
        for _ in range(2):
            spec = app.runtime.host.status("a").spec
            assert (spec.trusted, spec.roots, spec.sampling) == (False, ("/var",), SamplingRule.NEVER)
            await app.runtime.configuration.reload()


# ---- models ----------------------------------------------------------------------------------------------


async def test_a_model_that_failed_at_start_is_used_once_the_file_is_corrected(separate_home: Path) -> None:
    async with Endpoint([says("Hello.")]) as endpoint:
        broken = model("mine", endpoint.base_url, api_key="keyring:nothing/here")
        options = Options(disabled_too=True)
        async with real_app(separate_home, f"[servers]\n{broken}", options=options) as app:
            await app.shows("no model")
            await reloads(app, f"[servers]\n{model('mine', endpoint.base_url)}")
            await until(lambda: app.runtime.model_label == "m-mine")
            assert not app.runtime.problems
            await app.press("f5")
            await send(app.pilot, "hi")
            await app.shows("Hello.")


async def test_a_corrected_model_that_needs_consent_is_used_after_the_question(
    separate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 0.0)
    monkeypatch.setenv("SOME_KEY", "sk-canary-77")
    file = tmp_path / "shared.toml"
    file.write_text("[servers]\n[models.mine]\nmodel = 3\n")
    async with Endpoint([says("Hello.")]) as endpoint:
        options = Options(disabled_too=True, config=str(file))
        async with real_app(separate_home, "", options=options) as app:
            await app.shows("no model")
            file.write_text(f"[servers]\n{model('mine', endpoint.base_url, api_key_env='SOME_KEY')}")
            await in_servers(app)
            await app.press("R")
            await app.shows("models.mine", "SOME_KEY", "yes, use it")
            assert not endpoint.requests
            await app.press("ctrl+s")
            await until(lambda: app.runtime.model_label == "m-mine")
            assert not any("consent" in one for one in app.runtime.problems)


async def test_a_turn_that_runs_while_the_configuration_is_reloaded_ends_with_its_model(
    separate_home: Path,
) -> None:
    async with Endpoint([says("One two three.", delay=0.5), says("Four.")]) as endpoint:
        both = model("a", endpoint.base_url) + model("b", endpoint.base_url)
        config = f'default_model = "a"\n[servers]\n{both}'
        async with real_app(separate_home, config, options=Options(disabled_too=True)) as app:
            await send(app.pilot, "count")
            await until(lambda: app.app.main.parts.turns.running)
            await reloads(app, config.replace('"a"', '"b"', 1))
            await until(lambda: app.runtime.model_label == "m-b")
            await app.shows("One two three.")
            await app.press("f5")
            await send(app.pilot, "more")
            await app.shows("Four.")
            assert [one.json["model"] for one in endpoint.requests] == ["m-a", "m-b"]


# ---- theme -----------------------------------------------------------------------------------------------


async def test_the_theme_of_the_command_line_stays_when_the_file_names_another(separate_home: Path) -> None:
    options = Options(disabled_too=True, demo=True, theme="harbor")
    async with real_app(separate_home, "[servers]\n", options=options) as app:
        await reloads(app, '[servers]\n[ui]\ntheme = "dusk"\n[limits]\nmax_steps = 7\n')
        await until(lambda: app.runtime.turn_context.limits.max_steps == 7)
        await settled(app)
        assert app.app.theme == "harbor"


async def test_a_theme_that_could_not_be_saved_stays_after_a_reload(separate_home: Path) -> None:
    async with real_app(separate_home, "[servers]\n", options=APP) as app:
        app.write("[servers\n")
        await app.press("ctrl+t", "down", "enter")
        await until(lambda: len(app.app.screen_stack) == 1)
        chosen = app.app.theme
        assert chosen != "harbor"
        await app.shows("has errors")
        app.write("[servers]\n")
        await app.runtime.configuration.reload()
        assert app.app.theme == chosen


# ---- errors ----------------------------------------------------------------------------------------------


def marking_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Have $EDITOR leave a mark, and return its path."""
    mark = tmp_path / "edited"
    monkeypatch.setenv("EDITOR", f"touch {mark}")
    monkeypatch.setenv("VISUAL", "")
    return mark


async def test_the_errors_of_a_reload_wait_until_the_user_stops_typing(
    separate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = marking_editor(monkeypatch, tmp_path)
    async with real_app(separate_home, "[servers]\n", options=APP) as app:
        app.write("[servers]\nmistake = 3\n")
        await in_servers(app)
        await app.pilot.press("f5", "t")
        reload = app.app.main.parts.act("config.reload")
        await asyncio.gather(reload, keys(app.pilot, "oday and yesterday, " * 5))
        assert app.app.main.composer.text == "t" + "oday and yesterday, " * 5
        await app.shows(ERRORS, "servers.mistake:")
        await keys(app.pilot, "today")
        await app.shows(ERRORS)
        assert not mark.exists()


async def test_the_errors_of_a_reload_are_shown_over_an_open_dialog(
    separate_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 0.0)
    async with on_servers(separate_home, "a") as app:
        await app.press("ctrl+d")
        await app.shows("Remove the server “a”")
        app.write("[servers]\nmistake = 3\n")
        await app.app.main.parts.act("config.reload")
        await app.shows(ERRORS, "servers.mistake:")
        await app.press("escape")
        await app.shows("Remove the server “a”")
        assert app.state("a") == "RUNNING"


async def test_errors_that_were_corrected_are_no_longer_shown(separate_home: Path) -> None:
    async with real_app(separate_home, "[servers]\n", options=APP) as app:
        await reloads(app, "[servers]\nmistake = 3\n")
        await app.shows(ERRORS)
        app.write("[servers]\n")
        await app.app.main.parts.act("config.reload")
        await app.shows("Configuration reloaded.")
        assert ERRORS not in app.text


@pytest.mark.parametrize("fault", ["invalid", "deleted", "unreadable"])
async def test_nothing_changes_while_the_file_cannot_be_used(separate_home: Path, fault: str) -> None:
    async with real_app(separate_home, server("a"), options=APP) as app:
        await app.has_state("a", "RUNNING")
        match fault:
            case "invalid":
                app.write("[servers")
            case "deleted":
                app.config.unlink()
            case "unreadable":
                app.config.unlink()
                app.config.mkdir()
        await in_servers(app)
        await app.press("R")
        await app.shows(ERRORS)
        assert app.state("a") == "RUNNING"
        await app.press("escape")


async def test_an_approval_is_not_saved_to_a_file_that_was_deleted(separate_home: Path) -> None:
    config = f"{server('a')}{model('m', 'http://127.0.0.1:9/v1')}"
    async with real_app(separate_home, config, options=APP) as app:
        await app.has_state("a", "RUNNING")
        app.config.unlink()
        app.runtime.turn_context.policy.always.add("a/one@digest")
        told = await app.runtime.approvals.save()
        assert "only lasts until mcptui quits" in told and "file not found" in told
        assert not app.config.exists()
        app.write(config)
        assert await app.runtime.approvals.save() == ""
        assert set(read(app)) == {"servers", "models", "approvals"}


async def test_a_file_behind_a_link_and_one_replaced_by_an_editor_are_read(
    separate_home: Path, tmp_path: Path
) -> None:
    async with real_app(separate_home, server("a"), options=APP) as app:
        await app.has_state("a", "RUNNING")
        target, new = tmp_path / "real.toml", tmp_path / "new.toml"
        target.write_text(app.config.read_text())
        app.config.unlink()
        app.config.symlink_to(target)
        await in_servers(app)
        await app.press("o")
        await until(lambda: app.runtime.host.status("a").spec.disabled)
        assert app.config.is_symlink() and read(app)["servers"]["a"]["disabled"]
        new.write_text(server("a"))
        new.replace(target)
        await app.press("R")
        await app.has_state("a", "RUNNING")
