"""Where mcptui's files are."""

import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui.core.errors import ConfigError
from tui.settings import locations
from tui.settings.names import name_fault
from tui.settings.save import change_config, set_value


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


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("/p/.mcp.json", "/p"),
        ("/p/.cursor/mcp.json", "/p"),
        ("/p/.kiro/settings/mcp.json", "/p"),
        ("/p/mcp.json", None),
        ("/p/.codex/config.toml", None),
        ("~/.cursor/mcp.json", None),
        ("~/.mcp.json", None),
    ],
)
def test_a_file_of_servers_in_a_project_is_told_from_one_of_the_user(
    path: str, project: str | None, separate_home: Path
):
    found = locations.project_of(Path(path.replace("~", str(separate_home))))
    assert found == (Path(project) if project else None)


CODEX = {"mcp_servers": {"a": {"command": "x"}}}


def test_a_file_of_another_host_is_known_by_its_suffix():
    names = ("mcp.json", "a.JSONC", "x.code-workspace", "config.yaml", "config.toml", "config")
    assert [locations.is_foreign(Path(name)) for name in names] == [True] * 4 + [False] * 2


def test_only_another_file_with_servers_of_codex_is_that_of_codex():
    assert locations.is_codex(CODEX, Path("/x/config.toml"))
    assert not locations.is_codex(CODEX, locations.config_file())
    assert not locations.is_codex({**CODEX, "servers": {}}, Path("/x/config.toml"))
    assert not locations.is_codex({"mcp_servers": {"x": 1}}, Path("/x/config.toml"))


def test_the_file_of_codex_is_never_changed(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[mcp_servers.a]\ncommand = "x"\n')
    with pytest.raises(ConfigError, match="belongs to another program"):
        change_config(path, lambda document: set_value(document, "harbor", "ui", "theme"))
    assert path.read_text() == '[mcp_servers.a]\ncommand = "x"\n'
