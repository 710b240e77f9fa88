"""Files written by a run: private regardless of the umask, and never through a symlink."""

import os
import stat
from pathlib import Path

import pytest

from tests.protocol.command import mcptui
from tests.terminal.pty_app import home_in

ASKED = ("run", "--demo", "--session", "rain", "Weather in Oslo?")


def modes(home: Path) -> dict[str, str]:
    """Return the mode of everything below `home` by its path."""
    return {
        str(path.relative_to(home)): ("d" if path.is_dir() else "f")
        + oct(stat.S_IMODE(path.lstat().st_mode))[2:]
        for path in home.rglob("*")
    }


@pytest.mark.parametrize("umask", [0, 0o777])
async def test_everything_a_run_writes_is_private(tmp_path: Path, umask: int):
    before = os.umask(umask)
    try:
        done = await mcptui(*ASKED, **home_in(tmp_path))
    finally:
        os.umask(before)
    assert done.code == 0, done.err
    found = modes(tmp_path)
    assert "mcptui/servers/weather" in found
    assert {".mcptrace", ".mcpsession"} <= {Path(path).suffix for path in found}
    loose = {path: mode for path, mode in found.items() if mode not in ("d700", "f600")}
    assert loose == {}


@pytest.mark.parametrize("name", ["sessions", "recordings", "mcptui.log", "servers"])
async def test_a_symlink_in_place_of_a_state_folder_is_refused_and_reported(tmp_path: Path, name: str):
    home, theirs = tmp_path / "home", tmp_path / "theirs"
    (home / "mcptui").mkdir(parents=True)
    theirs.mkdir()
    (home / "mcptui" / name).symlink_to(theirs)
    done = await mcptui(*ASKED, **home_in(home))
    assert done.code == 0
    assert f"mcptui: {home}/mcptui/{name} is a symbolic link, which mcptui does not follow" in done.err
    assert list(theirs.iterdir()) == [] and "Traceback" not in done.err


async def test_nothing_is_written_through_a_symlink(tmp_path: Path):
    first, home, theirs = tmp_path / "first", tmp_path / "home", tmp_path / "theirs"
    await mcptui(*ASKED, "--approve", "all", **home_in(first))
    own = {path.name: path.is_dir() for path in (first / "mcptui").iterdir()}
    assert {"definitions", "sessions", "servers"} <= own.keys()
    (home / "mcptui").mkdir(parents=True)
    theirs.mkdir()
    for name, is_folder in own.items():
        (theirs / name).mkdir() if is_folder else (theirs / name).write_text("theirs")
        (home / "mcptui" / name).symlink_to(theirs / name)
    done = await mcptui(*ASKED, "--approve", "all", **home_in(home))
    assert "Traceback" not in done.err
    assert {path.name for path in theirs.rglob("*")} == own.keys()
    assert all(path.read_text() == "theirs" for path in theirs.iterdir() if path.is_file())


async def test_a_symlink_in_place_of_a_session_is_refused_and_reported(tmp_path: Path):
    await mcptui(*ASKED, **home_in(tmp_path))
    (kept,) = (tmp_path / "mcptui" / "sessions").glob("*.mcpsession")
    moved = tmp_path / "moved"
    kept.rename(moved)
    kept.symlink_to(moved)
    before = moved.read_bytes()
    for arguments in (("sessions",), ("sessions", "show", kept.stem)):
        done = await mcptui(*arguments, **home_in(tmp_path))
        assert "it is a symbolic link, which" in done.out + done.err
        assert "Traceback" not in done.err
    assert moved.read_bytes() == before


async def test_the_configuration_folder_can_be_a_symlink(tmp_path: Path):
    home, dotfiles = tmp_path / "home", tmp_path / "dotfiles"
    (home / "config").mkdir(parents=True)
    dotfiles.mkdir()
    (home / "config" / "mcptui").symlink_to(dotfiles)
    done = await mcptui("config", "init", **home_in(home) | {"XDG_CONFIG_HOME": str(home / "config")})
    assert done.code == 0, done.err
    assert (dotfiles / "config.toml").is_file()


@pytest.mark.parametrize("command", [("servers",), ("call", "weather", "get_weather", "location=Rome")])
async def test_an_unwritable_state_folder_is_reported_once(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("in the way")
    done = await mcptui(*command, **home_in(tmp_path) | {"XDG_STATE_HOME": str(tmp_path / "file" / "state")})
    assert done.code == 0
    assert done.err.count("nothing was recorded: ") == 1 and done.err.count("recorded") == 1
