"""Heavy imports take turns."""

import gc
import threading

from tui.core.library_imports import importing


def test_a_second_thread_waits_until_the_first_has_finished():
    order: list[str] = []

    def second() -> None:
        with importing():
            order.append("second")

    with importing():
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_imports_may_nest_in_one_thread():
    with importing(), importing():
        assert not gc.isenabled()
    assert gc.isenabled()
