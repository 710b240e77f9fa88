"""Literal: static text without markup or control characters."""

from textual.content import Content
from textual.widgets import Static

from tui.core.text import clean


class Literal(Static):
    """A Static whose text is cleaned and never parsed.

    Textual parses markup in every Static by default: `[/x]` from a server would crash the app, and
    `[@click=app.quit]` would run. Use this class for every text, trusted or not.
    """

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(Content(clean(text)), markup=False, id=id, classes=classes)

    def show(self, text: str) -> None:
        self.update(Content(clean(text)))
