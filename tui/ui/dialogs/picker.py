"""A list of choices: a panel at the right, beside what it is about, or the menu of a field."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tui.core.language.translate import N_, _
from tui.core.matching import has_words
from tui.core.text import abridged, padded
from tui.settings.themes import ThemeSpec
from tui.ui.dialogs.dialog import PANEL, WIDE_PANEL, Dialog, Frame
from tui.ui.dialogs.dialog import heading as title
from tui.ui.widgets import theme_colors
from tui.ui.widgets.bar import KeyLine
from tui.ui.widgets.inputs import LIST_KEYS, Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row

MOST_ROWS = 24
"""Rows of the longest list that is still easy to scan."""

MENU_CELLS = 48

FROM = 10
"""Minimum number of choices for a field that filters them."""


Choice = tuple[str, Content]
"""The value that selecting a line of a picker returns, and the line."""


class Picker(Dialog[str | None]):
    """Returns the value of the selected choice, or None; shows `note` if there are no choices.

    With `finds`, the list may be long: it is filtered by what the user types. `at` is the place of the field
    whose menu it is: it opens below or above.
    """

    SHAPE = PANEL

    BINDINGS: ClassVar[list[BindingType]] = [
        *LIST_KEYS,
        Binding("enter", "take", N_("select"), priority=True),
        Binding("q", "letter('back')", "back", show=False, priority=True),
        Binding("j", "letter('step',1)", "down", show=False, priority=True),
        Binding("k", "letter('step',-1)", "up", show=False, priority=True),
        Binding("space", "letter('take')", "select", show=False, priority=True),
    ]

    stays = str

    DEFAULT_CSS = """
    Picker.-at-field { align: left top; }
    Picker.-at-field > Frame { padding: 0 1; margin: 0; }
    Picker.-at-field #title, Picker.-at-field KeyLine { display: none; }
    Picker OptionList {
        height: auto; border: none; padding: 0; color: $foreground;
        background: $panel; background-tint: transparent; scrollbar-size-vertical: 1;
    }
    Picker OptionList:focus { border: none; background-tint: transparent; }
    Picker Input { height: 1; margin-bottom: 1; }
    Picker.-finds OptionList, ThemePicker OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(
        self,
        heading: str | Row,
        choices: Sequence[Choice],
        current: str = "",
        note: str = "",
        *,
        finds: bool = False,
        at: Region | None = None,
    ) -> None:
        self._choices = self._all = tuple(choices)
        self._sifted = ""
        has_field = finds and len(choices) >= FROM
        self._field = (
            Field(placeholder=_("type to filter"), max_length=200, compact=True) if has_field else None
        )
        self._finds, self._at = finds, at
        values = [value for value, _prompt in self._choices]
        options = OptionList(*[Option(prompt) for _value, prompt in self._choices], markup=False)
        options.highlighted = values.index(current) if current in values else 0
        field: list[Widget] = [self._field] if self._field is not None else []
        parts: list[Widget] = [*field, options] if choices else [Literal(note)]
        keys = [("enter", _("select"))] if choices else []
        super().__init__(
            title(heading) if isinstance(heading, str) else heading,
            *parts,
            keys=KeyLine([*keys, ("esc", _("close"))]),
            right=((str(len(choices)), "dim"),) if has_field else EMPTY,
            shape=WIDE_PANEL if finds else PANEL,
        )
        self.set_class(finds, "-finds")
        self.set_class(at is not None, "-at-field")

    def on_resize(self) -> None:
        self.fit_now()

    def fit_now(self) -> None:
        """Make the list as tall as its choices; place a menu where there is room for more of them."""
        for options in self.query(OptionList):
            lines = [
                (one, 1) for one in self.query("#title, Input, KeyLine")
            ]  # also before they are laid out
            room, at = self.room_for(options, lines), self._at
            if at is None:
                options.styles.max_height = max(1, min(MOST_ROWS, room))
                self.call_after_refresh(options.scroll_to_highlight)
                return
            screen, frame = self.app.size, self.query_one(Frame)
            above, below = min(at.y, screen.height), max(0, screen.height - at.bottom)
            beside = frame.outer_size.height - options.outer_size.height
            rows = max(1, min(MOST_ROWS, len(self._choices), max(above, below) - beside))
            is_below = below >= min(rows + beside, above)
            cells = min(MENU_CELLS, screen.width)
            frame.styles.width = cells
            options.styles.max_height = rows
            top = at.bottom if is_below else at.y - rows - beside
            frame.styles.offset = max(0, min(at.x, screen.width - cells)), max(0, top)

    def on_mount(self) -> None:
        """Keep the screen behind visible, whatever background the app gives to screens."""
        self.styles.background = "transparent"
        if self._field is not None:
            self._field.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a picker that finds, letters are text."""
        return not (action == "letter" and self._finds) and super().check_action(action, parameters)

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
                value, _prompt = self._choices[options.highlighted]
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


NAME_CELLS, SUFFIX_CELLS = 14, 8
_SWATCH = ("accent", "user", "model", "tool", "ok", "warn", "bad")


class ThemePicker(Picker):
    """Previews the highlighted theme on the whole app; returns the name of the selected one, or None.

    The app's theme, `current`, is restored on cancel.
    """

    OPENED_BY = "app.theme"

    def __init__(self, specs: Sequence[ThemeSpec], current: str) -> None:
        super().__init__(_("Theme"), [(spec.name, _prompt(spec)) for spec in specs], current)
        self._specs, self._current = specs, current

    def on_mount(self) -> None:
        """Register every theme: so far, the app only knows the current one."""
        for spec in self._specs:
            self.app.register_theme(theme_colors.theme_of(spec))

    def marked(self, value: str) -> None:
        if self.app.theme != value:
            self.app.theme = value

    def close(self) -> None:
        self.app.theme = self._current
        super().close()


def theme_title(spec: ThemeSpec) -> str:
    """Return the name of a theme for the user."""
    name = abridged(spec.name, NAME_CELLS)
    return _("{theme} (dark)", theme=name) if spec.dark else _("{theme} (light)", theme=name)


def _prompt(spec: ThemeSpec) -> Content:
    """Return a line with the name and whether it is light or dark, and its colors on its own background."""
    colours = spec.colours()
    ground = colours["surface"]
    swatch = [(" ●", f"{colours[role]} on {ground}") for role in _SWATCH]
    name = f"{padded(theme_title(spec), NAME_CELLS + SUFFIX_CELLS)}  "
    return Content.assemble(name, *swatch, (" ", f"on {ground}"))
