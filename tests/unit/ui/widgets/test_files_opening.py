"""Opening a file with the system's program: which command, and what is said when it fails."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tui.ui.widgets.files import open_file, opener


class Notified:
    """Stands for the app; keeps what it was to tell."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def notify(self, message: str, **_: Any) -> None:
        self.told.append(message)


@pytest.mark.parametrize(
    ("platform", "program"), [("linux", "xdg-open"), ("darwin", "open"), ("win32", "explorer.exe")]
)
def test_each_system_has_its_way_and_the_file_is_never_an_option(platform: str, program: str):
    command = opener(Path("--help"), platform)
    assert command[0] == program and Path(command[1]).is_absolute()


async def test_the_program_is_given_the_file_as_one_argument(tmp_path: Path):
    file, app = tmp_path / "a b; rm -rf $HOME.txt", Notified()
    seen = tmp_path / "seen"
    code = f"import sys, pathlib; pathlib.Path({str(seen)!r}).write_text(sys.argv[1])"
    await open_file(app, file, (sys.executable, "-c", code, str(file)))  # type: ignore[arg-type]
    await until(seen.exists)
    assert seen.read_text() == str(file) and app.told == []


async def test_a_program_that_is_not_there_is_told_with_where_the_file_is(tmp_path: Path):
    app = Notified()
    await open_file(app, tmp_path / "a.png", ("no-such-opener", "x"))  # type: ignore[arg-type]
    assert "no-such-opener could not be started" in app.told[0] and str(tmp_path / "a.png") in app.told[0]


async def test_a_system_without_a_program_for_the_file_says_so(tmp_path: Path):
    app = Notified()
    await open_file(app, tmp_path / "a.odd", (sys.executable, "-c", "raise SystemExit(3)"))  # type: ignore[arg-type]
    assert "found no program for a.odd" in app.told[0]
