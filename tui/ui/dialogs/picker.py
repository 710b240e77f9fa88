"""Dialogs with a list of choices at the right edge, so that the screen behind them stays visible."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tui.core.matching import has_words
from tui.core.text import abridged, padded
from tui.settings.themes import ThemeSpec
from tui.ui.keys.bindings import shown_keys
from tui.ui.widgets import theme_colors
from tui.ui.widgets.bar import KeyLine
from tui.ui.widgets.inputs import LIST_KEYS, Field, type_into
from tui.ui.widgets.literal import Literal

MOST_ROWS = 24
"""Rows of the longest list that is still easy to scan."""


AROUND = 6
"""Rows of the dialog outside the list, without a field."""

FROM = 10
"""Minimum number of choices for a field that filters them."""


Choice = tuple[str, Content]
"""The value that selecting a line of a picker returns, and the line."""


class Picker(ModalScreen[str | None]):
    """Returns the value of the selected choice, or None; shows `note` if there are no choices.

    With `finds`, the list may be long: it is filtered by what the user types.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *LIST_KEYS,
        Binding("enter", "take", "select", priority=True),
        Binding("escape", "back", "back", priority=True),
        Binding("q", "letter('back')", "back", show=False, priority=True),
        Binding("j", "letter('step',1)", "down", show=False, priority=True),
        Binding("k", "letter('step',-1)", "up", show=False, priority=True),
        Binding("space", "letter('take')", "select", show=False, priority=True),
    ]

    stays = str

    DEFAULT_CSS = """
    Picker { align: right middle; }
    Picker > Vertical {
        width: 48; max-width: 100%; height: auto; max-height: 100%; padding: 1 2;
        background: $panel; border-left: outer $accent;
    }
    Picker .heading { text-style: bold; margin-bottom: 1; }
    Picker OptionList {
        height: auto; border: none; padding: 0; color: $foreground;
        background: $panel; background-tint: transparent; scrollbar-size-vertical: 1;
    }
    Picker OptionList:focus { border: none; background-tint: transparent; }
    Picker Input { height: 1; margin-bottom: 1; background: $panel; background-tint: transparent; }
    Picker.-finds > Vertical { width: 72; }
    Picker.-finds OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(
        self,
        heading: str,
        choices: Sequence[Choice],
        current: str = "",
        note: str = "",
        *,
        finds: bool = False,
    ) -> None:
        super().__init__()
        self._heading = heading
        self._choices = self._all = tuple(choices)
        self._current = current
        self._note = note
        self._sifted = ""
        has_field = finds and len(choices) >= FROM
        self._field = Field(placeholder="type to filter", max_length=200, compact=True) if has_field else None
        self._finds = finds
        self.set_class(finds, "-finds")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Literal(self._heading, classes="heading")
            if not self._choices:
                yield Literal(self._note)
                yield KeyLine(shown_keys(self.BINDINGS)[1:])
                return
            if self._field is not None:
                yield self._field
            values = [value for value, _ in self._choices]
            options = OptionList(*[Option(prompt) for _, prompt in self._choices], markup=False)
            options.highlighted = values.index(self._current) if self._current in values else 0
            yield options
            yield KeyLine(shown_keys(self.BINDINGS))

    def on_resize(self, event: events.Resize) -> None:
        around = AROUND + 2 * self._finds
        for options in self.query(OptionList):
            options.styles.max_height = max(1, min(MOST_ROWS, event.size.height - around))

    def on_mount(self) -> None:
        """Keep the screen behind visible, whatever background the app gives to screens."""
        self.styles.background = "transparent"
        if self._field is not None:
            self._field.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a picker that finds, letters are text."""
        return not (action == "letter" and self._finds) and super().check_action(action, parameters)

    def on_key(self, event: events.Key) -> None:
        if self._field is not None:
            type_into(self._field, event)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter()

    def _filter(self) -> None:
        text = self._field.value if self._field is not None else ""
        if text == self._sifted:
            return
        self._sifted = text
        self._choices = tuple(one for one in self._all if has_words(one[1].plain, text))
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(prompt) for _, prompt in self._choices])
        options.highlighted = 0 if self._choices else None

    def marked(self, value: str) -> None:
        """Called when a choice is highlighted."""

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self.marked(self._choices[event.option_index][0])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._give(self._choices[event.option_index][0])

    def action_take(self) -> None:
        self._filter()  # apply letters typed before this key in the same burst
        for options in self.query(OptionList):
            if options.highlighted is not None:
                value, _ = self._choices[options.highlighted]
                self.marked(value)
                self._give(value)

    def _give(self, value: str | None) -> None:
        if self.is_current:
            self.dismiss(value)

    def action_step(self, direction: int, by: str = "cursor") -> None:
        for options in self.query(OptionList):
            getattr(options, f"action_{by}_{'down' if direction > 0 else 'up'}")()

    def action_page(self, direction: int) -> None:
        self.action_step(direction, "page")

    def action_letter(self, what: str, *how: int) -> None:
        """Do what another key does, for a letter."""
        getattr(self, f"action_{what}")(*how)

    def action_back(self) -> None:
        self._give(None)


NAME_CELLS = 16
_SWATCH = ("accent", "user", "model", "tool", "ok", "warn", "bad")


class ThemePicker(Picker):
    """Previews the highlighted theme on the whole app; returns the name of the selected one, or None.

    The app's theme, `current`, is restored on cancel.
    """

    def __init__(self, specs: Sequence[ThemeSpec], current: str) -> None:
        super().__init__("THEME", [(spec.name, _prompt(spec)) for spec in specs], current)
        self._specs = specs

    def on_mount(self) -> None:
        """Register every theme: so far, the app only knows the current one."""
        for spec in self._specs:
            self.app.register_theme(theme_colors.theme_of(spec))

    def marked(self, value: str) -> None:
        if self.app.theme != value:
            self.app.theme = value

    def action_back(self) -> None:
        self.app.theme = self._current
        self.dismiss(None)


def _prompt(spec: ThemeSpec) -> Content:
    """Return a line with the name, "dark" or "light", and the theme's colors on its own background."""
    colours = spec.colours()
    ground = colours["surface"]
    swatch = [(" ●", f"{colours[role]} on {ground}") for role in _SWATCH]
    name = f"{padded(abridged(spec.name, NAME_CELLS), NAME_CELLS)} {'dark ' if spec.dark else 'light'}  "
    return Content.assemble(name, *swatch, (" ", f"on {ground}"))
