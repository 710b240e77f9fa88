"""The driver: the last size of the terminal is the one used."""

import asyncio
import os
import pty
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
from textual.app import App
from textual.events import Key, Resize
from textual.geometry import Size
from textual.messages import InBandWindowResize

from tests.conftest import until

if sys.platform == "win32":
    pytest.skip("Windows has Textual's own driver", allow_module_level=True)

from tui.ui.platform.driver import MOST_COLUMNS, MOST_ROWS, RobustDriver, Sign, _pieces


class Window(RobustDriver):
    """A driver whose window is resized while its size is read."""

    def __init__(self, app: App[None], descriptor: int) -> None:
        self.window = (80, 24)
        self.next: list[tuple[int, int]] = []
        super().__init__(app)
        self.fileno = descriptor
        self._file = os.fdopen(os.dup(descriptor), "w")

    def _get_terminal_size(self) -> tuple[int, int]:
        found = self.window
        if self.next:
            self.resize(*self.next.pop(0))
        return found

    def resize(self, columns: int, rows: int) -> None:
        self.window = columns, rows
        signal.raise_signal(signal.SIGWINCH)


@pytest.fixture
def terminal() -> Iterator[int]:
    master, slave = pty.openpty()
    before = signal.getsignal(signal.SIGWINCH)
    yield slave
    signal.signal(signal.SIGWINCH, before)
    os.close(master)
    os.close(slave)


@pytest.fixture
async def app() -> AsyncIterator[App[None]]:
    app: App[None] = App()
    async with app.run_test(size=(80, 24)):
        yield app


@pytest.fixture
async def driver(app: App[None], terminal: int) -> AsyncIterator[Window]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    driver = Window(app, terminal)
    yield driver
    driver.stop_application_mode()
    driver.close()
    driver._file.close()
    for number, handler in handlers.items():
        signal.signal(number, handler)


async def test_a_size_read_during_a_resize_is_read_again(app: App[None], driver: Window) -> None:
    driver.start_application_mode()
    driver.next = [(120, 40)]
    driver.resize(1, 1)
    await until(lambda: app.screen.size == Size(120, 40))
    await settled(app)
    assert app.size == app.screen.size == Size(120, 40)


async def test_a_resize_during_startup_is_noticed(app: App[None], driver: Window) -> None:
    driver.next = [(120, 40)]
    driver.start_application_mode()
    await until(lambda: app.screen.size == Size(120, 40))
    await settled(app)
    assert app.size == app.screen.size == Size(120, 40)


async def test_a_window_resized_and_restored_at_once_is_repainted(
    app: App[None], driver: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.start_application_mode()
    await settled(app)
    refreshed: list[dict[str, bool]] = []
    monkeypatch.setattr(app, "refresh", lambda **how: refreshed.append(how))
    driver.resize(80, 24)
    await until(lambda: refreshed == [{"layout": True}])


async def test_sizes_reported_by_the_terminal_take_precedence_until_the_app_is_suspended(
    app: App[None], driver: Window
) -> None:
    driver.start_application_mode()
    driver.process_message(InBandWindowResize(True, True))
    driver.resize(120, 40)
    await settled(app)
    assert app.size == Size(80, 24)
    driver.suspend_application_mode()
    driver.resume_application_mode()
    driver.resize(100, 30)
    await until(lambda: app.screen.size == Size(100, 30))


async def test_a_stop_while_the_terminal_is_being_left_waits_until_it_is_left(
    driver: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops: list[bool] = []
    monkeypatch.setattr("tui.ui.platform.driver._stop_process", lambda: stops.append(driver._has_terminal))
    driver.start_application_mode()
    driver._has_terminal = False
    driver._sigtstp_application()
    assert stops == []
    driver._has_terminal = True
    await until(lambda: stops == [False])


async def settled(app: App[None]) -> None:
    """Wait until the app has handled the pending sizes and passed them to its screen."""
    for _ in range(3):
        handled = asyncio.Event()
        app.call_later(handled.set)
        await handled.wait()
    await until(lambda: app._resize_timer is None)


@pytest.mark.parametrize("size", [(10**9, 10**9), (65_535, 65_535), (10**30, 3)])
async def test_only_a_part_of_a_huge_terminal_is_used(
    size: tuple[int, int], app: App[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size(size))
    expected = min(size[0], MOST_COLUMNS), min(size[1], MOST_ROWS)
    driver = RobustDriver(app)
    assert driver._size == driver._get_terminal_size() == expected
    driver.process_message(Resize.from_dimensions(size, None))
    await until(lambda: app.size == Size(*expected))


def test_a_typed_emoji_is_one_key_with_its_joiners():
    typed = "a漢👨‍👩‍👧b\x1b[A🇳🇴1️⃣"
    assert list(_pieces(typed)) == [
        ("a漢", False),
        ("👨‍👩‍👧", True),
        ("b\x1b[A", False),
        ("🇳🇴", True),
        ("1️⃣", False),  # it starts with a key; its other parts count as printable
    ]
    assert Sign("👨‍👩‍👧").is_printable
    assert Sign("👨‍👩‍👧").handler_name == Key("a", "a").handler_name
