"""The traffic tab: the traffic between mcptui and one server."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui.traffic.filter.nodes import written
from tui.traffic.filter.query import parse
from tui.traffic.filter.view import View
from tui.traffic.record.open_recording import ReaderThread, Recording
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.traffic.bars import Headings
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_loader import Previews
from tui.ui.widgets.symbols import Symbols


class ServerEntries(EntryList, inherit_bindings=False):
    """The traffic of one server, with the keys of the workbench."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "row_up", show=False, priority=True, id="pane.up"),
        Binding("down,j", "row_down", show=False, priority=True, id="pane.down"),
        Binding("pageup", "pane_page_up", show=False, priority=True, id="pane.page_up"),
        Binding("pagedown", "pane_page_down", show=False, priority=True, id="pane.page_down"),
        Binding("home,g", "pane_home", show=False, priority=True, id="pane.home"),
        Binding("end,G", "pane_end", show=False, priority=True, id="pane.end"),
        *bench_list_bindings(),
    ]


class ServerTraffic(Vertical):
    """The entries of one server."""

    DEFAULT_CSS = """
    ServerTraffic { height: 1fr; }
    ServerTraffic ServerEntries { height: 1fr; background: $surface; }
    """

    def __init__(self, recording: Recording, server: str, signs: Symbols, *, id: str) -> None:
        super().__init__(id=id)
        self.query_text = f"server:{written(server)}"
        self._reader = ReaderThread(recording.open_reader)
        self._view = View(recording.entries, parse(self.query_text))
        self._previews = Previews(self._reader, lambda: self.list.repaint())
        self.list = ServerEntries(
            recording.entries,
            live=recording.live,
            preview=self._previews.get,
            notes=recording.annotations.notes,
            empty=("No traffic with this server yet.",),
            symbols=signs,
        )
        self._headings = Headings(self.list.heading)

    def compose(self) -> ComposeResult:
        yield self._headings
        yield self.list

    def on_mount(self) -> None:
        self.list.show(self._view)

    def look(self) -> None:
        """Show new entries; cheap if there are none."""
        self.list.tick()
        self._headings.look()
        self._previews.look()

    async def on_unmount(self) -> None:
        self._view.close()
        await self._previews.close()
        self._reader.close()
