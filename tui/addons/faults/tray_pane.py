"""The tray on the traffic screen: the breakpoint, and the messages that it holds."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tui.addons.faults.answer_dialogs import ToolAnswer, json_editor
from tui.addons.faults.breakpoints_filter import KNOWN, parse_breakpoint
from tui.addons.faults.fault_stage import parse_live
from tui.addons.faults.rules import examples
from tui.addons.faults.tray import AnyHeld, Tray
from tui.addons.faults.tray_answers import answer_to, part_of, recorded_answer, recorded_schema, with_part
from tui.addons.faults.tray_rows import held_row, way_of
from tui.core.language.translate import N_, _, localized
from tui.core.text import clean_line
from tui.core.traffic import ANSWERS, Kind
from tui.traffic.filter.query import FilterCompletion, Query, QueryProblem, parse
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of, overrides_of
from tui.ui.traffic.filter_bar import FilterBar
from tui.ui.traffic.resender import MOST_EDITED
from tui.ui.widgets.bar import SplitBar, key_cap
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

    from tui.traffic.record.entry_columns import EntryColumns
    from tui.ui.traffic.resender import LiveRun
    from tui.ui.traffic.screen import TrafficScreen

LOOKS_PER_SECOND = 4
MOST_LINES = 6
FOLLOW_SECONDS = 10.0
"""How soon after its request a response must be held to get the focus."""

EDITABLE = frozenset({Kind.REQUEST, Kind.NOTIFICATION, *ANSWERS})


class BreakpointBar(FilterBar):
    """Asks for the filter of the breakpoint."""

    LINE_KEYS = (("enter", N_("set")), *FilterBar.LINE_KEYS[1:])
    LABEL = N_("breakpoint")
    PLACEHOLDER = N_("tool:delete_* dir:out   empty: no breakpoint")
    FIELDS = KNOWN

    def __init__(self, live: "LiveRun", entries: "EntryColumns", closed: Callable[[Query], None]) -> None:
        super().__init__(entries, lambda query: None, closed)
        self._run = live

    def parsed(self, text: str) -> Query:
        return parse_breakpoint(text)

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the names in the recording, and the tools that were not called yet."""
        found = dict(super().names())
        tools = self._run.runtime.turn_context.toolbox.tools()
        return found | {"tool": [*dict.fromkeys((*found["tool"], *(tool.name for tool in tools)))]}


class FaultBar(FilterBar):
    """Asks for the faults of this run."""

    LINE_KEYS = BreakpointBar.LINE_KEYS
    LABEL = N_("faults")
    PLACEHOLDER = N_("tool:create_* lose=answer 1/3 seed=7   flaky   empty: only configured faults")
    FIELDS = KNOWN

    def __init__(self, entries: "EntryColumns", closed: Callable[[Query], None]) -> None:
        super().__init__(entries, lambda query: None, closed)

    def completions(self, text: str, cursor: int) -> list[FilterCompletion]:
        """Return the completions at the cursor: also those of faults."""
        start = max(text.rfind(sign, 0, cursor) for sign in " ;") + 1
        word, found = text[start:cursor], super().completions(text, cursor)
        faults = [
            FilterCompletion(start, cursor, name, meaning)
            for name, meaning in examples().items()
            if name.startswith(word)
        ]
        return [*faults, *found] if word else [*found, *faults]

    def parsed(self, text: str) -> Query:
        try:
            parse_live(text)
        except ValueError as error:
            return Query(text, None, (QueryProblem(0, len(text), localized(error)),))
        return Query(text)


class HeldList(LinePane, inherit_bindings=False):
    """The held messages. The cursor stays on its message."""

    CURSOR, FOLLOWS = True, False
    CONTEXT = Context.TRAY

    BINDINGS: ClassVar[list[BindingType]] = [*LinePane.BINDINGS[:-1], *bindings_of(Context.TRAY)]

    def __init__(self) -> None:
        super().__init__(id="held")
        self._messages: list[AnyHeld] = []
        self._at_ns = 0  # of the selected one

    def show(self, messages: list[AnyHeld]) -> None:
        """Show these messages. If the selected one is gone, the next one is selected."""
        self._messages = messages
        later = (place for place, held in enumerate(messages) if held.at_ns >= self._at_ns)
        self.cursor = next(later, max(0, len(messages) - 1))
        self._at_ns = messages[self.cursor].at_ns if messages else 0
        self.rows_changed()
        self.show_row(self.cursor)

    @property
    def selected(self) -> AnyHeld | None:
        return self._messages[self.cursor] if self.cursor < len(self._messages) else None

    def row_count(self) -> int:
        return len(self._messages)

    def row(self, index: int) -> Row:
        lead = f"{symbols_for().cursor} " if index == self.cursor and self.has_focus else "  "
        return held_row(self._messages[index], time.monotonic_ns(), lead, self.columns)

    def cursor_moved(self, index: int) -> None:
        self._at_ns = self._messages[index].at_ns
        self.repaint()

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()


class TrayPane(Vertical):
    """The breakpoint of a run and its held messages; hidden while there is neither."""

    DEFAULT_CSS = """
    TrayPane { height: auto; background: $surface; display: none; }
    TrayPane > SplitBar { padding: 0 1; background: $panel; }
    TrayPane > HeldList { background: $surface; }
    """

    def __init__(self, screen: "TrafficScreen") -> None:
        super().__init__(id="tray")
        assert screen.live is not None
        self._traffic = screen
        self.tray: Tray = screen.live.runtime.breakpoints
        self._line = SplitBar()
        self.list = HeldList()
        self.bar = BreakpointBar(screen.live, screen.recording.entries, self._set)
        self.fault_bar = FaultBar(screen.recording.entries, self._inject)
        self._seen = -1
        self._released: AnyHeld | None = None  # the request whose response gets the focus
        self._released_at = 0.0

    def compose(self) -> ComposeResult:
        yield self.bar
        yield self.fault_bar
        yield self._line
        yield self.list

    def on_mount(self) -> None:
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    def on_descendant_focus(self) -> None:
        self._seen = -1  # the hint depends on it

    def on_descendant_blur(self) -> None:
        self._seen = -1

    def look(self) -> None:
        """Show what is held; cheap if that is nothing."""
        tray = self.tray
        if tray.revision != self._seen:
            self._seen = tray.revision
            self._show(tray)
        elif tray.messages:
            self.list.repaint()

    def _show(self, tray: Tray) -> None:
        messages = list(tray.messages)
        faults = clean_line(tray.faults.text, 200)
        is_used = bool(messages or tray.text or faults)
        if not messages and self._is_focused:
            self.leave()  # before the list is hidden: Textual would choose what gets the focus
        self.display = is_used or self.bar.display or self.fault_bar.display
        self._line.display = is_used
        self.list.display = bool(messages)
        self.list.styles.height = min(MOST_LINES, len(messages))
        self.list.show(messages)
        self._follow(messages)
        keys = overrides_of(self.app)
        held: Row = ()
        if messages:
            held = ((_("HELD {count}", count=len(messages)) + "  ", "warn bold"),)
        text = clean_line(tray.text, 200)
        breakpoint: Row = ((_("no breakpoint"), "dim"),)
        if text:
            breakpoint = ((f"{_('breakpoint')} ", "dim"), (text, "text"))
        is_left = messages and not self._is_focused
        hint = ("tray.open", _("focus")) if is_left else ("traffic.breakpoint", _("change"))
        if faults and not (messages or text):
            breakpoint, hint = (), ("traffic.faults", _("change"))
        injected: Row = ()
        if faults:
            injected = (("   " if breakpoint else "", ""), (f"{_('faults')} ", "dim"), (faults, "warn"))
        self._line.show((*held, *breakpoint, *injected), key_cap(keys.first_of(hint[0]), hint[1]))

    def release(self) -> None:
        """Send the selected message on. If its response is held soon after, that has the focus."""
        if (held := self.list.selected) is not None:
            self._released = held if self._is_focused and held.reading.kind is Kind.REQUEST else None
            self._released_at = time.monotonic()
            held.release()
            self.look()

    def _follow(self, messages: Sequence[AnyHeld]) -> None:
        """Focus the response to the request that was released just before, unless the user went elsewhere."""
        asked, screen = self._released, self._traffic
        if asked is None or not any(_answers(held, asked) for held in messages):
            return
        self._released = None
        is_soon = time.monotonic() - self._released_at < FOLLOW_SECONDS
        if is_soon and screen.focused is self._outside:
            screen.set_focus(self.list, scroll_visible=False)

    @property
    def _is_focused(self) -> bool:
        """Whether the list has the focus. `has_focus` comes later, which is too late in a burst of keys."""
        return self._traffic.focused is self.list

    @property
    def _outside(self) -> "Widget":
        """What has the focus after the tray."""
        screen = self._traffic
        return screen.list if screen.list.display else screen.entry.pages[0]

    def ask(self) -> None:
        """Ask for the breakpoint."""
        self.display = True
        self.bar.open(parse(self.tray.text))

    def ask_for_faults(self) -> None:
        """Ask for the faults."""
        self.display = True
        self.fault_bar.open(Query(self.tray.faults.text))

    def _inject(self, query: Query) -> None:
        if query.text.strip() != self.tray.faults.text:
            self.tray.inject(query.text)
        self._seen = -1
        self.leave()
        self.look()

    def _set(self, query: Query) -> None:
        self.tray.noticed = partial(_say, self.app)
        if query.text.strip() != self.tray.text:
            self.tray.set(query.text)
        self._seen = -1
        self.leave()
        self.look()

    def leave(self) -> None:
        """Focus the list of the traffic, or the open entry if that is hidden."""
        self._traffic.set_focus(self._outside, scroll_visible=False)

    def edit(self) -> None:
        """Edit the selected message. It stays held."""
        held = self.list.selected
        if held is None:
            return
        if held.reading.kind not in EDITABLE:
            self.notify(_("Only a message of JSON-RPC can be edited."), timeout=4)
        elif len(held.sent) > MOST_EDITED:
            self.notify(_("Too large to edit here."), timeout=4)
        else:
            self._open(held, N_("EDIT"), _("held"), part_of(held), partial(self._edited, held))

    def _edited(self, held: AnyHeld, part: Mapping[str, Any] | None) -> None:
        if part is not None and part != part_of(held):
            self._do(held, lambda: held.edit(with_part(held, part)))

    async def answer(self) -> None:
        """Answer the selected request, starting with a recorded answer to the same call."""
        held = self.list.selected
        if held is None:
            return
        if why := held.why_no_answer:
            self.notify(localized(why), timeout=4)
            return
        found = await recorded_answer(self._traffic.list, held)
        said, note = answer_to(held), _("held")
        if found is not None:
            said, note = found.said, found.origin
        done = partial(self._answered, held)
        if not held.reading.tool:
            self._open(held, N_("ANSWER"), note, said, done)
        else:
            is_new = found is None and held.reading.kind is Kind.REQUEST
            schema = await self._promised(held)
            ToolAnswer(self.app, _title("ANSWER", held), note, schema, done).ask(said, is_new=is_new)

    async def _promised(self, held: AnyHeld) -> Mapping[str, Any] | None:
        """Return the output schema of the tool of a call, None without one. A tap does not list its tools."""
        assert self._traffic.live is not None
        workbench = self._traffic.live.runtime.workbench
        for tool in workbench.tools(held.source):
            if tool.name == held.reading.tool:
                return workbench.output_schema(tool)
        return await recorded_schema(self._traffic.list, held)

    def _answered(self, held: AnyHeld, said: Mapping[str, Any] | None) -> None:
        if said is not None:
            self._do(held, lambda: held.answer(said))

    def _do(self, held: AnyHeld, act: Any) -> None:
        if held.is_over:
            self.notify(_("This message is no longer held."), timeout=4)
        else:
            act()
        self.look()

    def _open(self, held: AnyHeld, word: str, note: str, value: Mapping[str, Any], done: Any) -> None:
        verb = N_("save") if word == "EDIT" else N_("send")
        self.app.push_screen(json_editor(_title(word, held), note, value, verb), done)


def _title(word: str, held: AnyHeld) -> Row:
    return ((f"{_(word)}  ", "text bold"), (way_of(held), "text"))


def _answers(held: AnyHeld, asked: AnyHeld) -> bool:
    """Whether a held message is the response to a request."""
    return (
        held.reading.kind in ANSWERS
        and held.direction is not asked.direction
        and (held.source, held.reading.ident) == (asked.source, asked.reading.ident)
    )


def _say(app: "App[Any]", held: AnyHeld) -> None:
    """Say that a message is held, if another screen is on top."""
    from tui.ui.traffic.screen import TrafficScreen

    if app.screen_stack and not isinstance(app.screen, TrafficScreen):
        key = overrides_of(app).first_of("traffic.open")
        words = _("The breakpoint holds {message}. Press {key}.", message=way_of(held), key=key)
        app.notify(words, timeout=6, markup=False)


def _pane(screen: "TrafficScreen") -> TrayPane:
    return screen.query_one(TrayPane)


def focus(screen: "TrafficScreen") -> None:
    """Go to the held messages. At once: the next key of a burst is for them."""
    pane = _pane(screen)
    pane.look()
    screen.set_focus(pane.list, scroll_visible=False)


def set_breakpoint(screen: "TrafficScreen") -> None:
    """Ask for a breakpoint."""
    _pane(screen).ask()


def inject_faults(screen: "TrafficScreen") -> None:
    """Ask for faults."""
    _pane(screen).ask_for_faults()


def edit(screen: "TrafficScreen") -> None:
    """Edit the selected message."""
    _pane(screen).edit()


def release(screen: "TrafficScreen") -> None:
    """Send the selected message on."""
    _pane(screen).release()


def drop(screen: "TrafficScreen") -> None:
    """Drop the selected message."""
    if (held := _pane(screen).list.selected) is not None:
        held.drop()
        _pane(screen).look()


async def answer(screen: "TrafficScreen") -> None:
    """Answer the selected message."""
    await _pane(screen).answer()


def release_all(screen: "TrafficScreen") -> None:
    """Send everything on."""
    pane = _pane(screen)
    pane.tray.release_all()
    pane.look()


def back(screen: "TrafficScreen") -> None:
    """Leave the tray."""
    _pane(screen).leave()
