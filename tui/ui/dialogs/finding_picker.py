"""A picker for lists of any length: what is typed narrows them."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tui.ui.dialogs.picker import Picker
from tui.ui.widgets.field import Field, type_into

FROM = 10
"""Choices from which on a field stands above them; fewer are found by looking."""


class FindingPicker(Picker, inherit_bindings=False):
    """Gives the value of the choice that was taken, or None; see `Picker`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", priority=True),
        Binding("down", "step('down')", "down", show=False, priority=True),
        Binding("up", "step('up')", "up", show=False, priority=True),
        Binding("pagedown", "page('down')", "page down", show=False, priority=True),
        Binding("pageup", "page('up')", "page up", show=False, priority=True),
        Binding("enter", "take", "take it", show=False, priority=True),
    ]

    AROUND = 8

    DEFAULT_CSS = """
    FindingPicker Input { height: 1; margin-bottom: 1; background: $panel; background-tint: transparent; }
    FindingPicker > Vertical { width: 72; }
    FindingPicker OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def above(self) -> ComposeResult:
        """Build the field, where there is much to look through."""
        if len(self._choices) >= FROM:
            yield Field(placeholder="type to find", max_length=200, compact=True)

    def on_mount(self) -> None:
        """Let the person type at once."""
        super().on_mount()
        self._all = self._choices
        self._sifted = ""
        for field in self.query(Field):
            field.focus()

    def on_key(self, event: events.Key) -> None:
        """Write what was typed before the field could take it."""
        for field in self.query(Field):
            type_into(field, event)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self._sift()

    def _sift(self) -> None:
        """Let the list be the choices that have all the words of the field."""
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
        """Give the choice that is marked."""
        if self._all:
            self._sift()  # the letters before an enter in one burst
        super().action_take()

    def action_page(self, direction: str) -> None:
        """Move the mark by a page."""
        for options in self.query(OptionList):
            move = options.action_page_down if direction == "down" else options.action_page_up
            move()  # type: ignore[no-untyped-call]  # Textual gives these no types
