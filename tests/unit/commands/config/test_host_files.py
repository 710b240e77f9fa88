"""Files of other hosts: changed under a backup, and what runs this mcptui from them."""

import os
import stat
from pathlib import Path

import pytest

from tui.commands.config.host_files import backup_of, change_file, launcher, parsed, refuse_link
from tui.core.errors import ConfigError, UsageError


def test_a_change_keeps_mode_and_byte_order_mark_and_a_private_backup(tmp_path: Path):
    path, backup = tmp_path / "mcp.json", backup_of(tmp_path / "mcp.json")
    path.write_bytes(b"\xef\xbb\xbf{}")
    path.chmod(0o640)
    change_file(path, lambda text: f"{text}\n", backup)
    assert path.read_bytes() == b"\xef\xbb\xbf{}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (backup.read_bytes(), stat.S_IMODE(backup.stat().st_mode)) == (b"\xef\xbb\xbf{}", 0o600)


def test_a_file_that_is_gone_is_only_created_if_that_was_shown(tmp_path: Path):
    path, backup = tmp_path / "new" / "mcp.json", backup_of(tmp_path / "mcp.json")
    with pytest.raises(ConfigError, match="was removed meanwhile"):
        change_file(path, lambda _: "{}", backup)
    change_file(path, lambda text: text + "{}", backup, create=True)
    assert path.read_text() == "{}" and not backup.exists()


def test_a_file_that_becomes_empty_is_deleted(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    change_file(path, lambda _: "", backup_of(path))
    assert not path.exists() and backup_of(path).read_text() == "{}"


def test_a_line_that_is_not_json_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"mcp\.json:2: is not JSON"):
        parsed("{\n x", tmp_path / "mcp.json")


def test_a_link_is_not_followed_without_a_question(tmp_path: Path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(UsageError, match="symbolic link"):
        refuse_link(tmp_path / "link.json")


def test_the_launcher_needs_no_path():
    program, *_ = launcher()
    assert os.path.isabs(program) and os.access(program, os.X_OK)
