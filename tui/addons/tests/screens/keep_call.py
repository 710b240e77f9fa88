"""A call in the keep dialog: its server, what varies in its result, its time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tui.addons.tests.keep.draft import described
from tui.addons.tests.keep.exchange import Other
from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.keep.repeat import ARGUMENT_CHARS, question
from tui.addons.tests.keep.target import Target, added_to
from tui.addons.tests.keep.variation import Variation
from tui.addons.tests.screens.keep_dialog import KeepDialog, Kept
from tui.addons.tests.screens.keep_list import (
    BLANK,
    SERVER,
    Layout,
    Line,
    heading,
    sentences,
    server_of,
    switch,
)
from tui.addons.tests.suite.case import RequestKind
from tui.addons.tests.suite.durations import duration_text
from tui.core.comparison.values import path_text
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import cells_of, clean_line, compact, quoted_name
from tui.ui.dialogs.confirm import Confirm, call_after
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, spread, width_of
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.times import duration

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

TIME, AGAIN = "time", "again"
"""The keys of lines that are no variations."""

MOST_WHERE = 26
PLACEHOLDER_CELLS = 10
VALUE_CHARS = 40
LEAST_SEEN = 12
"""Minimum cells for the values of a line, before the words why they vary."""

CALL_AGAIN = N_("Call it twice more to find what varies")


@dataclass(frozen=True, slots=True)
class Again:
    """How a request is sent twice more, for its results with their milliseconds; or `why` it is not."""

    call: Callable[[], Awaitable[Sequence[Other]]] | None = None
    runtime: "Runtime | None" = None
    why: str = ""


@dataclass(slots=True)
class KeptCall(Kept[Keeping]):
    """The call that the dialog keeps.

    `write` writes the case, and returns what to say. `whole_turn` opens the dialog for the turn of the call.
    """

    again: Again
    write: Callable[[Keeping, Target], Awaitable[str]]
    whole_turn: Callable[[], None] | None = None

    @property
    def actions(self) -> Mapping[str, tuple[str, Callable[[KeepDialog], None]]]:
        again = {"ctrl+r": (_("call twice more"), self._ask)} if self.again.call is not None else {}
        return again | (
            {"ctrl+g": (_("keep the turn"), self._keep_turn)} if self.whole_turn is not None else {}
        )

    @property
    def name(self) -> str:
        return self.keeping.draft.name

    def title(self) -> tuple[Row, Row]:
        exchange, signs = self.keeping.draft.exchange, symbols_for()
        request = exchange.request
        given = (f"{clean_line(name, 40)}={compact(one, 60)}" for name, one in request.arguments.items())
        what = clean_line(localized(described(request)), 100)
        called = f"{clean_line(exchange.server, 40)} {signs.within} {what}  "
        left: Row = (
            (_("KEEP AS A TEST") + "  ", "dim bold"),
            (called, "text bold"),
            ("  ".join(given), "dim"),
        )
        sign, style = (signs.failed, "bad") if exchange.is_error else (signs.done, "ok")
        return left, ((f"{sign} ", style), (duration(exchange.ms), "dim"))

    def lines(self, layout: Layout) -> list[Line]:
        is_alone = not self.keeping.draft.exchange.others
        again = _(CALL_AGAIN) if is_alone else _("Call it twice more")
        again = _("Calling…") if self.is_busy else again if self.again.call is not None else ""
        return lines_of(
            self.keeping, self.target, localized(self.again.why) if is_alone else "", again, layout
        )

    def note(self) -> tuple[str, bool]:
        keeping, target = self.keeping, self.target
        there = keeping.same_case(target, self.name) or keeping.same_case(target)
        if target.is_new:
            return _("new file"), False
        if there is None or (self.name in target.names and there.name != self.name):
            is_taken = self.name in target.names
            taken = _("This file already has a case of this name.")
            return taken if is_taken else added_to(target), is_taken
        name, file = quoted_name(there.name, 80), self.shown_path
        if there.name != self.name:
            return _("already kept as {name} in {file}. This name keeps both.", name=name, file=file), False
        if keeping.is_kept_by(there) and not keeping.is_changed:
            return _("already kept, with this result, as {name} in {file}", name=name, file=file), False
        return _("ctrl+s replaces what is expected by {name} in {file}", name=name, file=file), False

    def switch(self, key: Hashable, dialog: KeepDialog) -> None:
        draft = self.keeping.draft
        if isinstance(key, Variation):
            if key.required:
                dialog.notify(_("A secret is never written to a file."), timeout=4)
            self.keeping = replace(self.keeping, draft=draft.switch(key))
        elif key == TIME:
            self.keeping = replace(self.keeping, draft=replace(draft, timed=not draft.timed))
        elif key == SERVER:
            self.keeping = replace(self.keeping, by_name=not self.target.server.server.name)
            dialog.look_at_file()
        elif key == AGAIN:
            self._ask(dialog)

    async def keep(self) -> str:
        return await self.write(self.keeping, self.target)

    def _keep_turn(self, dialog: KeepDialog) -> None:
        if self.whole_turn is not None:
            dialog.dismiss(None)
            self.whole_turn()

    def _ask(self, dialog: KeepDialog) -> None:
        """Send the request twice more, after a yes that names it."""
        exchange, runtime = self.keeping.draft.exchange, self.again.runtime
        if self.is_busy or runtime is None:
            return
        request = exchange.request
        is_tool = request.kind is RequestKind.TOOL
        called = (exchange.server, request.name, request.arguments) if is_tool else None
        about = compact(dict(request.arguments), ARGUMENT_CHARS)
        head = localized(question(exchange)[0])
        asked = Confirm(head, yes=_("call twice"), no=_("cancel"), about=about, by_letter=True)

        def send() -> None:
            dialog.run_worker(self._compare(dialog), name="call again")

        call_after(asked, dialog.app, runtime, called, send)

    async def _compare(self, dialog: KeepDialog) -> None:
        self.is_busy = True
        dialog.show()
        try:
            results = await self.again.call() if self.again.call is not None else ()
            compared = await asyncio.to_thread(self.keeping.compared_with, results)
            self.keeping = compared.named(self.name)
        except McptuiError as error:
            dialog.notify(localized(error), severity="warning", timeout=6)
        self.is_busy = False
        dialog.show()


def lines_of(keeping: Keeping, target: Target, note: str, again: str, layout: Layout) -> list[Line]:
    """Return the lines for a call.

    `again` is the label of the line that calls twice more, or "". `note` says why that is not possible.
    """
    draft, width = keeping.draft, layout.width
    server, timed = _server(keeping, target), _time(keeping)
    head = [server, timed] if layout.is_short else [heading(_("SERVER")), server, BLANK]
    others = draft.exchange.others
    compared = n_("compared with {n} other result", "compared with {n} other results", len(others))
    compared = compared if others else _("no other result to compare with")
    lines = [*head, heading(_("VARIES"), compared)]
    found = draft.variations
    whole = len(draft.parts) > 1  # otherwise, all paths begin with the same key
    names = [clean_line(one.where if whole else path_text(one.path[1:]) or one.where, 80) for one in found]
    cells = min(max(map(cells_of, names), default=0), MOST_WHERE, max(8, width // 3))
    lines += [
        _varying(one, name, cells, is_on=draft.is_on(one)) for one, name in zip(found, names, strict=True)
    ]
    if not found:
        said = _("Nothing differs.") if others else _("Nothing looks like a time or an id.")
        lines.append(Line(partial(crop, ((said, "dim"),))))
    if again:
        lines.append(Line(lambda cells: ((f"{symbols_for().result} ", "accent"), (again, "accent")), AGAIN))
    lines += sentences(note, width)
    return lines if layout.is_short else [*lines, BLANK, heading(_("TIME")), timed]


def _server(keeping: Keeping, target: Target) -> Line:
    is_chosen = target.suite is not None and target.suite.server is not None
    if is_chosen or not keeping.origin.configured:
        return Line(partial(crop, ((server_of(target), "text"),)))
    if target.server.server.name:
        return switch(_("write the command"), _("only where it is configured"), SERVER, is_on=False)
    said = _("write the command: {command}", command=server_of(target))
    return switch(said, "", SERVER, is_on=True)


def _time(keeping: Keeping) -> Line:
    exchange, limit = keeping.draft.exchange, keeping.draft.within
    slowest, number = duration(max(exchange.ms, *exchange.other_ms, 0.0)), 1 + len(exchange.other_ms)
    took = (
        _("took {time}", time=slowest) if number == 1 else _("slowest of {n}: {time}", n=number, time=slowest)
    )
    within = _("within {time}", time=duration_text(limit))
    return switch(within, took, TIME, is_on=keeping.draft.timed)


def _varying(one: Variation, name: str, name_cells: int, *, is_on: bool) -> Line:
    def row(cells: int) -> Row:
        sign = symbols_for().running if is_on else symbols_for().stopped
        style = "text" if is_on else "dim"
        seen = ", ".join(clean_line(text, VALUE_CHARS) or _("(empty)") for text in (one.value, *one.others))
        instead = clean_line(one.placeholder, PLACEHOLDER_CELLS) or _("left out")
        left: Row = (
            (f"{sign} ", "accent" if is_on else "dim"),
            *pad(crop(((name, style),), name_cells), name_cells + 1),
            *pad(((instead, "tool" if is_on else "dim"),), PLACEHOLDER_CELLS),
        )
        why: Row = ((localized(one.why), "warn" if one.required else "dim"),)
        room = cells - width_of(left)
        if width_of(why) + LEAST_SEEN > room:
            why = EMPTY
        return spread((*left, *crop(((seen, "dim"),), max(1, room - width_of(why) - 2))), why, cells)

    return Line(row, one)
