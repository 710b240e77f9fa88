"""The checklist of one server in the app. It is checked with a process of its own."""

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from tui.addons.doctor.examinations import examine_in_app
from tui.addons.doctor.report import checklist_report
from tui.addons.doctor.steps import NAME_CELLS, SEEN, Checklist, State, Step
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, c_, localized
from tui.core.text import cells_of, clean_line, padded
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.platform import clipboard
from tui.ui.platform.key_order import open_once
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.rows import EMPTY, Row, wrap
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.times import duration

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

STYLES = {State.OK: "ok", State.WARNING: "warn", State.FAILED: "bad"}


class DoctorScreen(ViewScreen[None]):
    """Shows the steps of one server as they end."""

    CONTEXTS = (Context.DOCTOR,)
    LOOKS_PER_SECOND = 4
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.DOCTOR)

    def __init__(self, runtime: "Runtime", server: str) -> None:
        self._pane = RowsPane(self._rows)
        super().__init__(self._pane)
        self._runtime, self._server = runtime, server
        self._found = Checklist(server)
        self._step, self._began = "", 0.0
        self._problem = ""
        self._checking: asyncio.Task[Any] | None = None

    def on_mount(self) -> None:
        super().on_mount()
        self.again()

    async def on_unmount(self) -> None:
        await self._stop()

    # ---- a follower of the examination -------------------------------------------------------------------

    def begun(self, found: Checklist) -> None:
        self._found = found

    def told(self, server: str, step: Step | str) -> None:
        self._step, self._began = (step, time.monotonic()) if isinstance(step, str) else ("", 0.0)
        self._pane.rewrap()

    def ended(self, found: Checklist) -> None:
        self._step = ""

    # ---- keys --------------------------------------------------------------------------------------------

    def again(self) -> None:
        if not self._runs:
            self._found, self._problem = Checklist(self._server), ""
            self._checking = asyncio.create_task(self._examine(), name=f"doctor of {self._server}")
            self.look()

    def copy(self) -> None:
        redactor = self._runtime.redactor
        text = checklist_report([self._found], during="doctor", env=os.environ, redactor=redactor)
        clipboard.copy(self.app, text, _("the report"))

    async def back(self) -> None:
        """Stop the check, or close."""
        if self._runs:
            await self._stop()
            self._problem = _("Stopped.")
            self.look()
        else:
            self.dismiss(None)

    async def _examine(self) -> None:
        try:
            await examine_in_app(self._runtime, self._server, self)
        except McptuiError as error:
            self._problem = clean_line(localized(error), 400)
        finally:
            self._step = ""
            self.call_later(self.look)

    @property
    def _runs(self) -> bool:
        return self._checking is not None and not self._checking.done()

    async def _stop(self) -> None:
        if self._checking is not None and self._runs:
            self._checking.cancel()
            await asyncio.wait({self._checking})

    # ---- what is shown -----------------------------------------------------------------------------------

    def stays(self) -> str:
        return _("the check still runs") if self._runs else ""

    def look(self) -> None:
        runs = self._runs
        failure = self._found.failure
        style = "bad" if failure is not None else "ok" if not self._found.warnings else "warn"
        verdict: Row = (
            ((_("checking…"), "dim"),) if runs else ((localized(self._found.verdict_with(_named)), style),)
        )
        verdict = EMPTY if self._problem else verdict
        left: Row = ((_("DOCTOR") + " ", "dim bold"), (clean_line(self._server, 64), "text bold"))
        self._title.show((*left, (f"   {clean_line(self._found.launch, 200)}", "dim")), verdict)
        self.show_keys(**({"again": "", "back": N_("stop")} if runs else {}))
        self._pane.rewrap()

    def _local(self, text: str, said: str) -> str:
        """Return a text of a step in the user's language: what it was before it was redacted and cleaned."""
        found = localized(said)
        return text if found == str(said) else clean_line(self._runtime.redactor.redact(found), SEEN)

    def _rows(self, width: int) -> list[Row]:
        symbols = symbols_for()
        marks = {State.OK: symbols.done, State.WARNING: symbols.warning, State.FAILED: symbols.failed}
        steps = (*(one.name for one in self._found.steps), self._step)
        cells = max(NAME_CELLS, *(cells_of(_named(step)) + 1 for step in steps)) + 1
        indent = ((" " * (cells + 3), "text"),)
        rows: list[Row] = []
        for one in self._found.steps:
            took = f"  {duration(one.ms)}" if one.ms is not None and one.ms >= 100 else ""
            head: Row = (
                (f" {marks[one.state]} ", STYLES[one.state]),
                (padded(_named(one.name), cells), "text"),
            )
            text: Row = (
                (self._local(one.seen, one.said[0]), "text" if one.state is not State.OK else "dim"),
                (took, "dim"),
            )
            rows += wrap(text, width, head, indent)
            if one.fix:
                rows += wrap(
                    ((f"{symbols.result} {self._local(one.fix, one.said[1])}", "accent"),),
                    width,
                    indent,
                    indent,
                )
        if self._step:
            seconds = time.monotonic() - self._began
            rows.append(((f" {symbols.waiting} {padded(_named(self._step), cells)}{seconds:.0f} s", "dim"),))
        if self._found.rest and not self._runs:
            names = _(", ").join(map(_named, self._found.rest))
            rows += wrap(((_("not reached: {steps}", steps=names), "dim"),), width, indent, indent)
        if self._problem:
            rows += wrap(((self._problem, "bad"),), width, indent, indent)
        return rows


NAMES = (
    N_("address"),
    N_("close"),
    N_("command"),
    N_("configuration"),
    N_("consent"),
    N_("environment"),
    N_("first byte"),
    N_("folder"),
    N_("handshake"),
    N_("headers"),
    N_("host"),
    N_("interpreter"),
    N_("lists"),
    N_("proxy"),
    N_("registration"),
    N_("schemas"),
    N_("scopes"),
    N_("session"),
    N_("stray output"),
    N_("stream"),
    N_("tcp"),
    N_("tls"),
    N_("token"),
    N_("tokens"),
    N_("version"),
)
"""The names of steps that mean the same elsewhere."""


def _named(step: str) -> str:
    """Return the name of a step in the user's language."""
    match step:
        case "start":
            return c_("step of the doctor", "start")
        case "name":
            return c_("step of the doctor", "name")
        case "answer":
            return c_("step of the doctor", "answer")
        case "faults":
            return c_("step of the doctor", "faults")
    return _(step)


def open_doctor(owner: Any) -> None:
    """Open the checklist of the selected server of the chat screen, or of the server of a workbench."""
    is_chat = hasattr(owner, "regions")
    runtime = owner.runtime if is_chat else owner.shared.runtime
    server = (owner.regions.servers.selected or "") if is_chat else owner.server
    if not server or not runtime.is_ready:
        return
    screen = DoctorScreen(runtime, server)
    if is_chat:
        owner.regions.open_dialog(screen)
    else:
        open_once(owner.app, screen)
