"""The configuration in force: read, changed and applied, one operation after the other."""

from pathlib import Path

import pytest

from tests.unit.runtime.stage import configuration_of
from tui.core.errors import ConfigError
from tui.runtime.options import Options
from tui.settings.load import Loaded
from tui.settings.problems import Problem


class Stage:
    """A file that was loaded with a mistake in it, and the changes applied since."""

    def __init__(self, path: Path) -> None:
        path.write_text("[servers]\n[limits]\nmax_stepz = 3\n")
        self.path = path
        self.applied: list[Loaded] = []
        options = Options(disabled_too=True, trust_config=True)
        self.configuration = configuration_of(path, options=options, take_over=self.applied.append)
        self.configuration.adopt(self.configuration.file.read(), self.configuration.file.stamp())


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "c.toml")


async def test_a_problem_that_the_app_found_gets_the_file_and_the_line_of_its_key(stage: Stage) -> None:
    stage.path.write_text('\n[ui]\ntheme = "harbr"\n[servers]\n')
    await stage.configuration.reload()
    (said,) = stage.configuration.located([Problem("theme “harbr” not found", ("ui", "theme"))])
    assert said == f"{stage.path}:3 ui.theme: theme “harbr” not found"


async def test_a_known_mistake_does_not_prevent_other_changes_from_being_applied(stage: Stage) -> None:
    stage.path.write_text("# more\n[servers]\n[limits]\nmax_stepz = 3\nmax_tool_calls = 9\n")
    errors, _ = await stage.configuration.reload()
    assert errors == ()
    assert [one.settings.limits.max_tool_calls for one in stage.applied] == [9]


@pytest.mark.parametrize("text", ["[limits]\nmax_tool_callz = 9\n", "[limits\n"])
async def test_a_new_error_is_reported_with_its_line_and_nothing_is_applied(stage: Stage, text: str) -> None:
    stage.path.write_text(f"\n[servers]\n{text}")
    assert "c.toml:" in (await stage.configuration.reload())[0][0]
    assert stage.applied == []


@pytest.mark.parametrize("text", ["[limits]\nmax_tool_callz = 9\n", "[limits\n", None])
async def test_a_file_with_a_new_error_is_not_changed(stage: Stage, text: str | None) -> None:
    stage.path.unlink() if text is None else stage.path.write_text(text)
    with pytest.raises(ConfigError, match="has errors, so it was not changed"):
        await stage.configuration.save_theme("dusk")
    assert stage.applied == []
    assert (stage.path.read_text() if stage.path.exists() else None) == text


async def test_a_new_server_with_an_error_does_not_prevent_other_changes(stage: Stage) -> None:
    stage.path.write_text('[servers.new]\ncommand = "${NOT_SET}"\n')
    await stage.configuration.save_theme("dusk")
    assert [one.settings.ui.theme for one in stage.applied] == ["dusk"]
    assert list(stage.configuration.left_out) == ["new"]


async def test_a_setting_that_needs_a_restart_is_noted(stage: Stage) -> None:
    stage.path.write_text("[servers]\n[traffic]\nrecord = false\n")
    assert (await stage.configuration.reload())[1] == ["[traffic] takes effect after a restart."]
