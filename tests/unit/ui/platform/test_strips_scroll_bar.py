"""The scroll bar with cached lines."""

from collections.abc import AsyncIterator

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from tui.ui.platform.strips import LineScrollBar, add_scroll_bar

HEIGHT = 20


class Pane(ScrollView):
    """A pane with the scroll bar and more lines than it shows."""

    def on_mount(self) -> None:
        self.virtual_size = Size(10, 10_000)

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        add_scroll_bar(self)
        return super().vertical_scrollbar


class Panes(App[None]):
    """One pane."""

    def compose(self) -> ComposeResult:
        yield Pane()

    def bar(self) -> LineScrollBar:
        bar = self.query_one(Pane).vertical_scrollbar
        assert isinstance(bar, LineScrollBar)
        return bar


@pytest.fixture
async def app() -> AsyncIterator[Panes]:
    app = Panes()
    async with app.run_test(size=(40, HEIGHT)) as pilot:
        await pilot.pause()
        app.bar().position = 3_000
        yield app


def lines(bar: ScrollBar) -> list[Strip]:
    found = bar.render_lines(Region(0, 0, *bar.size))
    assert len(found) == HEIGHT
    return found


async def test_the_bar_looks_like_the_one_of_textual(app: Panes) -> None:
    bar = app.bar()
    stock = ScrollBar.render_lines(bar, Region(0, 0, *bar.size))
    assert [list(strip) for strip in lines(bar)] == [list(strip) for strip in stock]


async def test_the_lines_are_cached_while_the_bar_is_unchanged(app: Panes) -> None:
    bar = app.bar()
    before = lines(bar)
    bar.window_virtual_size += 1
    assert all(new is old for new, old in zip(lines(bar), before, strict=True))


async def test_the_lines_follow_the_scroll_position(app: Panes) -> None:
    bar = app.bar()
    before = [list(strip) for strip in lines(bar)]
    bar.position = 9_000
    assert [list(strip) for strip in lines(bar)] != before
