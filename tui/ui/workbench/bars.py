"""The lines around the workbench: the server and its state, the tabs, and the keys of the focused part."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from tui.core.language.translate import N_, _, localized, n_
from tui.core.servers import ServerState, ServerStatus, fault_words
from tui.core.text import clean_line, head_of
from tui.ui.forms.form_pane import FormPane
from tui.ui.keys.action_table import Context, action, of_context
from tui.ui.keys.bindings import KeyOverrides, bench_list_bindings
from tui.ui.keys.footer import Entry, entries_of
from tui.ui.traffic.bars import Tabs
from tui.ui.widgets.bar import SplitBar, key_cap
from tui.ui.widgets.inputs import Button
from tui.ui.widgets.rows import Row, joined, width_of
from tui.ui.widgets.server_rows import STARTS_IT, reason_words, sign_of, start_words
from tui.ui.widgets.times import clock


def title_rows(
    server: str, status: ServerStatus | None, running: int, key: Callable[[str], str]
) -> tuple[Row, Row]:
    """Return the server and its state for the left, and running calls and uptime for the right."""
    left: Row = ((f"{_('WORKBENCH')}  ", "dim bold"), (clean_line(server, 60), "text bold"), ("   ", ""))
    if status is None:
        return (*left, (_("is no longer configured"), "bad")), key_cap(key("bench.back"), _("close"))
    sign, style = sign_of(status)
    why = f"  {reason_words(status)}" if status.state is ServerState.STOPPED else ""
    left = (*left, (f"{sign} {status.state.in_words}{why}", style))
    calls = n_("{n} call running", "{n} calls running", running)
    right: Row = ((f"{calls}   ", "warn"),) if running else ()
    if status.state is ServerState.STOPPED and not status.spec.disabled:
        right = start_words(status, key, STARTS_IT)
    if status.state is ServerState.RUNNING:
        if status.spec.act_as:
            right = (*right, (f"{_('as {host}', host=clean_line(status.spec.act_as, 40))}   ", "warn"))
        if faults := fault_words([status]):
            right = (*right, (f"{localized(faults)}   ", "warn"))
        pid = f"pid {status.pid}   " if status.pid is not None else ""
        since = clock((time.monotonic_ns() - status.since_ns) / 1e9)
        if status.reach is not None and status.reach.words:
            right = (
                *right,
                (f"{localized(status.reach.words)}   ", "warn" if status.reach.silent else "dim"),
            )
        right = (*right, (f"{pid}{since}", "dim"))
    return left, right


class BenchTab(StrEnum):
    """A tab of the workbench."""

    OVERVIEW = N_("overview")
    TOOLS = N_("tools")
    RESOURCES = N_("resources")
    PROMPTS = N_("prompts")
    LOG = N_("log")
    TRAFFIC = N_("traffic")
    TESTS = N_("tests")
    """This one and those below it are tabs of add-ons."""
    SKILLS = N_("skills")
    EVENTS = N_("events")


NUMBERS: Mapping[str, int] = {tab: number for number, tab in enumerate(BenchTab, 1)}
"""The key of each tab."""

Pane = TypeVar("Pane")


def in_order(panes: Mapping[BenchTab, Pane]) -> dict[BenchTab, Pane]:
    """Return tabs in the order of `BenchTab`."""
    return {tab: panes[tab] for tab in BenchTab if tab in panes}


BENCHES = frozenset({BenchTab.TOOLS, BenchTab.RESOURCES, BenchTab.PROMPTS})
"""Tabs with items that can be called."""

TABS_OF: Mapping[str, frozenset[BenchTab]] = {
    **dict.fromkeys(("bench.call", "bench.raw", "bench.saved", "bench.hand"), BENCHES),
    **dict.fromkeys(("bench.diff", "bench.mark", "bench.save", "bench.schema"), BENCHES),
    "bench.offer": frozenset({BenchTab.TOOLS}),
    "bench.offer_all": frozenset({BenchTab.TOOLS}),
    "bench.attach": frozenset({BenchTab.RESOURCES}),
    "bench.subscribe": frozenset({BenchTab.RESOURCES}),
    "bench.send": frozenset({BenchTab.PROMPTS}),
    "bench.level": frozenset({BenchTab.LOG}),
    "bench.filter": BENCHES | {BenchTab.LOG},
    "bench.open": BENCHES | {BenchTab.TRAFFIC},
    "keep.call": frozenset(),  # the line of a result shows it
}
"""Actions that only work on some tabs, where the footer shows them."""


_RAW, _CALL, _OPEN, _ADD = map(action, ("bench.raw", "bench.call", "bench.open", "form.add"))
RAW_LABELS = {False: _RAW.label, True: N_("form")}
"""Labels of the key that toggles raw JSON, by whether raw JSON is shown."""


CHANGED_ITEMS = N_("{items}, {n} changed")


def with_sign(note: str) -> str:
    """Return the note of a tab with the sign of the lists in place of the number of changed items."""
    after = re.escape(_(CHANGED_ITEMS).partition("{items}")[2])
    return re.sub(after.replace(re.escape("{n}"), r"\d+"), " ~", note)


BRIEF = 4
"""The last step by which a narrow line of tabs is shortened: wide, signs for changes, no counts, no
blanks after keys, short names."""

SHORT_NAME = 4


class BenchTabs(Tabs):
    """The tabs with their keys and counts. If the pane of a tab has a `list`, it gets the focus."""

    def __init__(self, panes: Mapping[BenchTab, Widget]) -> None:
        super().__init__(panes, id="bench-tabs")
        self._panes = panes
        self._level = 0

    @property
    def names(self) -> Sequence[str]:
        """The tabs that are there."""
        return self._tabs

    def add(self, tab: BenchTab, pane: Widget) -> None:
        """Add a tab, in the order of `BenchTab`."""
        self._panes = in_order({**self._panes, tab: pane})
        self._tabs = tuple(self._panes)
        self.refresh()

    def select(self, tab: BenchTab) -> None:
        """Show the pane of a tab and focus the widget that handles its keys."""
        self.active = tab
        self.refresh()
        for name, pane in self._panes.items():
            pane.display = name is tab
        self.screen.set_focus(getattr(self._panes[tab], "list", self._panes[tab]), scroll_visible=False)

    def show(self, notes: Mapping[str, str]) -> None:
        if notes != self.notes:
            self.notes = notes
            self.refresh()

    def part(self, number: int, tab: str, note: str) -> Row:
        """Return a tab with its key, which is the same whether or not others are there."""
        number, is_active = NUMBERS[tab], tab == self.active
        if self._level:
            note = with_sign(note) if self._level == 1 else ""
        name = _(tab)
        name = name if is_active or self._level < BRIEF else head_of(name, SHORT_NAME)
        return (
            (
                f"{' ' * (self._level < 2)}{number}{' ' * (self._level != 3)}",
                "accent" if is_active else "dim",
            ),
            (name, "accent bold underline" if is_active else "text"),
            (f" {note}" if note else "", "dim"),
            (" " if self._level else "   ", ""),
        )

    def _parts(self) -> list[tuple[str, Row]]:
        """Return the tabs, shortened as far as the width needs it."""
        for self._level in range(BRIEF + 1):
            parts = super()._parts()
            if (self._level or self.size.width >= 90) and sum(
                width_of(one) for _tab, one in parts
            ) <= self.size.width:
                break
        return parts


def keys_of(
    overrides: KeyOverrides, context: Context | None, tab: BenchTab, *, is_raw: bool, pressing: str = ""
) -> Sequence[Entry]:
    """Return the keys of a context and of the workbench that work on a tab, for the footer.

    `pressing` is what enter does while the button has the focus, otherwise "".
    """
    near = of_context(context) if context is not None else ()
    actions = [one for one in (*near, *of_context(Context.WORKBENCH)) if tab in TABS_OF.get(one.id, (tab,))]
    labels = {_RAW: _(RAW_LABELS[is_raw])}
    if pressing:  # the button shows the key of `_CALL`
        labels[_OPEN] = pressing
        actions.remove(_CALL)
    return [
        (key, labels.get(one, label) if one else label, one)
        for key, label, one in entries_of(actions, overrides)
    ]


class CallButton(Button):
    """The button below the arguments. Nothing is typed into it: it has the keys of the lists, too.

    It has the focus if there are no fields, so its key adds the first one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bench_list_bindings(),
        Binding(_ADD.keys, "form_add", show=False, id=_ADD.id),
    ]

    def __init__(self, form: FormPane, key: str, pressed: Callable[[], object]) -> None:
        super().__init__(_("Call"), key, pressed)
        self._form = form

    def action_form_add(self) -> None:
        self._form.action_form_add()


class OtherKeys(SplitBar):
    """The keys next to the button, as many as fit completely."""

    def of(self, overrides: KeyOverrides, *, is_raw: bool) -> None:
        saved = action("bench.saved")
        labels = ((_RAW, RAW_LABELS[is_raw]), (saved, saved.label))
        self.show(tuple((f"{overrides.first_of(one.id)} {_(label)}", "dim") for one, label in labels))

    def row(self, width: int) -> Row:
        return joined(((key,) for key in self.left), (("   ", ""),), width)
