"""Reloads, changes and edits of the file in any order, each begun before the previous ones have ended."""

import asyncio
import tomllib
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.host.scripted import Script
from tests.unit.runtime.stage import configuration_of
from tui.core.servers import ServerState
from tui.host.host import Host
from tui.host.server.host_context import HostContext
from tui.runtime.options import Options
from tui.runtime.server_changes import ServerChanges
from tui.settings.save import change_config, set_value

NAMES = ("a", "b")
TEXT = "# mine\n" + "".join(
    f'[servers.{name}]\ncommand = "python3"\nargs = ["{name}.py"]\n' for name in NAMES
)
THEMES = ("dusk", "paper", "quay")

STEPS = st.lists(
    st.one_of(
        st.just(("reload", "", "")),
        st.tuples(st.just("toggle"), st.sampled_from(NAMES), st.just("")),
        st.tuples(st.just("tool"), st.sampled_from(NAMES), st.sampled_from(("one", "two"))),
        st.tuples(st.just("theme"), st.just(""), st.sampled_from(THEMES)),
        st.tuples(st.just("elsewhere"), st.sampled_from(NAMES), st.sampled_from(("5", "6"))),
        st.just(("wait", "", "")),
        st.just(("pass", "", "")),
    ),
    max_size=14,
)


class Stage:
    """A file, a host with scripted servers, and everything that changes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_text(TEXT)
        options = Options(disabled_too=True, trust_config=True)
        self.configuration = configuration_of(path, options=options)
        self.configuration.apply_ui = lambda theme, keys: self.themes.append(theme) or ()
        specs = self.configuration.adopt(self.configuration.file.read(), self.configuration.file.stamp())
        self.host = Host(specs, HostContext(lambda *_: None, open_with=Script().open))
        self.configuration.host = self.host
        self.changes = ServerChanges(self.configuration, {})
        self.themes = [""]

    def begin(self, step: tuple[str, str, str]) -> Coroutine[Any, Any, object]:
        match step:
            case ("toggle", name, _):
                return self.changes.toggle(name)
            case ("tool", name, tool):
                return self.changes.toggle_tool(name, tool)
            case ("theme", _, theme):
                return self.configuration.save_theme(theme)
            case ("elsewhere", name, seconds):  # another process
                key = ("servers", name, "tool_seconds")
                return asyncio.to_thread(
                    change_config, self.path, lambda document: set_value(document, float(seconds), *key)
                )
            case ("pass", _, _):
                return asyncio.sleep(0)
            case _:
                return self.configuration.reload()

    def read(self) -> Any:
        return tomllib.loads(self.path.read_text())


async def check(path: Path, steps: list[tuple[str, str, str]]) -> None:
    stage = Stage(path)
    running: list[asyncio.Task[object]] = []
    try:
        await stage.host.start_all()
        for step in steps:
            if step[0] == "wait":
                await asyncio.gather(*running)
            else:
                running.append(asyncio.create_task(stage.begin(step)))
                await asyncio.sleep(0)
        await asyncio.gather(*running)
        assert_in_force(stage, steps)
        await stage.configuration.reload()
        assert_in_force(stage, steps)
        seconds = {name: stage.read()["servers"][name].get("tool_seconds") for name in NAMES}
        in_force = {name: stage.host.status(name).spec.tool_seconds for name in NAMES}
        assert all(wanted in (None, in_force[name]) for name, wanted in seconds.items())
    finally:
        await stage.host.shutdown()


def assert_in_force(stage: Stage, steps: list[tuple[str, str, str]]) -> None:
    """Assert that no change was lost, and that what the file says is in force."""
    file = stage.read()
    for name in NAMES:
        table, status = file["servers"][name], stage.host.status(name)
        disabled = steps.count(("toggle", name, "")) % 2 == 1
        assert (table.get("disabled", False), status.spec.disabled) == (disabled, disabled)
        assert not disabled or status.state is ServerState.STOPPED
        off = {tool for tool in ("one", "two") if steps.count(("tool", name, tool)) % 2 == 1}
        assert set(table.get("off", ())) == set(status.spec.off) == off
    themes = [theme for kind, _, theme in steps if kind == "theme"]
    if themes:
        assert file["ui"]["theme"] == stage.themes[-1] == themes[-1]


@given(STEPS)
def test_nothing_is_lost_and_the_file_is_in_force_in_the_end(steps: list[tuple[str, str, str]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder) / "c.toml", steps))


async def test_a_cancelled_caller_does_not_leave_a_change_half_done(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml")
    await stage.host.start_all()
    task = asyncio.create_task(stage.changes.toggle("a"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await stage.configuration.running.settled(30)
    assert_in_force(stage, [("toggle", "a", "")])
    await stage.host.shutdown()


async def test_after_the_end_of_the_app_a_change_is_saved_and_not_applied(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml")
    await stage.host.start_all()
    change_config(stage.path, lambda document: set_value(document, "python3", "servers", "new", "command"))
    stage.configuration.is_closing = True
    await asyncio.gather(stage.host.shutdown(), stage.configuration.save_theme("dusk"))
    assert stage.read()["ui"]["theme"] == "dusk"
    assert [one.name for one in stage.host.statuses()] == list(NAMES)
