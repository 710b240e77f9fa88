"""The theme picker: the whole screen wears the theme that the mark stands on."""

from collections.abc import Sequence

from textual.content import Content

from tui.settings.themes import ThemeSpec
from tui.ui.dialogs.picker import Choice, Picker
from tui.ui.widgets import theming

NAME_CELLS = 16
_SWATCH = ("accent", "user", "model", "tool", "ok", "warn", "bad")


class ThemePicker(Picker):
    """Gives the name of the chosen theme, which the app wears by then, or None with the old one back.

    Args:
        specs: the themes to choose from.
        current: name of the theme that the app wears.
    """

    def __init__(self, specs: Sequence[ThemeSpec], current: str) -> None:
        super().__init__("THEME", [Choice(spec.name, _prompt(spec)) for spec in specs], current)
        self._specs = specs
        self._before = current

    def on_mount(self) -> None:
        """Make every theme known to the app; until now it knew only the one that it wears."""
        theming.register(self.app, self._specs)

    def marked(self, value: str) -> None:
        """Wear the theme."""
        if self.app.theme != value:
            self.app.theme = value

    def action_back(self) -> None:
        """Wear the old theme again."""
        self.app.theme = self._before
        self.dismiss(None)


def _prompt(spec: ThemeSpec) -> Content:
    """Return a line with the name, dark or light, and the theme's own colours on its own ground."""
    colours = spec.colours()
    ground = colours["surface"]
    swatch = [(f" {'●'}", f"{colours[role]} on {ground}") for role in _SWATCH]
    kind = "dark " if spec.dark else "light"
    return Content.assemble(
        f"{spec.name[:NAME_CELLS]:<{NAME_CELLS}} ", kind, "  ", *swatch, (" ", f"on {ground}")
    )
