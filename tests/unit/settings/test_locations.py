"""Where mcptui's files are."""

import string
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from tui.settings import locations
from tui.settings.schema import name_fault


def test_every_directory_is_in_the_home_directory(separate_home: Path):
    for place in (
        locations.config_file(),
        locations.themes_dir(),
        locations.data_dir(),
        locations.state_dir(),
    ):
        assert separate_home in place.parents
        assert "mcptui" in place.parts


def test_the_command_line_overrides_the_environment_and_both_the_default_file():
    env = {"MCPTUI_CONFIG": "/b.toml"}
    assert locations.config_path("/a.toml", env) == (Path("/a.toml"), True)
    assert locations.config_path(None, env) == (Path("/b.toml"), True)
    assert locations.config_path(None, {"MCPTUI_CONFIG": ""}) == (locations.config_file(), False)


def test_a_tilde_is_the_home_directory(separate_home: Path):
    assert locations.config_path("~/x.toml", {})[0] == separate_home / "x.toml"
    assert locations.config_path("~nobody-at-all/c.toml", {}) == (Path("~nobody-at-all/c.toml"), True)


@example("Notes")
@example("日本")
@given(st.text().filter(lambda name: not name_fault(name)))
def test_any_server_name_gives_a_folder_of_its_own_in_the_state_directory(name: str):
    folder = locations.server_folder(name)
    assert folder.parent == locations.state_dir() / "servers"
    assert set(folder.name) <= set(string.ascii_lowercase + string.digits + "_-")
    assert folder != locations.server_folder(f"{name}.")


def test_paths_in_the_file_of_an_editor_are_relative_to_its_project():
    assert locations.base_folder(Path("/p/.vscode/mcp.json")) == Path("/p")
    assert locations.base_folder(Path("/p/.mcp.json")) == Path("/p")
