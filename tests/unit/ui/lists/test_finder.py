"""The finder, as a screen."""

from tests.ui.stage import Stage
from tui.ui.keys.action_table import Context
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.lists.finder import Finder, FinderScreen
from tui.ui.widgets.rows import EMPTY


async def test_keys_reach_the_field_also_before_it_has_the_focus():
    texts: list[str] = []
    finder = Finder(
        Context.RULES,
        KeyOverrides(),
        "a word",
        filter_items=texts.append,
        take=lambda key: None,
        about=lambda key: EMPTY,
        offers=lambda action: True,
    )
    async with Stage().run_test(size=(80, 24)) as pilot:
        screen: FinderScreen[None] = FinderScreen(finder)
        await pilot.app.push_screen(screen)
        screen.set_focus(None)
        await pilot.press("a", "b")
        await pilot.pause()
        assert (finder.field.value, texts[-1]) == ("ab", "ab")
