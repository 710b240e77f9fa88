"""The private names that painting takes from Textual 8.2.8, what happens without them, and painted lines."""

import asyncio
import gc
from collections.abc import AsyncIterator
from itertools import count, product

import pytest
import textual.message_pump
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.cache import FIFOCache
from textual.color import Color
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Label

from tui.ui.platform.textual_internals import (
    ControlFilter,
    create_caches_on_use,
    keep_late_timers,
    padded,
    paint_first,
    paint_now,
    row_of,
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


@pytest.mark.parametrize("text", ["", "Ask anything", "北京 27 °C", "a\nb"])
def test_text_has_a_height_and_rows_at_every_width(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Content, "_wrap_and_format", Content._wrap_and_format)  # as it was, after the test
    work_at_every_size()
    for line_pad, text_wrap, width in product((0, 1), ("wrap", "nowrap"), (-3, -1, 0, 1, 2, 3)):
        rules = {"line_pad": line_pad, "text_wrap": text_wrap, "text_overflow": "fold"}
        assert Content(text).get_height(rules, width) >= 1, (rules, width)
        assert Content(text).wrap(width), width


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


BLACK = Color(0, 0, 0)


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF)))
def test_no_control_character_is_painted(text):
    (segment,) = ControlFilter().apply([Segment(text)], BLACK)
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in segment.text)


def test_the_rest_of_an_escape_sequence_is_plain_text_in_the_same_style():
    bold = Style(bold=True)
    assert ControlFilter().apply([Segment("a\x1b]52;c;aGk=\x07b", bold)], BLACK) == [
        Segment("a]52;c;aGk=b", bold)
    ]


def test_clean_lines_are_passed_on_unchanged():
    line = [Segment("北京 ▸ "), Segment("ok")]
    assert ControlFilter().apply(line, BLACK) is line


PLAIN = Style()


@pytest.mark.parametrize(
    ("text", "shown"), [("ab", "ab  "), ("日本", "日本"), ("日本語", "日本"), ("a日本", "a日 ")]
)
def test_a_row_is_padded_or_cropped_to_its_width(text: str, shown: str) -> None:
    strip = row_of([Segment(text, PLAIN)], 4, PLAIN)
    assert (strip.text, strip.cell_length) == (shown, 4)


def test_a_row_is_shifted_within_its_width() -> None:
    strip = row_of([Segment("abcd", PLAIN)], 4, PLAIN)
    assert padded(strip, 0, 4, PLAIN) is strip
    assert padded(strip, 2, 5, PLAIN).text == "  abc"


def test_strips_of_textual_create_a_cache_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strip, "__init__", Strip.__init__)  # both as they were, after the test
    monkeypatch.setattr(Strip, "__getattr__", None, raising=False)
    create_caches_on_use()
    strip = Strip([Segment("hello world", PLAIN)])
    assert not any(isinstance(found, FIFOCache) for found in gc.get_referents(strip))
    assert strip.crop(1, 3).text == "el"
    assert strip.crop(1, 3) is strip.crop(1, 3) is not Strip([]).crop(1, 3)
    assert strip.divide([5, 11]) is strip.divide([5, 11])
    assert [part.text for part in strip.divide([5, 11])] == ["hello", " world"]
    assert not hasattr(strip, "no_such_name")


def test_strips_that_are_created_in_another_way_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def created_otherwise(strip: Strip, segments: list[Segment], width: int, height: int) -> None: ...

    monkeypatch.setattr(Strip, "__init__", created_otherwise)
    create_caches_on_use()
    assert Strip.__init__ is created_otherwise
