"""The dialog that keeps a call or a whole turn: name, file, what will be expected, and a preview."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from tui.addons.tests.keep.target import Target
from tui.addons.tests.screens.keep_list import KeepList, Layout, Line
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized
from tui.core.text import cells_of, clean, clean_line, padded
from tui.ui.dialogs.dialog import LIST, Dialog
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.platform.key_order import open_once
from tui.ui.widgets.bar import KeyLine, SplitBar
from tui.ui.widgets.code import highlighted
from tui.ui.widgets.inputs import Field
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row, wrap

SIDE_BY_SIDE = 110
"""Minimum number of screen columns for the preview at the right."""

LOW = 28
LONGEST_NAME = 200


class Keepable(Protocol):
    """A call or a turn that is about to be kept: `Keeping`, `TurnKeeping`."""

    def named(self, name: str) -> Self: ...
    def target(self, typed: str = "") -> Target: ...
    def preview(self, target: Target) -> str: ...
    def shown_path(self, path: Path) -> str: ...


K = TypeVar("K", bound=Keepable)


@dataclass(slots=True)
class Kept(ABC, Generic[K]):
    """What is about to be kept, and its file. The dialog changes it. `is_busy`: it cannot be kept yet."""

    keeping: K
    target: Target
    is_busy: bool = field(default=False, init=False)

    @property
    def placeholder(self) -> str:
        """What an empty name stands for."""
        return ""

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[["KeepDialog"], None]]]:
        """What further keys do, each with its label."""
        return {}

    @property
    @abstractmethod
    def name(self) -> str: ...
    @abstractmethod
    def title(self) -> tuple[Row, Row]: ...
    @abstractmethod
    def lines(self, layout: Layout) -> list[Line]: ...
    @abstractmethod
    def note(self) -> tuple[str, bool]:
        """Return what becomes of the file in a few words, and whether that is a problem."""

    @abstractmethod
    def switch(self, key: Hashable, dialog: "KeepDialog") -> None: ...
    @abstractmethod
    async def keep(self) -> str:
        """Write the case, and return what to say. Raises McptuiError or OSError."""

    @property
    def shown_path(self) -> str:
        return self.keeping.shown_path(self.target.path)

    def rename(self, name: str) -> None:
        self.keeping = self.keeping.named(name)

    def find(self, typed: str) -> Target:
        """Return the file that the user typed, "" for the default. Blocks. Raises McptuiError or OSError."""
        return self.keeping.target(typed)

    def preview(self) -> str:
        """Return what is added to the file. Raises McptuiError."""
        return self.keeping.preview(self.target)


class KeepDialog(Dialog[str | None]):
    """Returns what to say about the case that was written, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(SEND_KEYS, "keep", "keep", priority=True),
        Binding("ctrl+r", "other('ctrl+r')", N_("call twice more"), priority=True),
        Binding("ctrl+g", "other('ctrl+g')", N_("keep the turn"), priority=True),
        # Before the field that is left: what is typed next is for the next one.
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("down", "app.focus_next", show=False),
    ]

    DEFAULT_CSS = """
    KeepDialog .field { height: 1; margin-bottom: 1; }
    KeepDialog .field Literal { width: auto; color: $text-dim; }
    KeepDialog .field Input { width: 1fr; padding: 0 1; }
    KeepDialog #keep-note { margin-bottom: 1; background: $panel; }
    KeepDialog #keep-body { height: 1fr; }
    KeepDialog KeepList { width: 1fr; height: 1fr; }
    KeepDialog RowsPane {
        width: 1fr; height: 1fr; background: $panel; scrollbar-background: $panel;
        border-left: solid $rule; padding-left: 2; margin-left: 1;
    }
    KeepDialog.-stacked #keep-body { layout: vertical; }
    KeepDialog.-stacked RowsPane {
        border-left: none; border-top: solid $rule; padding-left: 0; margin-left: 0;
    }
    KeepDialog.-low .field { margin-bottom: 0; }
    """

    SHAPE = LIST
    FITS = False

    def __init__(self, kept: Kept[Any]) -> None:
        self.kept = kept
        self._problem = ""
        self.name_field = _field(kept.name, LONGEST_NAME, kept.placeholder)
        self.file_field = _field(kept.shown_path, 2000)
        self._note = SplitBar(id="keep-note", wraps=True)
        self.list = KeepList(self._switched)
        self.preview = RowsPane(self._preview_rows)
        title, right = kept.title()
        others = [(key, label) for key, (label, _act) in kept.actions.items()]
        names = _("name ›"), _("file ›")
        cells = max(map(cells_of, names)) + 1
        labels = [Literal(padded(name, cells)) for name in names]
        self._note.styles.padding = 0, 0, 0, cells
        keys = [("tab", _("next")), ("space", _("switch")), ("ctrl+s", _("keep"))]
        super().__init__(
            title,
            Horizontal(labels[0], self.name_field, classes="field"),
            Horizontal(labels[1], self.file_field, classes="field"),
            self._note,
            Horizontal(self.list, self.preview, id="keep-body"),
            right=right,
            keys=KeyLine([*keys, *others, ("esc", _("cancel"))]),
        )

    def on_mount(self) -> None:
        is_named = bool(self.kept.placeholder)  # a name is optional
        self.set_focus(self.list if is_named else self.name_field, scroll_visible=False)
        self.show()

    def on_resize(self) -> None:
        self.set_class(self.app.size.width < SIDE_BY_SIDE, "-stacked")
        self.set_class(self.app.size.height < LOW, "-low")
        self.call_after_refresh(self.show)

    def typed(self) -> tuple[str, str]:
        return self.name_field.value, self.file_field.value

    def show(self) -> None:
        """Show what will be kept, after a change."""
        self.list.show(self.kept.lines(Layout(self.list.columns, is_short=self.has_class("-low"))))
        self.preview.rewrap()
        words, is_problem = (self._problem, True) if self._problem else self.kept.note()
        words = clean_line(words, 300)
        self._note.show(((words, "dim"),) if not is_problem else EMPTY)
        self.say(words if is_problem else "")

    def _preview_rows(self, width: int) -> list[Row]:
        if self._problem:
            return []
        try:
            lines = clean(self.kept.preview()).split("\n")
        except McptuiError as error:
            lines = [localized(error)]
        return [part for row in highlighted(lines, "toml") for part in wrap(row, width)]

    # ---- changes -------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self.name_field:
            self.kept.rename(event.value.strip())
            self.show()
        elif event.value != self.kept.shown_path or self._problem:
            self.look_at_file()

    def look_at_file(self) -> None:
        """Read the file that the user typed."""
        self.run_worker(self._read_file(self.file_field.value), group="file", exclusive=True)

    def propose_file(self) -> None:
        """Read the default file, and show its name."""
        self.run_worker(self._propose_file(), group="file", exclusive=True)

    async def _propose_file(self) -> None:
        if await self._read_file(""):
            self.file_field.value = self.kept.shown_path

    async def _read_file(self, typed: str) -> bool:
        try:
            self.kept.target = await asyncio.to_thread(self.kept.find, typed)
            self._problem = ""
        except (McptuiError, OSError) as error:
            self._problem = localized(error)
        self.show()
        return not self._problem

    def _switched(self, key: Hashable) -> None:
        self.kept.switch(key, self)
        self.show()

    def action_other(self, key: str) -> None:
        """Do what a further key does."""
        if key in self.kept.actions:
            _label, act = self.kept.actions[key]
            act(self)

    # ---- keeping -------------------------------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Write the case, and close."""
        if not self.kept.is_busy:
            self.run_worker(self._keep(), group="keep", exclusive=True)

    async def _keep(self) -> None:
        if not await self._read_file(self.file_field.value):
            return
        self.kept.rename(self.name_field.value.strip())
        try:
            said = await self.kept.keep()
        except (McptuiError, OSError) as error:
            self._problem = localized(error)
            self.show()
            return
        if self.is_current:
            self.dismiss(said)


def open_keep_dialog(app: App[Any], kept: Kept[Any]) -> None:
    """Open the dialog; when it has closed, say what was written."""

    def done(said: str | None) -> None:
        if said:
            app.notify(localized(said), timeout=6)

    open_once(app, KeepDialog(kept), done)


def _field(text: str, longest: int, placeholder: str = "") -> Field:
    return Field(text, placeholder=placeholder, max_length=longest, compact=True, select_on_focus=False)
