"""The model picker: the configured profiles, the one in use marked."""

from collections.abc import Sequence

from textual.content import Content

from tui.core.text import clean_line
from tui.ui.screens.picker import Choice, Picker

NAME_CELLS = 16
NO_MODELS = "No model is configured. Add one under [models] in the configuration; the demo goes on meanwhile."


class ModelPicker(Picker):
    """Gives the name of the chosen profile, or None.

    Args:
        profiles: name and description ("gpt-5.1 at api.openai.com") of each profile.
        current: name of the one in use, or "".
    """

    def __init__(self, profiles: Sequence[tuple[str, str]], current: str = "") -> None:
        choices = [
            Choice(name, Content(f"{clean_line(name, NAME_CELLS):<{NAME_CELLS}} {clean_line(about, 80)}"))
            for name, about in profiles
        ]
        super().__init__("MODEL", choices, current, NO_MODELS)
