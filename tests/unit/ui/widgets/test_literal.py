"""Static text that nothing can make into markup."""

from textual.app import App, ComposeResult

from tui.ui.widgets.literal import Literal

HOSTILE = "[/x] [@click=app.quit]go[/] \x1b[31m"


class _App(App[None]):
    def compose(self) -> ComposeResult:
        yield Literal(HOSTILE)


async def test_markup_and_control_characters_of_a_text_are_shown_as_they_are():
    async with _App().run_test() as pilot:
        literal = pilot.app.query_one(Literal)
        shown = str(literal.render())
        assert shown.startswith("[/x] [@click=app.quit]go[/] ") and "\x1b" not in shown
        literal.show("[b]new")
        assert str(literal.render()) == "[b]new"
