"""The garbage collector is paused while something is imported, and always runs again afterwards."""

import gc

import pytest

from tui.core.library_imports import collector_paused, enable_collector


@pytest.fixture(autouse=True)
def _enabled():
    yield
    gc.enable()


def test_the_collector_is_off_during_a_pause_and_on_afterwards():
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_is_on_again_after_an_error():
    with pytest.raises(ZeroDivisionError), collector_paused():
        _ = 1 / 0
    assert gc.isenabled()


def test_the_collector_remains_off_until_the_last_pause_ends():
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_disabled_collector_remains_off_after_a_pause():
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_enabling_the_collector_during_a_pause_takes_effect_at_the_end():
    gc.disable()
    with collector_paused():
        enable_collector()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_enabling_the_collector_without_a_pause_takes_effect_at_once():
    gc.disable()
    enable_collector()
    assert gc.isenabled()
