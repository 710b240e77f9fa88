"""The dialog that keeps a call: name, file, what will be expected and what varies."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.keep.repeat import question
from tui.addons.tests.keep.target import Target
from tui.addons.tests.keep.variation import Variation
from tui.addons.tests.screens.keep_list import AGAIN, SERVER, TIME, KeepList, Layout, keep_css, lines_of
from tui.addons.tests.suite.case import RequestKind
from tui.core.errors import McptuiError
from tui.core.text import clean, clean_line, compact
from tui.core.units import duration, plural
from tui.ui.dialogs.confirm import call_after, confirm_call
from tui.ui.dialogs.dialog import Dialog, RowsPane
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.widgets.bar import KeyLine, SplitBar
from tui.ui.widgets.code import highlighted
from tui.ui.widgets.inputs import Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, wrap
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

SIDE_BY_SIDE = 110
"""Minimum number of screen columns for the preview at the right."""

LONGEST_NAME = 200
SCHEMA = "#:schema"
"""Beginning of the first line of a file, which says nothing about the call."""

CALL_AGAIN = "Call it twice more to find what varies"


@dataclass(frozen=True, slots=True)
class Again:
    """How a request is sent twice more, for its results with their milliseconds; or `why` it is not."""

    call: Callable[[], Awaitable[Sequence[tuple[Mapping[str, Any], float]]]] | None = None
    runtime: "Runtime | None" = None
    why: str = ""


Write = Callable[[Keeping, Target], Awaitable[str]]
"""Writes the case, and returns what to say. Raises McptuiError or OSError."""


class KeepDialog(Dialog[str | None]):
    """Returns what to say about the case that was written, or None.

    `target` is the proposed file, `write` writes the case to the one that the user chooses. `whole_turn`
    opens the dialog for the turn of the call.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(SEND_KEYS, "keep", "keep", priority=True),
        Binding("ctrl+r", "again", "call twice more", priority=True),
        Binding("ctrl+g", "turn", "keep the turn", priority=True),
        # Before the field that is left: what is typed next is for the next one.
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
    ]

    DEFAULT_CSS = keep_css("KeepDialog")

    def __init__(
        self,
        keeping: Keeping,
        target: Target,
        again: Again,
        write: Write,
        whole_turn: Callable[[], None] | None = None,
    ) -> None:
        self._keeping, self._target, self._again, self._write = keeping, target, again, write
        self._whole_turn = whole_turn
        self._is_calling = False
        self._problem = ""
        self.name_field = _field(keeping.draft.name, LONGEST_NAME)
        self.file_field = _field(keeping.shown_path(target.path), 2000)
        self._note = SplitBar(id="keep-note")
        self.list = KeepList(self._switched)
        self.preview = RowsPane(self._preview_rows)
        keys = [("tab", "next"), ("space", "switch"), ("ctrl+s", "keep")]
        keys += [("ctrl+r", "call twice more")] if again.call is not None else []
        keys += [("ctrl+g", "keep the turn")] if whole_turn is not None else []
        super().__init__(
            SplitBar(*self._title()),
            Horizontal(Literal("name ›"), self.name_field, classes="field"),
            Horizontal(Literal("file ›"), self.file_field, classes="field"),
            self._note,
            Horizontal(self.list, self.preview, id="keep-body"),
            KeyLine([*keys, ("esc", "cancel")]),
        )

    def _title(self) -> tuple[Row, Row]:
        exchange, signs = self._keeping.draft.exchange, symbols_for()
        request = exchange.request
        given = (f"{clean_line(name, 40)}={compact(one, 60)}" for name, one in request.arguments.items())
        called = f"{clean_line(exchange.server, 40)} {signs.within} {clean_line(request.name, 100)}  "
        left: Row = (("KEEP AS A TEST  ", "dim bold"), (called, "text bold"), ("  ".join(given), "dim"))
        sign, style = (signs.failed, "bad") if exchange.is_error else (signs.done, "ok")
        return left, ((f"{sign} ", style), (duration(exchange.ms), "dim"))

    def on_mount(self) -> None:
        self.set_focus(self.name_field, scroll_visible=False)
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < SIDE_BY_SIDE, "-narrow")
        self.set_class(event.size.height < 28, "-short")
        self.call_after_refresh(self._show)

    # ---- what is shown -------------------------------------------------------------------------------------

    def _show(self) -> None:
        again = CALL_AGAIN if not self._keeping.draft.exchange.others else CALL_AGAIN.partition(" to")[0]
        again = again if self._again.call is not None else ""
        again = "Calling…" if self._is_calling else again
        note = self._again.why if not self._keeping.draft.exchange.others else ""
        layout = Layout(self.list.columns, is_short=self.has_class("-short"))
        self.list.show(lines_of(self._keeping, self._target, note, again, layout))
        self.preview.rewrap()
        self._show_note()

    def _show_note(self) -> None:
        name, target = self.name_field.value.strip(), self._target
        if self._problem:
            self._note.show(((f"! {clean_line(self._problem, 300)}", "bad"),))
        elif name and (there := self._keeping.same_case(target, name)) is not None:
            is_kept = self._keeping.is_kept_by(there)
            words = "already kept, with this result" if is_kept else "replaces what this case expects"
            self._note.show(((f"{words}. Another name keeps both.", "dim"),))
        elif name in target.names:
            self._note.show((("! This file already has a case of this name.", "bad"),))
        elif target.is_new:
            self._note.show((("new file", "dim"),))
        else:
            there = self._keeping.same_case(target)
            same = f", of which “{clean_line(there.name, 80)}” has the same arguments" if there else ""
            self._note.show(((f"added to {plural(len(target.names), 'case')}{same}", "dim"),))

    def _preview_rows(self, width: int) -> list[Row]:
        if self._problem:
            return []
        try:
            lines = clean(self._keeping.preview(self._target)).split("\n")
        except McptuiError as error:
            lines = [str(error)]
        shown = lines[2:] if lines[0].startswith(SCHEMA) else lines
        return [part for row in highlighted(shown, "toml") for part in wrap(row, width)]

    # ---- changes -------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self.name_field:
            self._keeping = self._keeping.named(event.value.strip())
            self._show()
        elif event.value != self._keeping.shown_path(self._target.path) or self._problem:
            self._look_at_file()

    def _look_at_file(self) -> None:
        self.run_worker(self._read_file(self.file_field.value), group="file", exclusive=True)

    async def _read_file(self, typed: str) -> bool:
        try:
            self._target = await asyncio.to_thread(self._keeping.target, typed)
            self._problem = ""
        except (McptuiError, OSError) as error:
            self._problem = str(error)
        self._show()
        return not self._problem

    def _switched(self, key: Hashable) -> None:
        draft = self._keeping.draft
        if isinstance(key, Variation):
            if key.required:
                self.notify("A secret is never written to a file.", timeout=4)
            self._keeping = replace(self._keeping, draft=draft.switch(key))
        elif key == TIME:
            self._keeping = replace(self._keeping, draft=replace(draft, timed=not draft.timed))
        elif key == SERVER:
            self._keeping = replace(self._keeping, by_name=not self._keeping.by_name)
            self._look_at_file()
        elif key == AGAIN:
            self.action_again()
        self._show()

    def action_turn(self) -> None:
        """Keep the whole turn of the call instead."""
        if self._whole_turn is not None:
            self.dismiss(None)
            self._whole_turn()

    def action_again(self) -> None:
        """Send the request twice more, after a yes that names it."""
        call, runtime = self._again.call, self._again.runtime
        if call is None or runtime is None:
            self.notify(self._again.why, timeout=6)
            return
        if self._is_calling:
            return
        exchange = self._keeping.draft.exchange
        words, _ = question(exchange)
        request = exchange.request
        is_tool = request.kind is RequestKind.TOOL
        called = (exchange.server, request.name, request.arguments) if is_tool else None
        asked = confirm_call(words, dict(request.arguments), "call twice")
        call_after(asked, self.app, runtime, called, lambda: self._call_again(call))

    def _call_again(self, call: Callable[[], Awaitable[Sequence[tuple[Mapping[str, Any], float]]]]) -> None:
        self._is_calling = True
        self._show()
        self.run_worker(self._compare(call), name="call again")

    async def _compare(
        self, call: Callable[[], Awaitable[Sequence[tuple[Mapping[str, Any], float]]]]
    ) -> None:
        try:
            results = await call()
            compared = await asyncio.to_thread(partial(self._keeping.compared_with, results))
            self._keeping = compared.named(self.name_field.value.strip())
        except McptuiError as error:
            self.notify(str(error), severity="warning", timeout=6)
        self._is_calling = False
        self._show()

    # ---- keeping -------------------------------------------------------------------------------------------

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        if not self._is_calling:
            self.run_worker(self._keep(), group="keep", exclusive=True)

    async def _keep(self) -> None:
        if not await self._read_file(self.file_field.value):
            return
        keeping = self._keeping.named(self.name_field.value.strip())
        try:
            said = await self._write(keeping, self._target)
        except (McptuiError, OSError) as error:
            self._problem = str(error)
            self._show()
            return
        if self.is_current:
            self.dismiss(said)


def _field(text: str, longest: int) -> Field:
    return Field(text, max_length=longest, compact=True, select_on_focus=False)
