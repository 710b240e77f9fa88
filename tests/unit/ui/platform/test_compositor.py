"""The compositor that renders dirty lines only and writes only what the terminal does not show yet."""

import random
from collections.abc import AsyncIterator

import pyte
import pytest
import textual.screen
from rich.segment import Segment
from textual._compositor import Compositor
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.ui.platform import compositor
from tui.ui.platform.compositor import LineCompositor

COLUMNS, ROWS = 40, 12


class Lines(Widget):
    """Shows numbered lines, and records which were requested."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.texts = [f"{name}{y}" for y in range(ROWS)]
        self.asked: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.asked.append(y)
        return Strip([Segment(self.texts[y])]).adjust_cell_length(self.size.width)

    def change(self, y: int, text: str) -> None:
        self.texts[y] = text
        self.refresh(Region(0, y, self.size.width, 1))


class Overlapping(App[None]):
    """Two panes beside each other, and a third over both."""

    CSS = """
    Screen { layers: below above; }
    Horizontal { layer: below; }
    Lines { width: 1fr; height: 100%; }
    #c { layer: above; offset: 15 3; width: 9; height: 4; }
    """

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Lines("a")
            yield Lines("b")
        yield Lines("c")

    def lines(self, name: str) -> Lines:
        return self.query_one(f"#{name}", Lines)

    def partly(self, *changed: Lines) -> str:
        """Return what is written once these widgets have changed."""
        found = self.screen._compositor
        found.update_widgets(set(changed))
        update = found.render_partial_update()
        assert isinstance(update, compositor.LinesUpdate)
        return update.render_segments(self.console)

    def wholly(self) -> str:
        return self.screen._compositor.render_full_update().render_segments(self.console)


@pytest.fixture
async def app(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Overlapping]:
    monkeypatch.setattr(textual.screen, "Compositor", LineCompositor)
    app = Overlapping()
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        await pilot.pause()
        for pane in app.query(Lines):
            pane._exchange_repaint_regions()
        app.wholly()
        yield app


async def test_only_dirty_lines_are_rendered(app: Overlapping) -> None:
    for name in "abc":
        app.lines(name).asked.clear()
    app.lines("a").change(9, "new")
    app.lines("b").change(1, "new")
    app.partly(app.lines("a"), app.lines("b"))
    assert (app.lines("a").asked, app.lines("b").asked, app.lines("c").asked) == ([9], [1], [])


async def test_an_unchanged_line_is_not_written_again(app: Overlapping) -> None:
    pane = app.lines("a")
    pane.change(2, "new")
    assert "new" in app.partly(pane)
    pane.change(2, "new")
    assert app.partly(pane) == ""


async def test_after_a_full_update_every_changed_line_is_written(app: Overlapping) -> None:
    pane = app.lines("a")
    pane.change(2, "new")
    app.partly(pane)
    app.wholly()
    pane.change(2, "new")
    assert "new" in app.partly(pane)


async def test_after_a_layout_every_changed_line_is_written(app: Overlapping) -> None:
    pane = app.lines("a")
    pane.change(2, "new")
    app.partly(pane)
    app.screen._compositor.reflow(app.screen, app.size)
    pane.change(2, "new")
    assert "new" in app.partly(pane)


@pytest.mark.parametrize("seed", range(5))
async def test_partial_updates_show_the_same_as_a_full_update(app: Overlapping, seed: int) -> None:
    chance = random.Random(seed)
    shown, wanted = pyte.Screen(COLUMNS, ROWS), pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(shown).feed(app.wholly())
    for step in range(60):
        changed = [app.lines(chance.choice("abc")) for _ in range(chance.randint(1, 3))]
        for pane in changed:
            y, width = chance.randrange(pane.size.height), pane.size.width
            pane.texts[y] = chance.choice(("same", f"text {step}", "wide 漢字 漢字 漢字"))
            left = chance.randrange(width)
            crop = chance.choice((Region(0, y, width, 1), Region(0, 0, width, pane.size.height)))
            pane.refresh(Region(left, y, width - left, 1), crop)
        pyte.Stream(shown).feed(app.partly(*changed))
    wanted.reset()
    pyte.Stream(wanted).feed(app.wholly())
    assert shown.display == wanted.display


async def test_an_environment_variable_keeps_the_compositor_of_textual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(textual.screen, "Compositor", Compositor)
    monkeypatch.setenv("MCPTUI_WHOLE_FRAMES", "1")
    compositor.install()
    assert textual.screen.Compositor is Compositor
    monkeypatch.setenv("MCPTUI_WHOLE_FRAMES", "0")
    compositor.install()
    assert textual.screen.Compositor is LineCompositor
