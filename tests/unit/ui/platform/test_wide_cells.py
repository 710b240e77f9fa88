"""Wide characters of a widget in front of the edges of others, with Textual 8.2.8."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import textual.content
from textual._compositor import Compositor
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from tui.ui.platform.wide_cells import break_wide_texts, keep_wide_characters
from tui.ui.widgets.rows import breaks

NOTICE = "服务器“weather”不受信任，其调用需要审批。"


class Panes(App[None]):
    """Two panes with a line between them, and a notice over both."""

    CSS = """
    Screen { layers: below above; }
    Horizontal { layer: below; height: 3; }
    .pane { width: 1fr; }
    #line { width: 1; }
    #notice { layer: above; height: 1; width: 50; }
    """

    def __init__(self, shift: int) -> None:
        super().__init__()
        self._shift = shift

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("左" * 60, classes="pane")
            yield Static("│\n│\n│", id="line")
            yield Static("右" * 60, classes="pane")
        yield Static("x" * self._shift + NOTICE, id="notice")


@contextmanager
def whole_characters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(Compositor, "_render_chops", Compositor._render_chops)
        keep_wide_characters()
        yield


@pytest.mark.parametrize("shift", range(4))
async def test_a_character_over_the_edge_of_another_widget_is_painted(shift, monkeypatch):
    with whole_characters(monkeypatch):
        async with Panes(shift).run_test(size=(61, 5)) as pilot:
            lines = pilot.app.screen._compositor.render_strips()
            assert f"{'x' * shift}{NOTICE} " in lines[0].text
            assert {line.cell_length for line in lines} == {61}


async def test_a_change_behind_a_character_leaves_it_whole(monkeypatch):
    with whole_characters(monkeypatch):
        async with Panes(0).run_test(size=(61, 5)) as pilot:
            pilot.app.screen.query(".pane").last(Static).update("new")
            await pilot.pause()
            assert pilot.app.screen._compositor.render_strips()[0].text.startswith(NOTICE)


async def test_a_character_that_is_partly_behind_another_widget_is_not(monkeypatch):
    with whole_characters(monkeypatch):
        async with Panes(0).run_test(size=(61, 5)) as pilot:
            pilot.app.query_one("#notice").styles.offset = (1, 1)
            await pilot.pause()
            row = pilot.app.screen._compositor.render_strips()[1]
            assert row.text.startswith(f" {NOTICE}")
            assert row.cell_length == 61


def test_without_the_private_names_textual_paints(monkeypatch):
    monkeypatch.delattr(Compositor, "_get_renders")
    before = Compositor._render_chops
    keep_wide_characters()
    assert Compositor._render_chops is before


def test_a_text_of_wide_characters_is_wrapped_between_them(monkeypatch):
    monkeypatch.setattr(textual.content, "divide_line", textual.content.divide_line)
    break_wide_texts(breaks)
    lines = Content("mcptui 会为此与服务器保持一条流，重启后也一样。").wrap(20)
    assert [str(line) for line in lines] == ["mcptui 会为此与服务", "器保持一条流，重启后", "也一样。"]
