"""Threads that import wait until the event loop sleeps, within limits."""

import asyncio
import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from tui.ui.platform import busy_loop
from tui.ui.platform.busy_loop import (
    FREE_SECONDS,
    KEY_SECONDS,
    LOOP,
    SWITCH,
    TYPING_SECONDS,
    BusyLoop,
    NotingSelector,
    loop_factory,
)


class Waits(threading.Event):
    """An event that does not wait: it records the timeout and calls a function first."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self._meanwhile = meanwhile
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        self._meanwhile()
        return self.is_set()


def in_a_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.fixture
def now() -> list[float]:
    return [1000.0]


@pytest.fixture
def loop(now: list[float], monkeypatch: pytest.MonkeyPatch) -> tuple[BusyLoop, Waits]:
    """A loop with a pressed key that stays busy while threads wait."""
    busy, waits = BusyLoop(lambda: now[0]), Waits()
    busy.pressed()
    monkeypatch.setattr(busy, "_asleep", waits)
    return busy, waits


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(SourceFileLoader, "exec_module", SourceFileLoader.exec_module)
    monkeypatch.setattr(builtins, "__build_class__", builtins.__build_class__)
    yield
    LOOP.sleep()


def test_a_thread_runs_while_the_loop_sleeps(loop) -> None:
    busy, waits = loop
    busy.sleep()
    in_a_thread(busy.stand_back)
    assert waits.waits == []


def test_a_thread_waits_until_the_loop_sleeps(monkeypatch) -> None:
    busy = BusyLoop()
    waits = Waits(meanwhile=busy.sleep)
    monkeypatch.setattr(busy, "_asleep", waits)
    busy.pressed()
    in_a_thread(busy.stand_back)
    busy.wake()
    in_a_thread(busy.stand_back)
    assert len(waits.waits) == 2


def test_the_thread_of_the_loop_never_waits(loop) -> None:
    busy, waits = loop
    busy.stand_back()
    assert waits.waits == []


def test_a_thread_runs_if_no_key_was_pressed_lately(loop, now) -> None:
    busy, waits = loop
    now[0] += TYPING_SECONDS
    in_a_thread(busy.stand_back)
    assert waits.waits == []


def test_after_a_wait_times_out_a_thread_does_not_wait_for_a_while(loop, now) -> None:
    busy, waits = loop
    in_a_thread(busy.stand_back)
    in_a_thread(busy.stand_back)
    assert waits.waits == [busy_loop.PATIENCE_SECONDS]
    now[0] += FREE_SECONDS
    in_a_thread(busy.stand_back)
    assert len(waits.waits) == 2


def test_the_loop_counts_as_busy_except_while_it_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr(LOOP, "sleep", lambda: noted.append("sleep"))
    monkeypatch.setattr(LOOP, "wake", lambda: noted.append("wake"))
    with NotingSelector() as selector:
        selector.select(0)
        assert noted == []
        selector.select(0.001)
        assert noted == ["sleep", "wake"]


def test_imports_in_a_thread_wait_for_the_loop(
    restored: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_politely.py").write_text("class One: ...\nclass Two: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    stood_back: list[str] = []
    monkeypatch.setattr(LOOP, "stand_back", lambda: stood_back.append(threading.current_thread().name))

    async def work() -> str:
        module = await asyncio.to_thread(import_module, "imported_politely")
        return str(module.__name__)

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        assert runner.run(work()) == "imported_politely"
    sys.modules.pop("imported_politely")
    # The module and its classes; what the loop itself imports does not count.
    assert len([name for name in stood_back if name != "MainThread"]) == 3


def test_the_switch_leaves_python_unpatched(restored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    before = builtins.__build_class__, SourceFileLoader.exec_module
    monkeypatch.setenv(SWITCH, "1")
    assert loop_factory() is None
    assert (builtins.__build_class__, SourceFileLoader.exec_module) == before


@pytest.fixture
def key(now: list[float], monkeypatch: pytest.MonkeyPatch) -> tuple[BusyLoop, Waits]:
    """A loop with a pressed key that is never painted while a thread waits."""
    busy, waits = BusyLoop(lambda: now[0]), Waits()
    monkeypatch.setattr(busy, "_painted", waits)
    busy.pressed()
    return busy, waits


def test_other_work_waits_until_a_key_is_handled(key) -> None:
    busy, waits = key
    busy.stand_back_for_key()
    assert waits.waits == [pytest.approx(KEY_SECONDS)]


def test_a_key_counts_as_handled_once_a_frame_is_painted_after_it(key) -> None:
    busy, waits = key
    busy.painted()
    busy.stand_back_for_key()
    assert len(waits.waits) == 1
    busy.taken()
    busy.painted()
    busy.stand_back_for_key()
    assert len(waits.waits) == 1


def test_a_key_that_paints_nothing_is_waited_for_only_briefly(key, now) -> None:
    busy, waits = key
    now[0] += KEY_SECONDS
    busy.stand_back_for_key()
    assert waits.waits == []


def test_other_work_gets_half_of_the_time_while_keys_paint_nothing(key, now) -> None:
    busy, waits = key
    now[0] += KEY_SECONDS
    busy.pressed()
    busy.stand_back_for_key()
    assert waits.waits == []
    now[0] += KEY_SECONDS
    busy.pressed()
    busy.stand_back_for_key()
    assert len(waits.waits) == 1


def test_other_work_waits_again_for_a_key_after_a_painted_one(key) -> None:
    busy, waits = key
    busy.taken()
    busy.painted()
    busy.pressed()
    busy.stand_back_for_key()
    assert len(waits.waits) == 1


def test_with_the_switch_no_work_waits_for_a_key(key, monkeypatch) -> None:
    busy, waits = key
    monkeypatch.setenv(SWITCH, "1")
    busy.stand_back_for_key()
    assert waits.waits == []
