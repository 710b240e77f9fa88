"""The private names that painting takes from Textual 8.2.8, and what happens without them."""

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView

from tui.ui.platform.textual_internals import paint_now, set_virtual_size


class _Stage(App[None]):
    def compose(self) -> ComposeResult:
        yield ScrollView()


async def test_a_widget_that_needs_it_is_painted_at_once() -> None:
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


@pytest.mark.parametrize("has_private_name", [True, False])
async def test_a_view_scrolls_as_far_as_its_new_size(
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
