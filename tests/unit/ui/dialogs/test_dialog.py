"""Dialogs have one of two shapes; the rules of both."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.geometry import Region
from textual.screen import ModalScreen

import tui
from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, shows
from tests.ui.fakes import FakeRuntime
from tests.ui.stage import Stage
from tui.ui.app.command_palette import Palette
from tui.ui.dialogs.dialog import LIST, NARROW, PANEL, WIDE, WIDE_PANEL, Dialog, Frame, ViewScreen, heading
from tui.ui.dialogs.help import HelpScreen
from tui.ui.dialogs.picker import Content, Picker
from tui.ui.dialogs.text_dialogs import SayWhy, SystemText
from tui.ui.widgets.literal import Literal

SIZES = ((80, 24), (120, 40), (200, 60), (20, 10))
MANY = [(str(number), Content(f"choice {number}")) for number in range(60)]


def modal_screens(of: type[Any] = ModalScreen) -> Iterator[type[Any]]:
    for found in of.__subclasses__():
        yield found
        yield from modal_screens(found)


def test_every_modal_screen_is_a_card_a_panel_or_a_whole_screen() -> None:
    for module in pkgutil.walk_packages(tui.__path__, "tui."):
        if "ui" in module.name.split(".") or ".addons." in module.name:
            import_module(module.name)
    of_textual = "tui.ui.platform."  # Textual's own screens, mended
    found = [one for one in modal_screens() if one.__module__.startswith("tui.")]
    ours = {one for one in found if not one.__module__.startswith(of_textual)}
    assert len(ours) > 30
    assert {one for one in ours if not issubclass(one, Dialog | ViewScreen | Palette)} == set()
    dialogs = [one for one in ours if issubclass(one, Dialog)]
    assert {one.SHAPE for one in dialogs} <= {NARROW, WIDE, LIST, PANEL, WIDE_PANEL}
    assert {one for one in dialogs if "compose" in vars(one)} == {Dialog}, "one order of its parts"


class Text(Dialog[None]):
    def __init__(self, rows: int) -> None:
        text = Literal("\n".join(f"line {number}" for number in range(rows)))
        super().__init__(heading("Some text"), text, keys=self.key_line())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", [NARROW, WIDE, LIST])
async def test_a_card_is_in_the_middle_and_no_wider_than_its_shape(size: tuple[int, int], shape: str) -> None:
    async with Stage().run_test(size=size) as pilot:
        dialog: Dialog[None] = Dialog(heading("Title"), Literal("text"), keys=Literal("keys"), shape=shape)
        await pilot.app.push_screen(dialog)
        await pilot.pause()
        frame = dialog.query_one(Frame).region
        widest = {NARROW: 80, WIDE: 110, LIST: 150}[shape]
        assert frame.width == (size[0] if size[0] < 80 else min(widest, max(80, size[0] * 94 // 100)))
        assert abs(frame.x - (size[0] - frame.right)) <= 1 and abs(frame.y - (size[1] - frame.bottom)) <= 1
        lines = [line.strip(" ▌") for line in screen_text(pilot.app).split("\n")]
        assert [line for line in lines if line] == ["TITLE", "text", "keys"]


@pytest.mark.parametrize("size", SIZES)
async def test_a_panel_is_at_the_right_edge_with_all_of_its_keys(size: tuple[int, int]) -> None:
    async with Stage().run_test(size=size) as pilot:
        await pilot.app.push_screen(Picker("Copy as", MANY))
        await pilot.pause()
        frame = pilot.app.screen.query_one(Frame).region
        assert (frame.width, frame.right) == (min(48, size[0]), size[0])
        assert "COPY AS" in screen_text(pilot.app) and "enter select" in screen_text(pilot.app)


@pytest.mark.parametrize("size", [(80, 24), (20, 24)])
@pytest.mark.parametrize("row", [2, 12, 21])
async def test_a_menu_opens_beside_its_field_within_the_screen(size: tuple[int, int], row: int) -> None:
    async with Stage().run_test(size=size) as pilot:
        await pilot.app.push_screen(Picker("Size", MANY[:8], at=Region(4, row, 30, 1)))
        frame = pilot.app.screen.query_one(Frame)
        await until(lambda: row in (frame.region.y - 1, frame.region.bottom))
        assert frame.region.height == 8 and frame.region in pilot.app.screen.region


async def test_typed_text_is_only_discarded_by_a_second_escape() -> None:
    given: list[str | None] = []
    async with Stage().run_test(size=(80, 24)) as pilot:
        pilot.app.push_screen(SayWhy("notes", "delete"), given.append)
        await pilot.press(*"no", "escape")
        await until(lambda: "Press esc again to discard your changes." in screen_text(pilot.app))
        await pilot.press("t", "escape")
        assert given == [], "more was typed"
        await pilot.press("escape")
        assert given == [None]


@pytest.mark.parametrize("key", ["f1", "f9", "f10", "f12", "ctrl+t", "ctrl+p", "ctrl+l", "alt+t"])
async def test_a_second_press_of_the_key_that_opened_a_dialog_closes_it(key: str) -> None:
    async with opened(FakeRuntime(), (100, 30)) as (app, pilot):
        await shows(app, "Ask anything")
        await pilot.press(key)
        await until(lambda: isinstance(app.screen, Dialog | CommandPalette | ViewScreen), what=key)
        await pilot.press(key)
        await until(lambda: app.screen is app.main, what=f"{key} again")


async def test_a_configured_key_closes_what_it_opened_also_after_it_was_opened_from_the_palette() -> None:
    runtime = FakeRuntime()
    async with opened(runtime, (100, 30)) as (app, pilot):
        app.apply_ui(app.theme, {"app.help": "f11"})
        app.action_app_help()
        await until(lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("f11")
        await until(lambda: app.screen is app.main)


async def test_the_key_that_opened_a_dialog_does_not_discard_what_was_typed() -> None:
    async with opened(FakeRuntime(), (100, 30)) as (app, pilot):
        await shows(app, "Ask anything")
        await pilot.press("f12", *"be brief", "f12")
        assert isinstance(app.screen, SystemText)
        await shows(app, "Press f12 again to discard your changes.")
        await pilot.press("f12")
        await until(lambda: app.screen is app.main)
