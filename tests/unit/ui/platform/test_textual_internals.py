"""The private names that painting takes from Textual 8.2.8, and what happens without them."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count

import pytest
import textual.message_pump
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Label

from tui.ui.platform.textual_internals import (
    keep_late_timers,
    paint_first,
    paint_now,
    set_virtual_size,
    work_at_every_size,
)


class _Stage(App[None]):
    def compose(self) -> ComposeResult:
        yield ScrollView()


async def test_a_widget_that_needs_painting_is_painted_at_once() -> None:
    async with _Stage().run_test() as pilot:
        view = pilot.app.query_one(ScrollView)
        view.refresh()
        paint_now(pilot.app.screen, (view,))
        assert not view._repaint_required
        assert not pilot.app.screen._dirty_widgets


async def test_without_the_private_names_a_widget_is_painted_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _Stage().run_test() as pilot:
        view = pilot.app.query_one(ScrollView)
        with monkeypatch.context() as patch:
            patch.setattr(Screen, "_on_timer_update", None)
            view.refresh()
            paint_now(pilot.app.screen, (view,))
            assert view._repaint_required
        await pilot.pause()
        assert not view._repaint_required


class _Two(App[None]):
    def compose(self) -> ComposeResult:
        yield Label("one", id="one")
        yield Label("two", id="two")


@pytest.fixture
async def painted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[_Two, list[set[str]]]]:
    """An app with two widgets, and the ids of the widgets in each painting."""
    app, painted = _Two(), list[set[str]]()
    async with app.run_test() as pilot:
        await pilot.pause()
        update, compositor = app.screen._compositor.update_widgets, app.screen._compositor

        def update_widgets(widgets: set[Widget]) -> None:
            painted.append({str(widget.id) for widget in widgets})
            update(widgets)

        monkeypatch.setattr(compositor, "update_widgets", update_widgets)
        monkeypatch.setattr(App, "message_queue_size", 0)
        yield app, painted


async def test_the_first_widget_is_painted_alone_and_the_others_later(painted) -> None:
    app, paintings = painted
    one, two = app.query_one("#one"), app.query_one("#two")
    app.screen._dirty_widgets.add(one)
    two.refresh()
    paint_first(two)
    assert paintings == [{"two"}]
    assert app.screen._dirty_widgets == {one}
    assert not two._repaint_required


async def test_the_first_widget_is_painted_while_others_are_mounted(painted, monkeypatch) -> None:
    app, _ = painted
    shown: list[int] = []
    monkeypatch.setattr(app.screen, "_compositor_refresh", lambda: shown.append(app._batch_count))
    with app.batch_update():
        app.query_one("#two").refresh()
        paint_first(app.query_one("#two"))
        assert shown == [0]
        assert app._batch_count == 1


@pytest.mark.parametrize("name", ["_dirty_widgets", "_compositor_refresh", "_compositor"])
async def test_without_a_private_name_no_widget_is_painted_first(painted, monkeypatch, name) -> None:
    app, paintings = painted
    two = app.query_one("#two")
    two.refresh()
    with monkeypatch.context() as patch:
        patch.setattr(app.screen, name, None)
        paint_first(two)
    assert paintings == []
    assert two._repaint_required


@pytest.mark.parametrize(("changed", "keys"), [(False, 0), (True, 1)], ids=["unchanged", "more keys wait"])
async def test_a_widget_that_must_wait_is_not_painted_first(painted, monkeypatch, changed, keys) -> None:
    app, paintings = painted
    monkeypatch.setattr(App, "message_queue_size", keys)
    if changed:
        app.query_one("#two").refresh()
    paint_first(app.query_one("#two"))
    assert paintings == []


@pytest.mark.parametrize("has_private_name", [True, False])
async def test_a_view_can_scroll_to_the_end_of_its_new_size(
    monkeypatch: pytest.MonkeyPatch, has_private_name: bool
) -> None:
    async with _Stage().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(ScrollView)
        with monkeypatch.context() as patch:
            if not has_private_name:
                patch.setattr(view, "_scroll_update", None)
            set_virtual_size(view, Size(10, 100))
        await pilot.pause()
        assert view.virtual_size == Size(10, 100)
        assert view.max_scroll_y == 76


@pytest.mark.parametrize("width", [-3, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("text_wrap", ["wrap", "nowrap"])
@pytest.mark.parametrize("line_pad", [0, 1])
@pytest.mark.parametrize("text", ["", "Ask anything", "北京 27 °C", "a\nb"])
def test_text_has_a_height_and_rows_at_every_width(
    text: str, line_pad: int, text_wrap: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Content, "_wrap_and_format", Content._wrap_and_format)  # as it was, after the test
    work_at_every_size()
    rules = {"line_pad": line_pad, "text_wrap": text_wrap, "text_overflow": "fold"}
    assert Content(text).get_height(rules, width) >= 1
    assert Content(text).wrap(width)


async def test_a_timer_that_starts_late_is_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual.message_pump, "Timer", Timer)
    keep_late_timers()
    clock = count()  # advances by a second with each reading, as on a busy machine
    async with _Stage().run_test() as pilot:
        done = asyncio.Event()
        with monkeypatch.context() as patch:
            patch.setattr("textual.timer._time.get_time", lambda: float(next(clock)))
            pilot.app.set_timer(1 / 120, done.set)
            await asyncio.wait_for(done.wait(), 30)
