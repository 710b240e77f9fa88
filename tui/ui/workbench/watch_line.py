"""The line of the workbench about a server that is being developed, if an add-on has the service for it."""

from tui.core.addons import service
from tui.ui.widgets.bar import Bar
from tui.ui.workbench.bench_context import BenchContext


class WatchLine(Bar):
    """The line, for an add-on. It is hidden while there is nothing to say."""

    DEFAULT_CSS = "WatchLine { display: none; }"

    def look(self) -> None:
        """Show changes; cheap if there are none."""


def watch_line(shared: BenchContext) -> WatchLine:
    """Return the line, a hidden one without the add-on."""
    made = service("watch line")
    return WatchLine() if made is None else made(shared)
