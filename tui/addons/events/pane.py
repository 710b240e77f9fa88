"""The list of events with what its keys do: in the workbench of a server, and on a screen for all servers."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tui.addons.events.events import Events, Subscribed
from tui.addons.events.inbox import InboxItem, attachment_of_event
from tui.addons.events.rows import Line, Shown, detail_rows, list_rows, rule_rows, translated
from tui.addons.events.rules import EventRule
from tui.addons.events.subscribe import SubscribeForm
from tui.addons.events.wire import EventType
from tui.core.conversation.conversation import Attachment
from tui.core.language.translate import N_, _, n_
from tui.core.ports import BY_KEY
from tui.core.questions import Action, QuestionAnswer
from tui.core.text import clean_line
from tui.traffic.filter.fields import quoted, written
from tui.ui.dialogs.question_dialog import YES, QuestionDialog
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.dialogs.rows_dialog import TextDialog
from tui.ui.keys.action_table import Context, action, of_context
from tui.ui.keys.bindings import first_key, overrides_of
from tui.ui.keys.footer import Entry, entries_of
from tui.ui.widgets.bar import Rule, SplitBar
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.rows import Row
from tui.ui.workbench.addon_tabs import AddonList, AddonPane, pane_bindings

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

T = TypeVar("T")
MAX_TURNS = 20
MAX_ITEMS = 500
"""Rows of the inbox; a filter finds the others."""

_VERBS: Mapping[type[Any], str] = {EventType: N_("subscribe"), EventRule: N_("confirm")}


class EventList(AddonList):
    """Event types, subscriptions and the inbox, one a row."""

    BINDINGS: ClassVar[list[BindingType]] = pane_bindings(Context.EVENTS)


def _key(line: Line | None) -> object:
    """Return what a row is about: an event type is another object once it is listed again."""
    if isinstance(line, InboxItem):
        return line.number
    return line.name if isinstance(line, EventType) else line


class EventsPane(AddonPane):
    """The events of one server, or of all if `server` is "".

    `attach` puts attachments into the next message, `show_traffic` shows the traffic with a filter, `close`
    is what the last escape does.
    """

    DEFAULT_CSS = """
    EventsPane > SplitBar { background: $panel; padding: 0 1; }
    EventsPane > AddonList { background: $surface; height: 2fr; }
    EventsPane > RowsPane { height: 1fr; padding: 0 1; background: $surface; }
    """

    context = Context.EVENTS
    LIST: ClassVar[type[AddonList]] = EventList

    def __init__(
        self,
        runtime: "Runtime",
        prompt: PromptLine,
        attach: Callable[[Sequence[Attachment]], None],
        show_traffic: Callable[[str], None],
        close: Callable[[], None],
        server: str = "",
    ) -> None:
        super().__init__(id="bench-events")
        self._runtime, self._prompt, self._server = runtime, prompt, server
        self._put, self._show_traffic, self._leave = attach, show_traffic, close
        self._line = SplitBar(wraps=True)
        self.list: AddonList = self.LIST("events", self._show_detail, self.act, _key, "events.choose")
        self._detail = RowsPane(lambda width: list(detail_rows(self._selected, time.time(), width)))
        self._types: Sequence[EventType] | None = None
        self._problem, self._filter = "", ""
        self._seen: object = None
        self._asked: object = None

    @property
    def _events(self) -> Events:
        found: Events = self._runtime.events
        return found

    @property
    def _selected(self) -> Line | None:
        found: Line | None = self.list.selected
        return found

    def compose(self) -> ComposeResult:
        yield self._line
        yield self.list
        yield Rule()
        yield self._detail

    def on_mount(self) -> None:
        self._events.begin()
        self.look()

    def look(self) -> None:
        events, server = self._events, self._server
        if server and self._asked is None and events.offers(server):
            self.reload()
        subscriptions = events.of(server) if server else events.subscriptions
        seen = (
            events.revision,
            events.actor.is_on,
            self._types,
            self._problem,
            self._filter,
            self.list.columns,
            server,
        )
        if seen == self._seen:
            return
        self._seen = seen
        items = events.inbox.matching(self._filter, server)
        unread = sum(not item.is_read for item in items)
        types = (self._types or ()) if server else None
        actor = events.actor
        rules = [] if server else [(rule, actor.standing(rule)) for rule in actor.rules]
        turns = [] if server else list(reversed(actor.state.turns[-MAX_TURNS:]))
        shown = Shown(types, subscriptions, items[:MAX_ITEMS], unread, rules, turns, self._empty())
        rows = list_rows(shown, time.time(), self.list.columns)
        self.list.show([line for line, _ in rows], [row for _, row in rows])
        self._line.show(*self._title(len(items)))
        self._show_detail()

    def _title(self, shown: int) -> tuple[Row, Row]:
        events = self._events
        running = sum(one.task is not None for one in events.subscriptions)
        said = n_("{n} subscription delivering", "{n} subscriptions delivering", running)
        left: Row = ((said if events.delivers else "", "text"),)
        if self._filter:
            said = _("filter {words}: {n}", words=clean_line(self._filter, 80), n=shown)
            left = (*left, (f"   {said}", "accent"))
        if why := events.problem or self._problem:
            return left, ((clean_line(translated(why), 200), "warn"),)
        if (rule := events.actor.running) is not None:
            keys = first_key(overrides_of(self.app).keys_of(action("events.stop_all")))
            said = _("asking about {event}, {key} stops it", event=clean_line(rule.on, 60), key=keys)
            return left, ((said, "warn"),)
        dropped = events.inbox.dropped
        said = n_("{n} older event dropped unread", "{n} older events dropped unread", dropped)
        return left, ((said, "warn"),) if dropped else ()

    def _empty(self) -> str:
        if not self._server:
            return _("Subscribe in the workbench of a server that offers events: f3, enter, 9")
        return _("No event types") if self._types is not None else _("Listing event types…")

    def _show_detail(self) -> None:
        self._detail.rewrap()

    def keys(self) -> Sequence[Entry]:
        """Return the keys that do something with the selected row."""
        line, overrides = self._selected, overrides_of(self.app)
        hidden = {"events.reload"} if not self._server else set()
        if not isinstance(line, InboxItem):
            hidden |= {"events.attach", "events.traffic"}
        if not isinstance(line, Subscribed):
            hidden |= {"events.pause", "events.unsubscribe"}
        else:
            hidden.add("events.choose")
        words = {"events.choose": _VERBS.get(type(line), N_("read"))}
        if isinstance(line, EventRule) and line.digest in self._events.actor.state.confirmed:
            words["events.choose"] = N_("withdraw")
        if isinstance(line, Subscribed) and line.kept.is_paused:
            words["events.pause"] = N_("continue")
        words["events.back"] = N_("clear filter") if self._filter else N_("back")
        return [
            (key, _(words[one.id]) if one and one.id in words else label, one)
            for key, label, one in entries_of(of_context(self.context), overrides)
            if one is None or one.id not in hidden
        ]

    # ---- keys --------------------------------------------------------------------------------------------

    def choose(self) -> None:
        """Subscribe to the selected event type, or read the selected event."""
        line = self._selected
        if isinstance(line, EventType):
            self._subscribe(line)
        elif isinstance(line, InboxItem):
            self._events.read([line.number])
            title = f"{clean_line(line.server, 60)} / {clean_line(line.event, 80)}"
            self.app.push_screen(TextDialog(title, line.text or translated(line.problem)))
        elif isinstance(line, EventRule):
            self._confirm(line)

    def _confirm(self, rule: EventRule) -> None:
        """Ask whether events may be asked about by a rule; a confirmed one is withdrawn at once."""
        events = self._events
        if rule.digest in events.actor.state.confirmed:
            self.run(
                events.confirm(rule, is_confirmed=False), _("Withdrawn: its events are not asked about.")
            )
            return

        def answered(answer: QuestionAnswer | None) -> None:
            if answer is not None and answer.action is Action.ACCEPT:
                self.run(events.confirm(rule))

        labels = {YES: _("yes, ask about them"), "ask.cancel": _("no")}
        pane = ReadPane(rule_rows(rule))
        self.app.push_screen(QuestionDialog(rule, overrides_of(self.app), [pane], labels), answered)

    def _subscribe(self, kind: EventType) -> None:
        if kind.why_not:
            self._say(translated(kind.why_not))
            return
        events, server = self._events, self._server

        def subscribe(arguments: dict[str, Any] | None) -> None:
            if arguments is not None:
                self.run(events.subscribe(server, kind, arguments, by=BY_KEY), _("Subscribed."))

        mode = events.mode_of(server, kind)
        self.app.push_screen(SubscribeForm(overrides_of(self.app), server, kind, mode), subscribe)

    def attach(self) -> None:
        """Attach the selected event to the next message, labelled as data of its server."""
        if (line := self._selected_as(InboxItem, _("Select an event first."))) is not None:
            self._events.read([line.number])
            self._put([attachment_of_event(line)])
            self._say(_("The event is attached to the next message."))

    def traffic(self) -> None:
        if (line := self._selected_as(InboxItem, _("Select an event first."))) is not None:
            known = f" {quoted(line.id)}" if line.id and not line.id.startswith("sha256:") else ""
            self._show_traffic(f"server:{written(line.server)} method:*events/*{known}")

    def _selected_as(self, kind: type[T], otherwise: str) -> T | None:
        line = self._selected
        if isinstance(line, kind):
            return line
        self._say(otherwise)
        return None

    def filter(self) -> None:
        self._prompt.ask(_("filter the inbox"), self._sift, value=self._filter, typed=self._sift)

    def _sift(self, text: str) -> None:
        self._filter = text.strip()
        self.look()

    def read_all(self) -> None:
        items = self._events.inbox.matching(self._filter, self._server)
        self._events.read([item.number for item in items if not item.is_read])

    def pause(self) -> None:
        if (line := self._selected_as(Subscribed, _("Select a subscription first."))) is not None:
            self.run(self._events.pause(line, is_paused=not line.kept.is_paused))

    def unsubscribe(self) -> None:
        if (line := self._selected_as(Subscribed, _("Select a subscription first."))) is not None:
            self.run(self._events.unsubscribe(line), _("Unsubscribed. Its events stay in the inbox."))

    def stop_all(self) -> None:
        done = _("Stopped: all subscriptions are paused, and no turn is asked.")
        self.run(self._events.stop_all(), done)

    def reload(self) -> None:
        """List the event types of the server again."""
        events, server = self._events, self._server
        if not server:
            return
        self._asked = server

        async def listed() -> None:
            self._types, self._problem = await events.types(server)
            self.look()

        self.run(listed())

    def back(self) -> None:
        """Clear the filter, or close."""
        if self._filter:
            self._sift("")
        else:
            self._leave()

    def _say(self, text: str) -> None:
        self.app.notify(text, timeout=4, markup=False)
