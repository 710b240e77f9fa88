"""Symbolic links in place of mcptui's own files are reported at the start."""

from pathlib import Path

import pytest

from tui.runtime.refused_links import refused_links


def test_each_symlink_in_the_state_and_data_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert refused_links() == []
    (tmp_path / "state" / "mcptui").mkdir(parents=True)
    (tmp_path / "state" / "mcptui" / "mcptui.log").symlink_to("/etc/passwd")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mcptui").symlink_to(tmp_path)
    log, data = refused_links()
    assert log == (
        f"{tmp_path}/state/mcptui/mcptui.log is a symbolic link, which mcptui does not follow here. "
        "Nothing is saved there. Replace the link with the file or folder itself."
    )
    assert data.startswith(f"{tmp_path}/data/mcptui is a symbolic link")
