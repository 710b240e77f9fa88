"""Reloading the configuration while mcptui runs."""

from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.core.ports import MonotonicClock
from tui.runtime.active_model import ActiveModel
from tui.runtime.config_reload import ConfigReload
from tui.runtime.options import Options
from tui.settings.config_file import ConfigFile
from tui.settings.load import Loaded
from tui.settings.problems import Problem


class Stage:
    """A file that was loaded with a mistake in it, and the changes applied since."""

    def __init__(self, path: Path) -> None:
        path.write_text("[limits]\nmax_stepz = 3\n")
        self.path = path
        file = ConfigFile(str(path), {}, trust=True)
        self.loaded = file.read()
        self.applied: list[Loaded] = []
        model = ActiveModel(Options(), {}, MonotonicClock(), lambda captured: None, lambda name, value: None)
        self.reload = ConfigReload(file, lambda: self.loaded, self._follow, self.applied.append, model)

    async def _follow(self, loaded: Loaded) -> None:
        self.applied.append(loaded)


def test_a_problem_that_the_app_found_gets_the_file_and_the_line_of_its_key(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml")
    stage.path.write_text('\n[ui]\ntheme = "harbr"\n')
    stage.loaded = stage.reload.file.read()
    (said,) = stage.reload.located([Problem("theme “harbr” not found", path="ui.theme")])
    assert said == f"{stage.path}:3 ui.theme: theme “harbr” not found"


async def test_a_known_mistake_does_not_prevent_other_changes_from_being_applied(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path / "c.toml")
    stage.path.write_text("# more\n[limits]\nmax_stepz = 3\nmax_tool_calls = 9\n")
    found = await stage.reload.reload()
    assert found.errors == ()
    assert [one.settings.limits.max_tool_calls for one in stage.applied] == [9, 9]


@pytest.mark.parametrize("text", ["[limits]\nmax_tool_callz = 9\n", "[limits\n"])
async def test_a_new_error_is_reported_with_its_line_and_nothing_is_applied(
    tmp_path: Path, text: str
) -> None:
    stage = Stage(tmp_path / "c.toml")
    stage.path.write_text(f"\n{text}")
    assert "c.toml:" in (await stage.reload.reload()).errors[0]
    with pytest.raises(ConfigError, match=r"c\.toml:"):
        await stage.reload.reload_or_raise()
    assert stage.applied == []


async def test_a_setting_that_needs_a_restart_is_noted(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "c.toml")
    stage.path.write_text("[traffic]\nrecord = false\n")
    assert (await stage.reload.reload()).notes == ["[traffic] takes effect after a restart."]
