"""The private names that a crash takes from Textual 8.2.8, and what happens without them."""

from collections.abc import Callable

import pytest
import textual
from textual.app import App

from tests.conftest import until
from tui.ui.platform.textual_internals import close_at_once, crash, report_crash


class _Stage(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.reports: list[BaseException] = []
        report_crash(self, self.reports.append)

    def fail(self) -> None:
        raise ValueError(16)


def test_textual_has_the_private_names_in_use():
    assert textual.__version__.startswith("8.")
    for name in ("_fatal_error", "_handle_exception", "_close_messages_no_wait"):
        assert callable(getattr(App, name))


RAISERS: dict[str, Callable[[_Stage], object]] = {
    "handler": lambda app: app.call_later(app.fail),
    "timer": lambda app: app.set_timer(0.001, app.fail),
}


@pytest.mark.parametrize("raises", RAISERS.values(), ids=RAISERS)
async def test_an_unhandled_exception_is_reported_once(raises: Callable[[_Stage], object]) -> None:
    app = _Stage()
    with pytest.raises(ValueError, match="16"):
        async with app.run_test() as pilot:
            raises(app)
            await until(lambda: app.reports)
            await pilot.pause()
    assert [repr(one) for one in app.reports] == ["ValueError(16)"]


async def test_without_the_private_name_the_current_exception_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = _Stage()
    async with app.run_test():
        monkeypatch.setattr(app, "_exception", None)
        try:
            app.fail()
        except ValueError:
            app._fatal_error()
    assert repr(app.reports[0]) == "ValueError(16)"


@pytest.mark.parametrize("has_private_name", [True, False])
async def test_an_error_from_outside_ends_the_app(
    monkeypatch: pytest.MonkeyPatch, has_private_name: bool
) -> None:
    app = _Stage()
    with pytest.raises(KeyError):
        async with app.run_test() as pilot:
            with monkeypatch.context() as patch:
                if not has_private_name:
                    patch.setattr(app, "_handle_exception", None)
                crash(app, KeyError("outside"))
            await pilot.pause()
    assert repr(app.reports[0]) == "KeyError('outside')"


@pytest.mark.parametrize("has_private_name", [True, False])
async def test_the_app_closes_with_or_without_the_private_name(
    monkeypatch: pytest.MonkeyPatch, has_private_name: bool
) -> None:
    app = _Stage()
    async with app.run_test():
        with monkeypatch.context() as patch:
            if not has_private_name:
                patch.setattr(app, "_close_messages_no_wait", None)
            close_at_once(app)
        await until(lambda: not app.is_running, what="closed")
