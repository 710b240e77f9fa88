"""Dialogs with a list of choices at the right edge, so that the screen behind them stays visible."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tui.settings.themes import ThemeSpec
from tui.ui.widgets import theme_colors
from tui.ui.widgets.bar import KeyLine
from tui.ui.widgets.inputs import Field, type_into
from tui.ui.widgets.literal import Literal

MOST_ROWS = 24
"""Rows of the longest list that is still easy to scan."""


@dataclass(frozen=True, slots=True)
class PickerChoice:
    """A line of a picker, and the value that selecting it returns."""

    value: str
    prompt: Content


class Picker(ModalScreen[str | None]):
    """Returns the value of the selected choice, or None; shows `note` if there are no choices."""

    # Priority: a key in the list's queue would be handled late, and act on the next dialog.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "back", priority=True),
        Binding("down,j", "step('down')", "down", show=False, priority=True),
        Binding("up,k", "step('up')", "up", show=False, priority=True),
        Binding("enter,space", "take", "select", show=False, priority=True),
    ]

    AROUND: ClassVar[int] = 6
    """Rows of the dialog outside the list."""

    YIELDS = True
    """Closes when the user goes to a region of the main screen."""

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
    """

    def __init__(
        self, heading: str, choices: Sequence[PickerChoice], current: str = "", note: str = ""
    ) -> None:
        super().__init__()
        self._heading = heading
        self._choices = tuple(choices)
        self._current = current
        self._note = note

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Literal(self._heading, classes="heading")
            if not self._choices:
                yield Literal(self._note)
                yield KeyLine([("esc", "back")])
                return
            yield from self.above()
            values = [choice.value for choice in self._choices]
            options = OptionList(*[Option(choice.prompt) for choice in self._choices], markup=False)
            options.highlighted = values.index(self._current) if self._current in values else 0
            yield options
            yield KeyLine([("enter", "select"), ("esc", "back")])

    def above(self) -> ComposeResult:
        """Yield the widgets above the list; by default none."""
        yield from ()

    def on_resize(self, event: events.Resize) -> None:
        for options in self.query(OptionList):
            options.styles.max_height = max(1, min(MOST_ROWS, event.size.height - self.AROUND))

    def on_mount(self) -> None:
        """Keep the screen behind visible, whatever background the app gives to screens."""
        self.styles.background = "transparent"

    def marked(self, value: str) -> None:
        """Called when a choice is highlighted."""

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self.marked(self._choices[event.option_index].value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._give(self._choices[event.option_index].value)

    def action_take(self) -> None:
        for options in self.query(OptionList):
            if options.highlighted is not None:
                value = self._choices[options.highlighted].value
                self.marked(value)
                self._give(value)

    def _give(self, value: str | None) -> None:
        if self.is_current:
            self.dismiss(value)

    def action_step(self, direction: str) -> None:
        for options in self.query(OptionList):
            if direction == "down":
                options.action_cursor_down()
            else:
                options.action_cursor_up()

    def action_back(self) -> None:
        self._give(None)


FROM = 10
"""Minimum number of choices for a search field."""


class FindingPicker(Picker, inherit_bindings=False):
    """A picker for lists of any length, filtered by what the user types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", priority=True),
        Binding("down", "step('down')", "down", show=False, priority=True),
        Binding("up", "step('up')", "up", show=False, priority=True),
        Binding("pagedown", "page('down')", "page down", show=False, priority=True),
        Binding("pageup", "page('up')", "page up", show=False, priority=True),
        Binding("enter", "take", "select", show=False, priority=True),
    ]

    AROUND = 8

    DEFAULT_CSS = """
    FindingPicker Input { height: 1; margin-bottom: 1; background: $panel; background-tint: transparent; }
    FindingPicker > Vertical { width: 72; }
    FindingPicker OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def above(self) -> ComposeResult:
        if len(self._choices) >= FROM:
            yield Field(placeholder="type to filter", max_length=200, compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        self._all = self._choices
        self._sifted = ""
        for field in self.query(Field):
            field.focus()

    def on_key(self, event: events.Key) -> None:
        for field in self.query(Field):
            type_into(field, event)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter()

    def _filter(self) -> None:
        text = " ".join(field.value for field in self.query(Field)).casefold()
        if text == self._sifted:
            return
        self._sifted = text
        words = text.split()
        self._choices = tuple(
            one for one in self._all if all(word in one.prompt.plain.casefold() for word in words)
        )
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(one.prompt) for one in self._choices])
        options.highlighted = 0 if self._choices else None

    def action_take(self) -> None:
        if self._all:
            self._filter()  # apply letters typed before this key in the same burst
        super().action_take()

    def action_page(self, direction: str) -> None:
        for options in self.query(OptionList):
            move = options.action_page_down if direction == "down" else options.action_page_up
            move()  # type: ignore[no-untyped-call]  # Textual gives these no types


NAME_CELLS = 16
_SWATCH = ("accent", "user", "model", "tool", "ok", "warn", "bad")


class ThemePicker(Picker):
    """Previews the highlighted theme on the whole app; returns the name of the selected one, or None.

    The app's theme, `current`, is restored on cancel.
    """

    def __init__(self, specs: Sequence[ThemeSpec], current: str) -> None:
        super().__init__("THEME", [PickerChoice(spec.name, _prompt(spec)) for spec in specs], current)
        self._specs = specs
        self._before = current

    def on_mount(self) -> None:
        """Register every theme: so far, the app only knows the current one."""
        for spec in self._specs:
            self.app.register_theme(theme_colors.theme_of(spec))

    def marked(self, value: str) -> None:
        if self.app.theme != value:
            self.app.theme = value

    def action_back(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)


def _prompt(spec: ThemeSpec) -> Content:
    """Return a line with the name, "dark" or "light", and the theme's colors on its own background."""
    colours = spec.colours()
    ground = colours["surface"]
    swatch = [(f" {'●'}", f"{colours[role]} on {ground}") for role in _SWATCH]
    kind = "dark " if spec.dark else "light"
    return Content.assemble(
        f"{spec.name[:NAME_CELLS]:<{NAME_CELLS}} ", kind, "  ", *swatch, (" ", f"on {ground}")
    )
