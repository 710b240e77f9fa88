"""The finder, as a screen."""

from tests.ui.stage import Stage
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.lists.finder import FinderScreen


class Words(FinderScreen[None]):
    CONTEXTS = (Context.RULES,)
    PLACEHOLDER = "a word"
    shown = ""

    def filter(self, text: str) -> None:
        self.shown = text


async def test_keys_reach_the_field_also_before_it_has_the_focus():
    async with Stage().run_test(size=(80, 24)) as pilot:
        screen = Words(KeyOverrides())
        await pilot.app.push_screen(screen)
        screen.set_focus(None)
        await pilot.press("a", "b")
        await pilot.pause()
        assert (screen.field.value, screen.shown) == ("ab", "ab")
