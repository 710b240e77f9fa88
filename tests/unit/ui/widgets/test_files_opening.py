"""Opening a file with the system's program."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tui.ui.widgets.files import open_file, opener


class Notified:
    """Replaces the app and records its notifications."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def notify(self, message: str, **_: Any) -> None:
        self.told.append(message)


@pytest.mark.parametrize(
    ("platform", "program"), [("linux", "xdg-open"), ("darwin", "open"), ("win32", "explorer.exe")]
)
def test_each_system_has_its_opener_and_the_file_is_never_an_option(platform: str, program: str):
    command = opener(Path("--help"), platform)
    assert command[0] == program and Path(command[1]).is_absolute()


async def test_the_opener_gets_the_file_as_one_argument(tmp_path: Path):
    file, app = tmp_path / "a b; rm -rf $HOME.txt", Notified()
    seen = tmp_path / "seen"
    code = f"import sys, pathlib; pathlib.Path({str(seen)!r}).write_text(sys.argv[1])"
    await open_file(app, file, (sys.executable, "-c", code, str(file)))  # type: ignore[arg-type]
    await until(seen.exists)
    assert seen.read_text() == str(file) and app.told == []


async def test_a_missing_opener_is_reported_with_the_path(tmp_path: Path):
    app = Notified()
    await open_file(app, tmp_path / "a.png", ("no-such-opener", "x"))  # type: ignore[arg-type]
    assert "Cannot start no-such-opener: " in app.told[0] and str(tmp_path / "a.png") in app.told[0]


async def test_an_opener_that_fails_is_reported(tmp_path: Path):
    app = Notified()
    await open_file(app, tmp_path / "a.odd", (sys.executable, "-c", "raise SystemExit(3)"))  # type: ignore[arg-type]
    assert "found no program for a.odd" in app.told[0]
