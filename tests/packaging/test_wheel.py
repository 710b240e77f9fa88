"""The wheel and the sdist are complete and work outside the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str | Path, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, and the sdist beside it, with the installed hatchling; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder)
    (found,) = folder.glob("*.whl")
    return found


def build(source: Path, into: Path, *what: str) -> None:
    run(sys.executable, "-m", "hatchling", "build", *what, "--directory", into, cwd=source)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install only the wheel into a fresh environment; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", python, *install, wheel, cwd=folder)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    # A path in a .pth file adds the packages there but not their .pth files, so no editable mcptui.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


def test_the_wheel_contains_everything_that_ships(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("themes", "sample_config"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"tui/_shipped/{path.relative_to(ROOT).as_posix()}" in names
    assert "tui/py.typed" in names
    assert "tui/locale/zh_CN/LC_MESSAGES/mcptui.mo" in names
    assert not [name for name in names if name.endswith(".po")]
    assert {path.name for path in (ROOT / "tui/model/dialects").glob("*.txt")} == {
        Path(name).name for name in names if name.startswith("tui/model/dialects/") and name.endswith(".txt")
    }


def test_the_wheel_contains_nothing_but_the_package(wheel: Path):
    roots = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in roots if not name.endswith(".dist-info")} == {"tui"}
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".pyc")]


def test_the_installed_package_finds_its_shipped_files(installed: Path):
    code = (
        "import tui.settings.locations as s; print(s.shipped_dir('themes')); print(s.sample_server('notes'))"
    )
    themes, notes = run(installed / "venv/bin/python", "-c", code, cwd=installed).splitlines()
    for found in (themes, notes):
        assert str(installed) in found
        assert Path(found).exists()


def test_the_command_is_also_installed_under_the_package_name(installed: Path):
    said = {
        run(installed / "venv/bin" / name, "--version", cwd=installed) for name in ("mcptui", "mcptui-host")
    }
    assert len(said) == 1


def test_the_sdist_builds_a_wheel_with_the_same_files(wheel: Path, tmp_path: Path):
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        checked: dict[str, Any] = (
            {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        )  # since 3.11.4
        archive.extractall(tmp_path, **checked)
    build(next(tmp_path.glob("*/")), tmp_path, "--target", "wheel")
    (rebuilt,) = tmp_path.glob("*.whl")
    assert sorted(zipfile.ZipFile(rebuilt).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_the_installed_command_starts_the_sample_servers(installed: Path):
    found = json.loads(run(installed / "venv/bin/mcptui", "servers", "--json", cwd=installed))
    assert [server["name"] for server in found] == ["weather", "notes", "slow"]
    assert all(server["tools"] >= 2 for server in found)


def test_the_installed_command_writes_a_valid_starter_configuration(installed: Path):
    config = installed / "config.toml"
    run(installed / "venv/bin/mcptui", "config", "init", "--config", config, cwd=installed)
    assert "OK" in run(installed / "venv/bin/mcptui", "config", "check", "--config", config, cwd=installed)
