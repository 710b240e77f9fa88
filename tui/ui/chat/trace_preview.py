"""The preview below the trace, in a wide terminal: arguments and result of the call under the cursor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.core.jsonrpc.reader import json_within
from tui.core.language.translate import _, n_
from tui.traffic.spans.span_values import CallSpan, Span
from tui.ui.chat.regions import Regions
from tui.ui.chat.transcript.blocks import end_text
from tui.ui.widgets.bar import Rule
from tui.ui.widgets.rows import PREVIEW_FROM, Row
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.times import duration

if TYPE_CHECKING:  # not needed before the trace has the focus
    from tui.ui.widgets.preview import Preview, Section


class TracePreview:
    """Shows the selected call while the trace has the focus. Nothing is mounted until then."""

    def __init__(self, regions: Regions) -> None:
        self._regions = regions
        self._pane: Preview | None = None
        self._rule = Rule(id="rule-preview")
        self._is_mounting = False
        self._state: object = None

    def look(self) -> None:
        """Show the call under the cursor, or hide the preview; cheap if nothing changed."""
        regions, pane = self._regions, self._pane
        is_wide = regions.screen.app.size.width >= PREVIEW_FROM
        wanted = regions.has_panes and regions.trace.has_focus and regions.only is None and is_wide
        if pane is None:
            if wanted and not self._is_mounting:
                self._is_mounting = True
                regions.start(self._mount(), "mount the preview of the trace")
            return
        if pane.display != wanted:
            pane.display = self._rule.display = wanted
            pane.call_after_refresh(lambda: regions.trace.show_row(regions.trace.cursor))
        if wanted:
            self._show(pane, regions.trace.selected)

    async def _mount(self) -> None:
        from tui.ui.widgets.preview import Preview

        pane = Preview()
        pane.id = "trace-preview"
        await self._regions.side.mount(self._rule, pane)
        self._rule.join(lambda: {0: "├"})
        self._pane = pane
        self.look()

    def _show(self, pane: "Preview", span: Span | None) -> None:
        from tui.ui.widgets.page import Lines
        from tui.ui.widgets.preview import Sections

        call = span if isinstance(span, CallSpan) else None
        state = None if call is None else (call.turn, call.id, call.state, call.ms, call.result)
        if state == self._state and pane.sheet.count():
            return
        self._state = state
        if call is not None:
            pane.show(Sections(call_sections(call)))
        else:
            pane.show(Lines([((_("Select a call to see its arguments and its result."), "dim"),)]))


def call_sections(call: CallSpan) -> "Sequence[Section]":
    """Return the arguments and the result of a call, as far as the trace has them."""
    from tui.ui.widgets.page import Lines, Sheet
    from tui.ui.widgets.preview import Section
    from tui.ui.widgets.tree import Tree

    name = f"{call.server} {symbols_for().within} {call.tool}" if call.server else call.tool
    given: list[Row] = [((f"{key}  ", "tool"), (value, "text")) for key, value in call.arguments]
    took = ((duration(call.ms), "dim"),) if call.ms is not None else ((_(call.state), "dim"),)
    none: Row = ((_("No arguments"), "dim"),)
    sections = [Section(((name, "tool bold"),), took, Lines(given or [none]))]
    if call.result is None:
        return sections
    text, omitted = end_text(call.result.text, call.why, call.state), call.result.omitted
    sheet: Sheet = Lines([((line, "text"),) for line in text.split("\n")])
    if not omitted and json_within(text) is not None:
        sheet = Tree(text.encode("utf-8", "replace"))
    more = n_("{n} more character", "{n} more characters", omitted) if omitted else ""
    return [*sections, Section(((_("Result"), "text bold"),), ((more, "dim"),), sheet)]
