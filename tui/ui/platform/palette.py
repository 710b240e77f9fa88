"""Textual's command palette, with words of our own where nothing matches. The private names are of 8.2.8."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.command import CommandList, CommandPalette
from textual.content import Content
from textual.widgets.option_list import Option


class WordedPalette(CommandPalette):
    """Says `NO_MATCHES()` if nothing matches, which Textual says in English."""

    NO_MATCHES: ClassVar[Callable[[], str]]

    def _start_no_matches_countdown(self, search_value: str) -> None:
        self._stop_no_matches_countdown()
        show = partial(self._show_no_matches, search_value)
        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, show)

    def _show_no_matches(self, searched: str) -> None:
        if searched:
            text = Content.styled(type(self).NO_MATCHES(), "not bold")
            self.query_one(CommandList).add_option(Option(text, disabled=True, id=self._NO_MATCHES))
        self._list_visible = bool(searched)
