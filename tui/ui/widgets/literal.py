"""Static text that is shown as it is: no markup, nothing that a server could smuggle in."""

from textual.content import Content
from textual.widgets import Static

from tui.core.text import clean


class Literal(Static):
    """A Static whose text is cleaned and never parsed.

    Textual parses markup in every Static by default; a server's `[/x]` would end the app and its
    `[@click=app.quit]` would run. Use this one for every text, trusted or not.
    """

    def __init__(
        self,
        text: str = "",
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(Content(clean(text)), markup=False, name=name, id=id, classes=classes)

    def show(self, text: str) -> None:
        """Replace the text."""
        self.update(Content(clean(text)))
