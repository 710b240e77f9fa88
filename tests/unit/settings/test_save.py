"""Writing the configuration: whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from tui.core.errors import ConfigError
from tui.settings.save import add_tables, change_config, merge, server_at, write_private
from tui.settings.toml_edits import Document, set_value


def choose_theme(path: Path) -> None:
    change_config(path, lambda document: set_value(document, "quay", "ui", "theme"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_the_directories_it_needs_are_private(tmp_path: Path):
    path = tmp_path / "a" / "b" / "config.toml"
    choose_theme(path)
    assert path.read_text() == '[ui]\ntheme = "quay"\n'
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700


def test_a_file_readable_by_others_becomes_private(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\n")
    path.chmod(0o644)
    choose_theme(path)
    assert mode(path) == 0o600
    assert path.read_text().startswith("# mine\n")


def test_a_symlink_is_kept(tmp_path: Path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    choose_theme(link)
    assert link.is_symlink()
    assert "quay" in real.read_text()


@pytest.mark.parametrize("text", ["a = ", "\0", "x" * (5 << 20)])
def test_an_unreadable_file_is_never_overwritten(tmp_path: Path, text: str):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="It was not changed"):
        choose_theme(path)
    assert path.read_text() == text


def test_a_file_of_another_host_is_never_overwritten(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    with pytest.raises(ConfigError, match="belongs to another program"):
        choose_theme(path)
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
    choose_theme(path)
    before = path.stat()
    choose_theme(path)
    assert path.stat().st_ino == before.st_ino


def test_servers_are_added_and_the_rest_is_unchanged(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\n[limits]\nmax_steps = 3 # few\n")
    table = {"command": "uvx", "args": ["mcp-server-time"]}
    change_config(path, lambda document: add_tables(document, "servers", {"time": table}))
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


def change_command(path: Path) -> None:
    def change(document: Document) -> None:
        merge(server_at(document, "a"), {"command": "x"}, {"command": "y"})

    change_config(path, change)


def test_changing_a_server_keeps_its_other_keys_as_the_file_has_them(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('[servers.a]  # mine\ncommand = "x"\noff = ["one"]  # too much\n')
    change_command(path)
    assert path.read_text() == '[servers.a]  # mine\ncommand = "y"\noff = ["one"]  # too much\n'


def test_changing_a_server_never_overwrites_a_concurrent_change(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('[servers.a]\ncommand = "theirs"\n')
    with pytest.raises(ConfigError, match="`command` has changed in the file"):
        change_command(path)
    assert path.read_text() == '[servers.a]\ncommand = "theirs"\n'


def test_a_server_that_was_removed_is_not_created_by_a_change(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("[servers]\n")
    with pytest.raises(ConfigError, match="server 'a' not found"):
        change_command(path)
    assert path.read_text() == "[servers]\n"
