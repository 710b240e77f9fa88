"""The result of a call on the workbench: its line, its page, and the keys for it."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from textual.widgets import TextArea

from tui.core import units
from tui.core.background import Tasks
from tui.core.conversation.conversation import Attachment
from tui.core.forms.form import Form
from tui.core.forms.spec import type_words
from tui.core.language.translate import N_, _, localized
from tui.core.text import clean_line
from tui.core.traffic import Outcome
from tui.core.workbench import PromptResult
from tui.ui.forms.form_pane import FormPane
from tui.ui.keys.bindings import bench_list_bindings, overrides_of
from tui.ui.results.message_draft import ResultSource, for_conversation, prompt_message
from tui.ui.results.result_screen import attach_part, content_of, follow_link, save_part
from tui.ui.results.result_sheets import Part, SideBySide, Stack, sheet_of_result
from tui.ui.widgets import times
from tui.ui.widgets.bar import Bar, key_cap, spread
from tui.ui.widgets.page import AT_ONCE, Lines, Page, Sheet, copy_text
from tui.ui.widgets.rows import EMPTY, Row, filled, progress_bar, width_of
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.tree import Tree
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.call_list import CallList, state_sign
from tui.ui.workbench.calls import STATE_WORDS, HandCall, as_json
from tui.ui.workbench.items import Item
from tui.ui.workbench.kept_calls import KeptVerdict, keep_hint

MOST_PROMISED = 40
"""Maximum members of an output schema to list before the first call."""

BAR_CELLS, FEW_CELLS = 16, 8
NUMBER_FROM = 44
"""Minimum columns for showing the number of the call."""

LONG_BAR_FROM = 72
"""Minimum columns for the longer progress bar."""


class ResultLine(Bar):
    """The line above a result: state, progress and duration of a call, or a note.

    `what` says what the page shows: "" for the call's result, "compared" or "schema".
    """

    def __init__(self) -> None:
        super().__init__(classes="result-line")
        self._call: HandCall | None = None
        self._fresh = ""
        self.note: Row = ()
        self._end: Row = ()
        self._keeps_after_esc: bool | None = None
        self.what = ""

    @property
    def _is_typing(self) -> bool:
        return isinstance(self.screen.focused, FormPane | TextArea)

    def show(self, call: HandCall | None) -> None:
        self._call = call
        self.refresh()

    def look(self) -> None:
        """Update the duration of a running call, how long a resource stays fresh, and the key that keeps."""
        call = self._call
        if self._keeps_after_esc not in (None, self._is_typing):
            self.refresh()
        if call is not None and not self.note and (call.took_ms is None or _freshness(call) != self._fresh):
            self.refresh()

    def say(self, *row: tuple[str, str], end: Row = ()) -> None:
        """Show a note instead of the call, and all of `end`; without arguments, show the call again."""
        self.note, self._end = row, end
        self.refresh()

    def row(self, width: int) -> Row:
        call = self._call
        right: Row = ()
        if call is not None and width >= NUMBER_FROM:
            name = call.name if call.past is not None else _("call {number}", number=call.number)
            right = ((f"{name} ", "dim"),)
        if self.note:
            end = (*self._end, (" ", "")) if self._end else right
            return spread(((" ", ""), *self.note), end, width)
        if self.what == "schema":
            return ((f" {_('SCHEMA')}", "dim bold"),)
        if call is None:
            return ((f" {_('RESULT')}", "dim bold"),)
        if call.state is Outcome.PENDING:
            cells = BAR_CELLS if width >= LONG_BAR_FROM else FEW_CELLS
            return spread(_running(call, cells), (*key_cap("esc", _("stops it")), (" ", "")), width)
        sign, style = state_sign(call)
        took = times.duration(call.took_ms) if call.took_ms is not None else ""
        size = f"   {units.size(call.size)}" if call.result is not None else ""
        head = _("COMPARED") if self.what else _("RESULT")
        fresh = self._fresh = _freshness(call)
        row: Row = ((f" {head}  ", "dim bold"), (f"{sign} {_(STATE_WORDS[call.state])}", style))
        if call.kept is not None:
            words, style = call.kept.cell
            row = (*row, (f"   {words}", style))
        row = (*row, (f"   {took}{size}", "text"), (f"   {fresh}" if fresh else "", "dim"))
        hint: Row = ()
        if call.result is not None and not (call.kept is not None and call.kept.is_same):
            self._keeps_after_esc = self._is_typing
            hint = keep_hint(overrides_of(self.app), is_typing=self._keeps_after_esc)
        ends = (*hint, *right), hint, right
        return spread(row, next((one for one in ends if width_of((*row, *one)) + 2 <= width), ()), width)


def _freshness(call: HandCall) -> str:
    return localized(call.hint.words(time.monotonic_ns())) if call.hint is not None else ""


def _running(call: HandCall, cells: int) -> Row:
    signs = symbols_for()
    elapsed = (time.monotonic_ns() - call.began_ns) / 1e6
    row: Row = (
        (f" {signs.outcomes[1]} {_('running')}", "warn bold"),
        (f"   {times.duration(elapsed)}   ", "text"),
    )
    done, total, message = call.progress or (None, None, "")
    if (share := units.share(done, total)) is not None:
        bar = progress_bar(share, cells, signs.thin, signs.rule)
        row = (*row, *bar, (f" {share * 100:.0f} %  ", "text"))
    elif done is not None:
        row = (*row, (f"{units.amount(done)}  ", "text"))
    return (*row, (clean_line(message, 120), "dim"))


_EXPECTED = {
    "call": N_("The result of {name} appears here."),
    "read": N_("The content of {name} appears here."),
    "get": N_("The messages of {name} appear here."),
    "fetch": N_("The result of the task appears here."),
}


def expected(item: Item | None, promised: Mapping[str, Any] | None) -> list[Row]:
    """Return a description of the expected result; `promised` is the output schema of a tool, or None."""
    if item is None:
        return []
    rows: list[Row] = [((_(_EXPECTED[item.verb], name=item.label), "dim"),)]
    fields = Form(promised).fields()[:MOST_PROMISED] if promised is not None else ()
    if not fields:
        return rows
    rows += [EMPTY, ((_("Structured content:"), "dim"),)]
    for field in fields:
        name = clean_line(field.name, 60) or _("value")
        rows.append(((f"{'  ' * max(1, field.depth)}{name}  ", "tool"), (type_words(field), "dim")))
    return rows


def sheet_of(call: HandCall) -> Sheet:
    """Return the sheet of a call's result. Slow if it is large: then do not run it on the event loop."""
    if call.result is None:
        words = _("Cancelled.") if call.state is Outcome.CANCELLED else ""
        return Lines([((words, "warn"),)])
    return sheet_of_result(call.result, call.promised)


def difference(before: HandCall, after: HandCall) -> Sheet:
    """Return the arguments and the results of two calls side by side. Slow if they are large."""
    from tui.core.comparison.values import line_pairs, lines_of

    if before.result is None or after.result is None:
        return Lines([((_("No result to compare with."), "warn"),)])
    calls: Row = ((_("{call} and {other}", call=before.name, other=after.name), "text"),)
    sheets: list[Part] = [(Lines([calls, EMPTY]), None)]
    parts = (
        (_("ARGUMENTS"), before.arguments, after.arguments, _("The arguments are the same.")),
        (_("RESULT"), as_json(before.result), as_json(after.result), _("The results are the same.")),
    )
    for heading, *values, same in parts:
        old, new = map(lines_of, values)
        if old == new:
            sheets.append((Lines([((heading, "dim bold"), (f"  {same}", "ok")), EMPTY]), None))
        else:
            sheets.append((Lines([((heading, "dim bold"),)]), None))
            sheets += [(SideBySide(line_pairs(old, new)), None), (Lines([EMPTY]), None)]
    return Stack(sheets)


def difference_from_kept(kept: KeptVerdict) -> Sheet:
    """Return the result of a kept call and that of a call with the same arguments side by side."""
    name = clean_line(kept.name, 200), "text"
    heading: Row = filled(_("kept as {name} and this call"), "dim", name=name)
    return Stack([(Lines([heading, EMPTY]), None), (SideBySide(kept.pairs), None)])


class BenchPage(Page):
    """The page of a result, with the keys of the workbench."""

    BINDINGS = bench_list_bindings()


class ResultView:
    """Shows the result of the selected call; compares, searches, copies and saves results."""

    def __init__(self, calls: CallList, shared: BenchContext) -> None:
        self._calls = calls
        self._shared = shared
        self.line = ResultLine()
        self._source = ResultSource(shared.server, shared.runtime.workbench, shared.draft)
        follow = partial(follow_link, source=self._source)
        self.page = BenchPage(follow)
        self._expected: Sequence[Row] = ()
        self._tasks = Tasks()

    def expect(self, item: Item | None) -> None:
        self._expected = expected(item, self._shared.promised(item))

    def show(self) -> None:
        call = self._calls.selected
        self.line.what = ""
        self.line.show(call)
        if call is None:
            self._put(Lines(self._expected))
        elif call.past is not None and call.result is None:
            key = self._shared.overrides.first_of("bench.call_traffic")
            words = _("The result is only in the recording of that run. Press {key} to open it.", key=key)
            self._put(Lines([((words, "dim"),)]))
        elif call.took_ms is None:
            self._put(Lines(()))
        elif call.size <= AT_ONCE:
            self._put(sheet_of(call))
        else:
            self._lay_out(call, partial(sheet_of, call))

    def toggle_schema(self, item: Item | None) -> None:
        """Show the schemas of an item, or the result again."""
        if item is None or self.line.what == "schema":
            self.show()
            return
        schemas: dict[str, Any] = {"inputSchema": item.schema}
        if (promised := self._shared.promised(item)) is not None:
            schemas["outputSchema"] = promised
        self.line.what = "schema"
        self.line.say()
        data = json.dumps(schemas, ensure_ascii=False, default=str).encode("utf-8", "replace")
        self._put(Tree(data))

    def toggle_difference(self) -> None:
        """Compare the result with the marked or kept or previous one, or show the result again.

        With the kept one only if it differs.
        """
        call, before = self._calls.selected, self._calls.before
        if call is None:
            return
        if self.line.what:
            self.show()
        elif call.kept is not None and not call.kept.is_same and self._calls.marked in (None, call):
            self.line.what = "compared"
            self.line.show(call)
            self._lay_out(call, partial(difference_from_kept, call.kept))
        elif call.result is None or before is None:
            self.page.notify(_("No other result to compare with."), timeout=3)
        else:
            self.line.what = "compared"
            self.line.show(call)
            self._lay_out(call, partial(difference, before, call))

    def _lay_out(self, call: HandCall, make_sheet: Callable[[], Sheet]) -> None:
        async def make() -> None:
            sheet = await asyncio.to_thread(make_sheet)
            if self._calls.selected is call:
                self._put(sheet)

        self._put(Lines([((_("reading…"), "warn"),)]))
        self._tasks.start(make(), "lay out a result")

    def _put(self, sheet: Sheet) -> None:
        self.page.search_text = ""
        self.page.show(sheet)

    async def close(self) -> None:
        await self._tasks.cancel()

    def attach(self) -> bool:
        """Attach the content under the cursor to the message; return whether there is one."""
        call = self._calls.selected
        content = content_of(self.page)
        return call is not None and attach_part(self.page, self._source, content, call.item.label)

    def put_into_message(self) -> None:
        """Put the result into the message; for a prompt, its messages unchanged."""
        call = self._calls.selected
        if call is None or call.result is None:
            self.page.notify(_("No result to insert yet."), timeout=3)
        elif isinstance(call.result, PromptResult):
            self._use_prompt(call, call.result, self._shared.draft.put_into_message)
        else:
            self._shared.screen.dismiss(None)
            text = for_conversation(self._shared.server, call.item.label, call.arguments, call.result)
            self._shared.draft.put_into_message(text)

    def send_prompt(self) -> None:
        """Send the messages of the selected prompt to the model."""
        call = self._calls.selected
        if call is None or not isinstance(call.result, PromptResult):
            self.page.notify(_("Get a prompt first. Its messages are sent as shown here."), timeout=4)
        else:
            self._use_prompt(call, call.result, self._shared.draft.send_message)

    def _use_prompt(
        self, call: HandCall, result: PromptResult, use: Callable[[str, Sequence[Attachment]], None]
    ) -> None:
        try:
            text, attachments = prompt_message(result, f"{self._shared.server}:{call.item.label}")
        except ValueError as error:
            self.page.notify(_("Not attached: {why}.", why=localized(error)), severity="warning", timeout=5)
            return
        if result.problem or not (text or attachments):
            self.page.notify(_("This prompt returned no messages."), timeout=3)
            return
        self._shared.screen.dismiss(None)
        use(text, attachments)

    def copy_all(self) -> None:
        call = self._calls.selected
        if call is not None and call.result is not None:
            text = json.dumps(as_json(call.result), ensure_ascii=False, indent=2)
            copy_text(self.page.app, text, _("the result"), "bench.save")

    def save(self) -> None:
        """Save the image or text under the cursor, otherwise the whole result, to a file."""
        call = self._calls.selected
        if call is None or call.result is None:
            return
        save_part(self.page, self._shared.prompt, f"mcptui-{call.id}", as_json(call.result))
