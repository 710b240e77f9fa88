"""The part of the configuration that the first frame needs."""

import os
from pathlib import Path

import pytest

from tui.settings.config_file import QuickUi, quick_tap, quick_ui


def read(tmp_path: Path, text: str, env: dict[str, str] | None = None) -> QuickUi:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode())
    return quick_ui(str(path), env or {}, trust=True)


def test_theme_and_keys_are_read(tmp_path: Path):
    text = '[ui]\ntheme = "${T}"\n[ui.keys]\nchat.new = "f8"\n"chat.copy" = ["y", "f9"]\n'
    assert read(tmp_path, text, {"T": "quay"}) == QuickUi(
        "quay", {"chat.new": ("f8",), "chat.copy": ("y", "f9")}
    )


def test_the_language_and_the_width_of_signs_are_read(tmp_path: Path):
    found = read(tmp_path, '[ui]\nlanguage = "zh_CN"\nambiguous_width = 2\n')
    assert (found.language, found.ambiguous_width) == ("zh_CN", 2)


@pytest.mark.parametrize(
    "text",
    ["", "a = ", "ui = 3", "[ui]\ntheme = 3\nkeys = 4", "[ui.keys]\na = 3\n", "\0", "[servers.x]\nx = 1"],
)
def test_invalid_values_give_the_defaults(tmp_path: Path, text: str):
    found = read(tmp_path, text)
    assert found.theme == "harbor"
    assert not any(found.keys.values())


def test_a_missing_file_gives_the_defaults(tmp_path: Path):
    assert quick_ui(str(tmp_path / "none.toml"), {}) == QuickUi("harbor", {})
    assert quick_ui(None, {}) == QuickUi("harbor", {})


def test_a_file_from_elsewhere_sets_no_keys_unless_it_is_trusted(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[ui]\ntheme = "quay"\n[ui.keys]\n"ask.send" = "n"\n')
    assert quick_ui(str(path), {}) == QuickUi("quay", {})
    assert quick_ui(str(path), {}, trust=True).keys == {"ask.send": ("n",)}
    own = tmp_path / "own"
    (own / "mcptui").mkdir(parents=True)
    (own / "mcptui" / "config.toml").write_text(path.read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(own))
        assert quick_ui(None, os.environ).keys == {"ask.send": ("n",)}


def test_the_environment_selects_the_file_without_an_option(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('[ui]\ntheme = "quay"\n')
    assert quick_ui(None, {"MCPTUI_CONFIG": str(path)}).theme == "quay"


def test_recording_settings_are_read_and_invalid_ones_give_the_defaults(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[traffic]\nkeep_all = true\nrecording_mb = 7\n")
    assert quick_tap({"MCPTUI_CONFIG": str(path)}, "a") == (True, 7 * 1024 * 1024, [])
    path.write_text("[traffic]\nkeep_all = 1\nrecording_mb = true\n")
    assert quick_tap({"MCPTUI_CONFIG": str(path)}, "a") == (False, 512 * 1024 * 1024, [])
    assert quick_tap({"MCPTUI_CONFIG": str(tmp_path / "none")}, "a") == (False, 512 * 1024 * 1024, [])


def test_secret_arguments_of_one_server_are_read_and_invalid_ones_ignored(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[servers]\na = { secret_arguments = ["x", 1] }\nb = { secret_arguments = "y" }\nc = 3\n')
    env = {"MCPTUI_CONFIG": str(path)}
    assert [quick_tap(env, name)[2] for name in "abcd"] == [["x"], ["y"], [], []]
