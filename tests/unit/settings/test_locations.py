"""Where mcptui's files are."""

import string
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from tui.settings import locations
from tui.settings.schema import name_fault


def test_every_directory_is_in_the_home_of_the_person(home_of_its_own: Path):
    for place in (
        locations.config_file(),
        locations.themes_dir(),
        locations.data_dir(),
        locations.state_dir(),
    ):
        assert home_of_its_own in place.parents
        assert "mcptui" in place.parts


def test_asking_for_paths_creates_nothing(home_of_its_own: Path):
    locations.config_file()
    locations.data_dir()
    assert not (home_of_its_own / "config").exists()


def test_the_command_line_goes_before_the_environment_and_both_before_the_usual_file():
    env = {"MCPTUI_CONFIG": "/b.toml"}
    assert locations.config_path("/a.toml", env) == (Path("/a.toml"), True)
    assert locations.config_path(None, env) == (Path("/b.toml"), True)
    assert locations.config_path(None, {"MCPTUI_CONFIG": ""}) == (locations.config_file(), False)


def test_the_home_of_somebody_who_does_not_exist_is_a_name_like_any_other():
    assert locations.config_path("~nobody-at-all/c.toml", {}) == (Path("~nobody-at-all/c.toml"), True)


def test_the_home_directory_may_be_written_short(home_of_its_own: Path):
    assert locations.config_path("~/x.toml", {})[0] == home_of_its_own / "x.toml"


def test_a_server_has_a_folder_of_its_own_below_the_state_directory():
    assert locations.server_folder("notes") == locations.state_dir() / "servers" / "notes"


@example("Notes")
@example("日本")
@given(st.text().filter(lambda name: not name_fault(name)))
def test_no_name_of_a_server_leads_elsewhere_or_to_the_folder_of_another(name: str):
    folder = locations.server_folder(name)
    assert folder.parent == locations.state_dir() / "servers"
    assert set(folder.name) <= set(string.ascii_lowercase + string.digits + "_-")
    assert folder != locations.server_folder(f"{name}.")


def test_paths_in_a_file_of_an_editor_are_relative_to_the_project_around_it():
    assert locations.base_folder(Path("/p/.vscode/mcp.json")) == Path("/p")
    assert locations.base_folder(Path("/p/.mcp.json")) == Path("/p")
