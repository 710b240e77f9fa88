"""The dialog that keeps a whole turn: name, file, and the calls that are expected of a model."""

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from tui.addons.tests.keep.target import Target, shown_server
from tui.addons.tests.screens.keep_list import SERVER, KeepList, Line, keep_css
from tui.addons.tests.turns.turn_keeping import PASSING, RUNS, TurnKeeping
from tui.core.errors import McptuiError
from tui.core.text import clean, clean_line
from tui.core.units import plural
from tui.ui.dialogs.dialog import Dialog, RowsPane
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.code import highlighted
from tui.ui.widgets.inputs import Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row, crop, spread, wrap
from tui.ui.widgets.symbols import symbols_for

SIDE_BY_SIDE = 110
"""Minimum number of screen columns for the preview at the right."""

LONGEST_NAME = 200


class KeepTurn(Dialog[str | None]):
    """Returns what to say about the turn case that was written, or None. `target` is the proposed file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(SEND_KEYS, "keep", "keep", priority=True),
        Binding("down", "next", show=False),
    ]

    DEFAULT_CSS = keep_css("KeepTurn")

    def __init__(self, keeping: TurnKeeping, target: Target) -> None:
        self._keeping, self._target = keeping, target
        self._problem = ""
        self.name_field = Field(
            keeping.name,
            placeholder=clean_line(keeping.turn.question, LONGEST_NAME),
            max_length=LONGEST_NAME,
            compact=True,
            select_on_focus=False,
        )
        self.file_field = Field(
            keeping.shown_path(target.path), max_length=2000, compact=True, select_on_focus=False
        )
        self._note = SplitBar(id="keep-note")
        self.list = KeepList(self._switched)
        self.preview = RowsPane(self._preview_rows)
        signs = symbols_for()
        title: Row = (
            ("KEEP THE TURN AS A TEST  ", "dim bold"),
            (f"{clean_line(keeping.turn.question, 200)}", "text bold"),
        )
        super().__init__(
            SplitBar(title, ((f"{signs.done} {plural(len(keeping.turn.calls), 'call')}", "dim"),)),
            Horizontal(Literal("name ›"), self.name_field, classes="field"),
            Horizontal(Literal("file ›"), self.file_field, classes="field"),
            self._note,
            Horizontal(self.list, self.preview, id="keep-body"),
            self.key_line(("tab", "next part"), ("space", "switch"), back="cancel"),
        )

    def on_mount(self) -> None:
        self.set_focus(self.list, scroll_visible=False)
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < SIDE_BY_SIDE, "-narrow")
        self.set_class(event.size.height < 28, "-short")
        self.call_after_refresh(self._show)

    # ---- what is shown -------------------------------------------------------------------------------------

    def _show(self) -> None:
        self.list.show(turn_lines(self._keeping, self._target, self.list.columns))
        self.preview.rewrap()
        problem = self._problem or self._keeping.problem(self._target)
        if problem:
            self._note.show(((f"! {clean_line(problem, 300)}", "bad"),))
        else:
            where = "new file" if self._target.is_new else "added at the end of the file"
            self._note.show(((where, "dim"),))

    def _preview_rows(self, width: int) -> list[Row]:
        lines = clean(self._keeping.preview(self._target)).split("\n")
        return [part for row in highlighted(lines, "toml") for part in wrap(row, width)]

    # ---- changes -------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self.name_field:
            self._keeping = self._keeping.named(event.value.strip())
            self._show()
        elif event.value != self._keeping.shown_path(self._target.path) or self._problem:
            self._look_at_file(event.value)

    def _look_at_file(self, typed: str) -> None:
        self.run_worker(self._read_file(typed), group="file", exclusive=True)

    async def _read_file(self, typed: str) -> bool:
        try:
            self._target = await asyncio.to_thread(self._keeping.target, typed)
            self._problem = ""
        except (McptuiError, OSError) as error:
            self._problem = str(error)
        self._show()
        return not self._problem

    def _switched(self, key: Hashable) -> None:
        if key == SERVER:
            self._keeping = self._keeping.for_next_server()
            self.run_worker(self._default_file(), group="file", exclusive=True)
        elif isinstance(key, tuple):
            self._keeping = self._keeping.switched(*key)
        self._show()

    async def _default_file(self) -> None:
        """Propose the file of another server."""
        if await self._read_file(""):
            self.file_field.value = self._keeping.shown_path(self._target.path)

    def action_next(self) -> None:
        self.focus_next()

    # ---- keeping -------------------------------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        self.run_worker(self._keep(), group="keep", exclusive=True)

    async def _keep(self) -> None:
        if not await self._read_file(self.file_field.value):
            return
        try:
            said = await asyncio.to_thread(self._keeping.keep, self._target)
        except (McptuiError, OSError) as error:
            self._problem = str(error)
            self._show()
            return
        if self.is_current:
            self.dismiss(said)


def turn_lines(keeping: TurnKeeping, target: Target, width: int) -> list[Line]:
    """Return the lines of the dialog: the server, each call and argument that may be expected, and the runs.

    Sentences are wrapped at `width` cells.
    """
    there = target.suite.server if target.suite is not None else None
    server = shown_server(there or target.server.server)
    more = "space: another server" if len(keeping.servers) > 1 else ""
    lines = [
        _heading("SERVER"),
        Line(lambda cells: spread(((server, "text"),), ((more, "dim"),), cells), SERVER if more else None),
        Line(lambda cells: EMPTY),
        _heading("EXPECTED CALLS"),
        *_wrapped("In this order, others may come between.", width),
    ]
    for at, call in enumerate(keeping.calls):
        lines.append(Line(_switch(str(call), is_on=call.is_on), (at,)))
        for place, one in enumerate(call.arguments if call.is_on else ()):
            why = "" if one.is_said else "not in the question"
            lines.append(Line(_switch(str(one.pattern), why, is_on=one.is_on, indent=2), (at, place)))
    runs = f"{RUNS} runs, of which {PASSING * 100:.0f} % must pass. The answer is not compared."
    return [*lines, Line(lambda cells: EMPTY), *_wrapped(runs, width)]


def _heading(text: str) -> Line:
    return Line(lambda cells: crop(((text, "dim bold"),), cells))


def _wrapped(text: str, width: int) -> list[Line]:
    return [Line(partial(crop, row)) for row in wrap(((text, "dim"),), max(20, width))]


def _switch(text: str, why: str = "", *, is_on: bool, indent: int = 0) -> Callable[[int], Row]:
    signs = symbols_for()
    sign, style = (signs.running, "accent") if is_on else (signs.stopped, "dim")
    shown = (clean_line(text, 400), "text" if is_on else "dim")
    row: Row = ((f"{' ' * indent}{sign} ", style), shown)
    return lambda cells: spread(row, ((why, "dim"),), cells)
