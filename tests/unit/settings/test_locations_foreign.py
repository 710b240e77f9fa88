"""Telling other hosts' files from ours."""

from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.settings.locations import config_file, is_codex, is_foreign
from tui.settings.save import change_config, set_value

CODEX = {"mcp_servers": {"a": {"command": "x"}}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mcp.json", True),
        ("a.JSONC", True),
        ("x.code-workspace", True),
        ("config.yaml", True),
        ("config.toml", False),
        ("config", False),
    ],
)
def test_a_file_of_another_host_is_known_by_its_suffix(name: str, expected: bool):
    assert is_foreign(Path(name)) is expected


def test_only_another_file_with_servers_of_codex_is_that_of_codex():
    assert is_codex(CODEX, Path("/x/config.toml"))
    assert not is_codex(CODEX, config_file())
    assert not is_codex({**CODEX, "servers": {}}, Path("/x/config.toml"))
    assert not is_codex({"mcp_servers": {"x": 1}}, Path("/x/config.toml"))


def test_the_file_of_codex_is_never_changed(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[mcp_servers.a]\ncommand = "x"\n')
    with pytest.raises(ConfigError, match="belongs to another program"):
        change_config(path, lambda document: set_value(document, "harbor", "ui", "theme"))
    assert path.read_text() == '[mcp_servers.a]\ncommand = "x"\n'
