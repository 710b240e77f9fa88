"""The terminal's cursor is at the caret of every field, where input methods compose. Asked of the terminal.

Typed characters must appear at the left of the cursor.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp, home_in

F1, F3, F4, F9, F10, F12 = "\x1bOP", "\x1bOR", "\x1bOS", "\x1b[20~", "\x1b[21~", "\x1b[24~"
CTRL_F, CTRL_N, CTRL_P, CTRL_R = "\x06", "\x0e", "\x10", "\x12"

Place = tuple[int, int]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[TerminalApp]:
    with TerminalApp.real("--demo", env=home_in(tmp_path), columns=100, rows=30) as app:
        app.shows("try an example")
        yield app


def cursor(app: TerminalApp) -> Place:
    return app.screen.cursor.x, app.screen.cursor.y


def left(app: TerminalApp, cells: int = 1) -> str:
    """Return the character at the left of the cursor, which takes so many cells."""
    x, y = cursor(app)
    return app.screen.buffer[y][x - cells].data if x >= cells else ""


def opened(app: TerminalApp, *steps: str) -> None:
    """Press keys and wait for texts, in turn."""
    for key, shown in zip(steps[::2], steps[1::2], strict=True):
        app.send(key)
        app.shows(shown)


def written(app: TerminalApp) -> None:
    """Type a narrow, a wide and a narrow character, each of which must appear at the left of the cursor."""
    for letter, cells in (("ж", 1), ("漢", 2), ("ю", 1)):
        app.send(letter)
        app.until(lambda letter=letter, cells=cells: left(app, cells) == letter)


def test_it_is_in_the_input_from_the_first_frame(app: TerminalApp) -> None:
    x, y = cursor(app)
    assert app.screen.buffer[y][x].data == "A"  # of the placeholder
    assert app.screen.cursor.hidden
    written(app)


@pytest.mark.parametrize(
    "steps",
    [
        (CTRL_R, "history ›"),
        (CTRL_P, "Search for commands"),
        (F9, "title or words"),
        (F10, "model, profile or URL"),
        (F12, "instruction to you"),
        (F3, "s start/stop", "P", "a rule, or a call to try"),
        (F3, "s start/stop", "P", "a rule, or a call to try", CTRL_N, "new rule ›"),
        (F4, "TRAFFIC", "/", "filter ›"),
        (F4, "TRAFFIC", CTRL_F, "search ›"),
        (F3, "s start/stop", "l", "LOG weather", "/", "search ›"),
        (F3, "s start/stop", "\r", "WORKBENCH", "/", "name or description"),
    ],
    ids=lambda steps: steps[-1].strip(" ›"),
)
def test_it_is_in_the_field_of_a_screen(app: TerminalApp, steps: tuple[str, ...]) -> None:
    opened(app, *steps)
    written(app)
    app.resize(80, 24)
    app.until(lambda: left(app) == "ю")
    written(app)


def test_it_is_in_every_field_of_a_dialog(app: TerminalApp) -> None:
    opened(app, F3, "s start/stop", "a", "Add")
    written(app)
    for _ in range(2):
        before = cursor(app)
        app.send("\t")
        app.until(lambda before=before: cursor(app) != before)
        written(app)


def test_it_is_in_a_field_of_the_workbench_and_after_a_resize(app: TerminalApp) -> None:
    opened(app, F3, "s start/stop", "\r", "location  text", "\r", "enter next")
    written(app)
    app.resize(80, 24)
    app.until(lambda: left(app) == "ю")
    written(app)


def test_it_follows_a_text_that_wraps(app: TerminalApp) -> None:
    app.send("wide 漢字 and more " * 12 + "end")
    app.until(lambda: "more end" in app.text and left(app) == "d")
    for size in ((60, 20), (140, 40)):
        app.resize(*size)
        app.until(lambda: "more end" in app.text and left(app) == "d")
    written(app)


def test_it_returns_to_the_input_after_a_dialog(app: TerminalApp) -> None:
    written(app)
    opened(app, F10, "model, profile or URL")
    app.send("\x1b")
    app.until(lambda: "model, profile or URL" not in app.text and left(app) == "ю")
    written(app)


def test_it_follows_a_field_that_gets_letters_without_the_focus(app: TerminalApp) -> None:
    opened(app, F1, "Type to filter")
    app.send("q\t")  # to the lines below
    app.until(lambda: left(app) == "q")
    written(app)


def test_it_stays_in_the_input_while_an_approval_has_the_keys(app: TerminalApp) -> None:
    app.shows("4 tools")
    opened(app, "add a note: milk\r", "y once")
    app.resize(80, 24)
    app.shows("y once")
    app.until(lambda: app.screen.buffer[cursor(app)[1]][cursor(app)[0]].data == "A")  # of the placeholder
