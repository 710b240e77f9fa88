"""The tabs of the workbench that add-ons bring, each by a service.

A tab for an extension is added once its server declares it. Until then, nothing of it is imported.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget

from tui.core.addons import service
from tui.core.errors import McptuiError
from tui.core.jsonrpc.extensions import EVENTS, SKILLS
from tui.core.language.translate import localized
from tui.core.text import clean
from tui.ui.keys.action_table import Context, action, of_context
from tui.ui.keys.bindings import method_at, overrides_of
from tui.ui.keys.footer import Entry, entries_of
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row
from tui.ui.workbench.bars import BenchTab, BenchTabs, in_order
from tui.ui.workbench.bench_context import BenchContext

Part = TypeVar("Part", bound=Widget)


def pane_bindings(context: Context) -> list[BindingType]:
    """Return the bindings of the list of a tab, which come before those of the workbench."""
    return [
        Binding(key, f"pane('{found.id}')", found.label, show=False, priority=True, id=found.id)
        for found in of_context(context)
        for key in found.keys.split(",")
    ]


class AddonList(LinePane):
    """The list of a tab. `act` gets its keys, those of `pane_bindings`. The cursor stays on what it is on."""

    CURSOR = True
    FOLLOWS = False

    def __init__(
        self,
        id: str,
        moved: Callable[[], None],
        act: Callable[[str], None],
        key_of: Callable[[Any], object],
        chosen: str = "",
    ) -> None:
        """`key_of` returns what identifies a line that is listed again; enter does the action `chosen`."""
        super().__init__(id=id)
        self._moved, self._act, self._key_of, self._chosen = moved, act, key_of, chosen
        self._lines: Sequence[Any] = ()

    def show(self, lines: Sequence[Any], rows: Sequence[Row]) -> None:
        """Show rows, each with what it is about; None, or no line, for one that cannot be selected."""
        before = self._key_of(self.selected)
        self._lines, self._shown_rows = lines, rows
        places = [at for at, line in enumerate(lines) if line is not None]
        same = (at for at in places if self._key_of(lines[at]) == before)
        self.cursor = next(same, places[0] if places else 0)
        self.rows_changed()

    @property
    def selected(self) -> Any:
        return self._lines[self.cursor] if self.cursor < len(self._lines) else None

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and self._lines[index] is not None

    def row_chosen(self, index: int) -> None:
        if self._chosen:
            self._act(self._chosen)

    def cursor_moved(self, index: int) -> None:
        self._moved()

    def action_pane(self, action_id: str) -> None:
        self._act(action_id)


class AddonPane(Vertical):
    """A tab, for an add-on. `list` has the focus, and the keys of `context`, which the footer shows."""

    DEFAULT_CSS = "AddonPane { height: 1fr; }"

    context: ClassVar[Context]
    list: LinePane

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def keys(self) -> Sequence[Entry]:
        """Return the keys for the footer."""
        return entries_of(of_context(self.context), overrides_of(self.app))

    def act(self, action_id: str) -> None:
        """Do what a key of the list says."""
        method_at(self, action(action_id).place)()

    def stays(self) -> str:
        """Return why the workbench cannot be closed now, or ""."""
        return ""

    def run(self, work: Coroutine[Any, Any, object], done: str = "") -> None:
        """Do work in the background, say that it is `done` or why it failed, and look again."""

        async def run() -> None:
            try:
                await work
            except McptuiError as error:
                self.app.notify(clean(localized(error)), severity="warning", timeout=10, markup=False)
            else:
                if done:
                    self.app.notify(done, timeout=4, markup=False)
            self.look()

        self.run_worker(run(), exit_on_error=True)


class AddonTab(NamedTuple):
    """A tab, the service that makes its pane, and the extension that it is for, or ""."""

    tab: BenchTab
    service: str
    extension: str = ""


TABS = (
    AddonTab(BenchTab.TESTS, "tests tab"),
    AddonTab(BenchTab.SKILLS, "skills tab", SKILLS),
    AddonTab(BenchTab.EVENTS, "events tab", EVENTS),
)


class AddonTabs:
    """The tabs of add-ons that one workbench does not have yet."""

    def __init__(self, shared: BenchContext) -> None:
        self._shared = shared
        self._left = list(TABS)

    def due(self) -> Iterator[tuple[BenchTab, AddonPane]]:
        """Yield each tab once, as soon as it is due; none of an add-on that is missing."""
        bench, server = self._shared.runtime.workbench, self._shared.server
        for one in self._left[:]:
            if one.extension and bench.extension(server, one.extension) is None:
                continue
            self._left.remove(one)
            if (made := service(one.service)) is not None:
                yield one.tab, made(self._shared)

    def added(
        self, panes: Mapping[BenchTab, Part], tabs: BenchTabs, last: Widget
    ) -> dict[BenchTab, Part | AddonPane]:
        """Mount the panes that are due now, before the widget `last`, and return all of them."""
        found: dict[BenchTab, Part | AddonPane] = dict(panes)
        for tab, pane in self.due():
            pane.display = False
            self._shared.screen.mount(pane, before=last)
            found = in_order({**found, tab: pane})
            tabs.add(tab, pane)
        return found
