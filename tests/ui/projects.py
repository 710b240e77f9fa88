"""A project with a server of its own, whose calls are kept and copied."""

import shutil
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "protocol" / "keeping_server.py"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a project with a server."""
    (tmp_path / "pyproject.toml").touch()
    shutil.copy(SOURCE, tmp_path / "weather.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path
