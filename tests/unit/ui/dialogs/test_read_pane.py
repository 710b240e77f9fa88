"""Which lines of a question have been on screen."""

import threading
from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tui.ui.dialogs import read_pane
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.widgets.rows import Row, wrap

MAIN = threading.main_thread()
LINES = [((f"line {number}", "text"),) for number in range(100)]


class Stage(App[None]):
    """Shows a pane of ten rows."""

    def __init__(self, lines: int | Callable[[], list[Row]] = 100) -> None:
        super().__init__()
        self.told: list[str] = []
        self.pane = ReadPane(lines if callable(lines) else LINES[:lines])

    def on_read_pane_read(self) -> None:
        self.told.append(self.pane.unread)

    def compose(self) -> ComposeResult:
        self.pane.styles.height = 10
        yield self.pane


async def told(app: Stage, words: str) -> None:
    """Wait until the pane has reported the unread lines."""

    def is_told() -> bool:
        screen_text(app)  # paints
        return bool(app.told) and app.told[-1] == words

    await until(is_told, what=words)


async def test_lines_that_fit_count_as_read_at_once():
    app = Stage(10)
    async with app.run_test():
        await told(app, "")


def test_no_line_counts_as_read_before_the_layout():
    assert Stage(10).pane.unread == "nothing shown yet"


async def test_jumping_over_lines_leaves_them_unread():
    app = Stage()
    async with app.run_test() as pilot:
        await told(app, "90 lines not shown yet (pgdn)")
        await pilot.press("end")
        await told(app, "80 lines not shown yet (pgup)")
        await pilot.press("home")
        screen_text(app)
        await pilot.press("pagedown")
        await told(app, "71 lines not shown yet (pgdn)")
        for left in (62, 53, 44, 35, 26, 17, 8):
            await pilot.press("pagedown")
            await told(app, f"{left} lines not shown yet (pgdn)")
        await pilot.press("pagedown")
        await told(app, "")


@pytest.mark.parametrize("columns", [40, 120])
async def test_lines_wrapped_to_another_width_must_be_read_again(columns: int):
    app = Stage()
    async with app.run_test() as pilot:
        await told(app, "90 lines not shown yet (pgdn)")
        await pilot.press("end")
        await told(app, "80 lines not shown yet (pgup)")
        await pilot.press("home")
        await pilot.resize_terminal(columns, 24)
        await told(app, "90 lines not shown yet (pgdn)")


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The length of each line that is laid out in the thread of the event loop."""
    found: list[int] = []

    def counted(row: Row, cells: int) -> list[Row]:
        if threading.current_thread() is MAIN:
            found.append(sum(len(text) for text, _ in row))
        return wrap(row, cells)

    monkeypatch.setattr(read_pane, "wrap", counted)
    return found


@pytest.mark.parametrize("text", ["x" * 100_000, "漢" * 100_000, "abcd\n" * 20_000])
async def test_a_long_text_is_laid_out_off_the_event_loop(text: str, laid_out: list[int]):
    app = Stage(lambda: [((line, "text"),) for line in text.split("\n")])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(lambda: "line" in app.pane.unread, what="laid out")
        await pilot.resize_terminal(40, 24)
        await until(lambda: "line" in app.pane.unread, what="laid out again")
        assert app.pane.row_count() > 1000
    assert sum(laid_out) <= AT_ONCE


async def test_an_unprepared_text_does_not_count_as_read():
    may_go_on = threading.Event()

    def lines() -> list[Row]:
        assert threading.current_thread() is not MAIN
        may_go_on.wait(60)
        return list(LINES[:3])

    app = Stage(lines)
    async with app.run_test():
        await told(app, "not prepared yet")
        assert "Preparing…" in screen_text(app)
        may_go_on.set()
        await told(app, "")
        assert "line 2" in screen_text(app)
