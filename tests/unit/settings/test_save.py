"""Writing the configuration: whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.settings.save import (
    add_servers,
    change_server,
    change_texts,
    set_in_server,
    set_value,
    write_private,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_the_directories_it_needs_are_private(tmp_path: Path):
    path = tmp_path / "a" / "b" / "config.toml"
    set_value(path, "ui.theme", "quay")
    assert path.read_text() == '[ui]\ntheme = "quay"\n'
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700


def test_a_file_readable_by_others_becomes_private(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\n")
    path.chmod(0o644)
    set_value(path, "ui.theme", "quay")
    assert mode(path) == 0o600
    assert path.read_text().startswith("# mine\n")


def test_a_symlink_is_kept(tmp_path: Path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    set_value(link, "ui.theme", "quay")
    assert link.is_symlink()
    assert "quay" in real.read_text()


@pytest.mark.parametrize("text", ["a = ", "\0", "x" * (5 << 20)])
def test_an_unreadable_file_is_never_overwritten(tmp_path: Path, text: str):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="It was not changed"):
        set_value(path, "ui.theme", "quay")
    assert path.read_text() == text


def test_a_file_of_another_host_is_never_overwritten(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    with pytest.raises(ConfigError, match="belongs to another program"):
        set_value(path, "ui.theme", "quay")
    assert path.read_text() == "{}"


def test_a_failed_write_leaves_only_the_old_file(tmp_path: Path, monkeypatch):
    path = tmp_path / "config.toml"
    path.write_text("old = 1\n")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_private(path, "new = 1\n")
    assert path.read_text() == "old = 1\n"
    assert os.listdir(tmp_path) == ["config.toml"]


def test_an_unwritable_path_is_an_error_with_a_next_step(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="Nothing was changed"):
        write_private(tmp_path / "file" / "config.toml", "x = 1\n")


def test_nothing_is_written_if_nothing_changes(tmp_path: Path):
    path = tmp_path / "config.toml"
    set_value(path, "ui.theme", "quay")
    before = path.stat()
    set_value(path, "ui.theme", "quay")
    assert path.stat().st_ino == before.st_ino


def test_servers_are_added_and_the_rest_is_unchanged(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\n[limits]\nmax_steps = 3 # few\n")
    add_servers(path, {"time": {"command": "uvx", "args": ["mcp-server-time"]}})
    assert path.read_text().startswith("# mine\n[limits]\nmax_steps = 3 # few\n\n[servers.time]\n")


def test_a_device_or_fifo_is_not_replaced(tmp_path: Path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(ConfigError, match="cannot be written"):  # a fifo without a reader must not block
        write_private(fifo, "x = 1\n")
    handle = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_private(fifo, "x = 1\n")
        assert os.read(handle, 100) == b"x = 1\n" and fifo.is_fifo()
    finally:
        os.close(handle)


def test_a_file_name_of_255_bytes_is_written(tmp_path: Path):
    write_private(tmp_path / ("n" * 250 + ".toml"), "x = 1\n")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def test_texts_are_added_to_the_current_list_in_the_file(tmp_path: Path):
    path = tmp_path / "config.toml"
    assert change_texts(path, "approvals.remembered", ["b"]) == ["b"]
    path.write_text('# mine\n[approvals]\nremembered = ["theirs"] # added by another\n')
    assert change_texts(path, "approvals.remembered", ["c"]) == ["c", "theirs"]
    assert (
        path.read_text()
        == '# mine\n[approvals]\nremembered = [\n    "c",\n    "theirs",\n] # added by another\n'
    )


def test_adding_nothing_returns_the_list_and_changes_nothing(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[approvals]\nremembered = ["b", "a"]\n')
    assert change_texts(path, "approvals.remembered", []) == ["a", "b"]
    assert path.read_text() == '[approvals]\nremembered = ["b", "a"]\n'


def test_a_value_that_is_not_a_list_is_not_overwritten(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('approvals = { remembered = "all" }\n')
    with pytest.raises(ConfigError, match="is not an array"):
        change_texts(path, "approvals.remembered", ["a"])
    assert path.read_text() == 'approvals = { remembered = "all" }\n'


def test_changing_a_server_keeps_its_other_keys_as_the_file_has_them(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('[servers.a]  # mine\ncommand = "x"\noff = ["one"]  # too much\n')
    change_server(path, "a", {"command": "y"}, {"command": "x"})
    assert path.read_text() == '[servers.a]  # mine\ncommand = "y"\noff = ["one"]  # too much\n'


def test_changing_a_server_never_overwrites_a_concurrent_change(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('[servers.a]\ncommand = "theirs"\n')
    with pytest.raises(ConfigError, match="`command` has changed in the file"):
        change_server(path, "a", {"command": "mine"}, {"command": "x"})
    assert path.read_text() == '[servers.a]\ncommand = "theirs"\n'


def test_a_setting_of_a_server_is_made_from_the_present_one(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('[servers."a.b"]\ncommand = "x"  # mine\noff = ["one"]\n')
    set_in_server(path, "a.b", "off", lambda present: [*present, "two"])
    assert path.read_text() == '[servers."a.b"]\ncommand = "x"  # mine\noff = ["one", "two"]\n'


def test_a_setting_does_not_create_a_server_that_was_removed(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers]\n")
    with pytest.raises(ConfigError, match="server 'a' not found"):
        set_in_server(path, "a", "off", lambda present: ["one"])
    assert path.read_text() == "[servers]\n"
