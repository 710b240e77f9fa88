"""Full collections run while no keys are pressed, and hardly ever otherwise."""

import ctypes
import gc
from collections.abc import Iterator

import pytest
from textual.app import App

from tui.ui.platform import memory as collecting
from tui.ui.platform.memory import LEAST, MOST, GcPauses, return_freed_memory


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Replace the functions that would change the garbage collector of the tests."""
    done: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: done.append("collect"))
    monkeypatch.setattr(gc, "freeze", lambda: done.append("freeze"))
    monkeypatch.setattr(gc, "set_threshold", lambda *given: done.append(f"threshold {given[2]}"))
    yield done


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(collecting.time, "monotonic", lambda: now[0])
    return now


def set_count(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, count))


def test_garbage_is_collected_if_it_is_enough_and_no_keys_are_pressed(collections, now, monkeypatch) -> None:
    set_count(monkeypatch, LEAST)
    watched = GcPauses()
    watched.key()
    now[0] += 1
    watched.look()
    assert collections == []
    now[0] += 2
    watched.look()
    watched.look()
    assert collections == ["collect", "freeze", "collect"]  # what was newly loaded is frozen once
    set_count(monkeypatch, LEAST - 1)
    watched.look()
    assert len(collections) == 3


async def test_only_a_disabled_collector_is_enabled_with_another_threshold(collections) -> None:
    async with App[None]().run_test() as pilot:
        with GcPauses().importing(pilot.app):
            pass
        assert collections == []
        gc.disable()
        try:
            with GcPauses().importing(pilot.app):
                assert not gc.isenabled()
            assert gc.isenabled()
        finally:
            gc.enable()
    assert collections == ["freeze", f"threshold {MOST}"]


@pytest.mark.parametrize("error", [OSError, AttributeError])
def test_a_c_library_without_malloc_trim_is_ignored(monkeypatch: pytest.MonkeyPatch, error: type[Exception]):
    def library(name: str) -> None:
        raise error(name)

    monkeypatch.setattr(ctypes, "CDLL", library)
    return_freed_memory()
