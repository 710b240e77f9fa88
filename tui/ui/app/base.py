"""Base of both apps: theme, cleaned output, keys in order, and the report of the error that ended the app."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, Provider
from textual.filter import LineFilter
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen
from textual.worker import WorkerFailed

from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized
from tui.core.text import clean, clean_line
from tui.settings.locations import themes_dir
from tui.settings.problems import Problem
from tui.settings.themes import all_themes, load_theme
from tui.ui.keys.action_table import EVERY, Context
from tui.ui.keys.bindings import KeyOverrides, is_opener, key_words
from tui.ui.platform import clipboard
from tui.ui.platform.editing import CaretApp, edit_by_graphemes
from tui.ui.platform.key_order import in_order, open_once
from tui.ui.platform.textual_internals import (
    ControlFilter,
    close_at_once,
    create_caches_on_use,
    drop_notes,
    has_note,
    keep_late_timers,
    kept_in_selection,
    report_crash,
    suspend_job,
    work_at_every_size,
)
from tui.ui.platform.wide_cells import break_wide_texts, keep_wide_characters
from tui.ui.widgets import theme_colors
from tui.ui.widgets.inputs import LinesField
from tui.ui.widgets.rows import breaks


def _command_provider() -> type[Provider]:
    from tui.ui.app.command_palette import CommandProvider

    return CommandProvider


EARLY = ("app.quit", "quit", "help_quit")
"""Actions that work before the runtime is loaded, and over the palette."""


class BaseApp(CaretApp):
    """An app on a terminal.

    `crash` is the error that ended it, `crash_place` the names of what was on screen then. `save_theme` saves
    the name of a selected theme. It may raise `McptuiError`.
    """

    TITLE = "mcptui"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_command_provider}
    CSS = """
    Input:focus { background-tint: transparent; }
    ToastRack { dock: top; align: left top; margin: 0; scrollbar-size: 0 0; }
    ViewScreen ToastRack { margin: 1 0 0 0; }
    TrafficScreen ToastRack, ServerScreen ToastRack { margin: 2 0 0 0; }
    ServerScreen.-watched ToastRack { margin: 3 0 0 0; }
    Toast { width: 100%; max-width: 100%; margin: 0; padding: 0 1; background: $panel; }
    """
    ambiguous_width: int | None = None
    """Cells of signs with an ambiguous width; None: the terminal is asked."""
    IN_HELP: ClassVar[Sequence[Context]] = EVERY
    """The contexts of all screens of the app, which the help lists after those of the current one."""

    def __init__(
        self,
        *,
        theme: str,
        keys: Mapping[str, str | Sequence[str]],
        save_theme: Callable[[str], Awaitable[None]],
    ) -> None:
        keep_late_timers()
        create_caches_on_use()
        work_at_every_size()
        keep_wide_characters()
        break_wide_texts(breaks)
        edit_by_graphemes()
        super().__init__()
        self.overrides = KeyOverrides(keys.items())
        self.set_keymap(self.overrides.keymap())
        self.crash: BaseException | None = None
        self.crash_place = ""
        self._copied = self._pressed_key = ""
        self._base: Screen[Any] | None = None
        report_crash(self, self.note_crash)
        self._controls = ControlFilter()
        self._save_theme = save_theme
        self.theme_problem = self._apply_theme(theme)

    def on_mount(self) -> None:
        def changed(screen: Screen[Any]) -> None:
            """Remove the notifications of another screen. A dialog belongs to the screen below it."""
            if not screen.is_modal and screen is not self._base:
                self._base = screen
                drop_notes(self)

        self._base = self.screen
        self.screen_change_signal.subscribe(self, changed, immediate=True)

    def _apply_theme(self, name: str) -> Problem | None:
        """Load and set a theme; return its problem, if any."""
        spec, problem = load_theme(name, themes_dir())
        self.register_theme(theme_colors.theme_of(spec))
        self.theme = spec.name
        return problem

    def apply_ui(self, theme: str, keys: Mapping[str, str | Sequence[str]]) -> Sequence[Problem]:
        """Apply theme and keys of a configuration that was read again; return their problems."""
        self.overrides.take(keys.items())
        self.set_keymap(self.overrides.keymap())
        problem = self._apply_theme(theme) if theme != self.theme else None
        return [*filter(None, (problem, *self.overrides.problems))]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Define our colors under Textual's own themes, too."""
        return dict(theme_colors.DEFAULTS)

    def action_app_theme(self) -> None:
        from tui.ui.dialogs.picker import ThemePicker

        async def save(name: str) -> None:
            try:
                await self._save_theme(name)
            except McptuiError as error:
                title = _("Theme changed, but not saved")
                self.notify(localized(error), title=title, severity="warning")

        def chosen(name: str | None) -> None:
            if name is not None:
                self.run_worker(save(name), name="save the theme")

        specs, _problems = all_themes(themes_dir())
        open_once(self, ThemePicker(specs, self.theme), chosen)

    @property
    def under_palette(self) -> Screen[Any]:
        """The screen on top, other than the palette."""
        return next(one for one in reversed(self.screen_stack) if not isinstance(one, CommandPalette))

    @property
    def contexts(self) -> Sequence[Context]:
        """The contexts of `under_palette`; none of a dialog, which shows its own keys."""
        return getattr(self.under_palette, "CONTEXTS", ())

    @property
    def focus_context(self) -> Context | None:
        """The context of the focus, whose keys come first in the help; None if unknown."""
        return None

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top; does nothing on the last one.

        Keys in one burst can close a dialog twice: enter selects an item, and escape closes the list before
        the selection arrives. Textual would then end the app.
        """
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def action_command_palette(self) -> None:
        from tui.ui.app.command_palette import Palette

        if self.under_palette is self.screen:
            self.push_screen(Palette())

    def action_app_help(self) -> None:
        from tui.ui.dialogs.help import HelpScreen

        help = HelpScreen(self.overrides, self.contexts, self.focus_context, self.IN_HELP)
        if Context.SERVER_QUESTION in self.contexts:
            self.push_screen(help)  # another screen's help may be open under the question
        else:
            open_once(self, help)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let keys pass that the screen uses itself, and the key of `suspend`, if it undoes in a text."""
        name = str(parameters[0]) if action == "act" else action.replace("app_", "app.", 1)
        if name in getattr(self.screen, "TAKES", ()):
            return False
        if name not in EARLY and any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            return False  # otherwise Textual would end the app when a second palette opens
        text = self.focused
        return action != "app_suspend" or not (isinstance(text, LinesField) and text.can_undo)

    def action_app_suspend(self) -> None:
        if not suspend_job(self):
            self.notify(_("Cannot suspend: there is no shell with job control to return to."), timeout=4)

    async def on_event(self, event: events.Event) -> None:
        """Handle each key of a burst after the effects of the previous keys."""
        if isinstance(event, events.MouseMove) and not event.is_forwarded and self.screen_stack:
            event = kept_in_selection(self.screen, event)
        if isinstance(event, events.Key) and not event.is_forwarded:
            await in_order(self, event, self._take_key)
        else:
            await super().on_event(event)

    async def _take_key(self, event: events.Event) -> None:
        """Handle a key, unless it closes the dialog that it has opened."""
        closes_on = getattr(self.screen, "closes_on", None)
        if isinstance(event, events.Key):
            if closes_on is not None and closes_on(event):
                self.screen.leave(key_words(event.key))  # type: ignore[attr-defined]
                return
            self._pressed_key = event.key
        await super().on_event(event)

    def push_screen(self, screen: Any, *given: Any, **options: Any) -> Any:
        """Open a screen; a dialog closes if the key that opened it is pressed again."""
        if hasattr(screen, "opened_with"):
            screen.opened_with = self._pressed_key if is_opener(self._pressed_key) else ""
        return super().push_screen(screen, *given, **options)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [self._controls, *super().get_line_filters()]

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a notification over whole lines at the top, once. The text is cleaned and never markup."""
        text, heading = clean(localized(message)), clean_line(title)
        super().notify(text, title=heading, severity=severity, timeout=timeout, markup=False)

    def on_notify(self, event: Notify) -> None:
        """Drop a notification that is already shown; of a burst of keys, each has asked for it."""
        if has_note(self, event.notification.message, event.notification.title):
            event.prevent_default()

    @property
    def clipboard(self) -> str:
        """The last copied text, which Textual's fields paste."""
        return self._copied

    def copy_to_clipboard(self, text: str) -> None:
        self.copy(text, _("the selection"))

    def copy(self, text: str, what: str) -> None:
        """Copy a text to the user's clipboard, and show where it went; `what` is "the reply"."""
        super_copy = super().copy_to_clipboard

        async def put() -> None:
            tool = await clipboard.put(text, os.environ)
            if not tool:
                super_copy(text)
            self.notify(clipboard.note(what, tool), timeout=4)

        self._copied = text
        self.run_worker(put(), name="copy", exit_on_error=False)

    def note_crash(self, error: BaseException) -> None:
        """Store the first unhandled error; later ones are mostly its consequences."""
        if self.crash is None:
            self.crash = error.error if isinstance(error, WorkerFailed) else error
            stack = self.screen_stack
            focused = stack[-1].focused if stack else None
            place = " > ".join(type(screen).__name__ for screen in stack) or "no screen"
            self.crash_place = place if focused is None else f"{place}, focus in {type(focused).__name__}"

    def panic(self, *renderables: object) -> None:
        """End the app because of a defect, which is reported once the terminal is restored."""
        errors = [one for one in renderables if isinstance(one, BaseException)]
        self.note_crash(errors[0] if errors else RuntimeError("\n".join(map(str, renderables))))
        close_at_once(self)
