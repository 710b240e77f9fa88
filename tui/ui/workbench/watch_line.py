"""The line of the workbench about a server that is being developed, if an add-on has the service for it."""

from tui.core.addons import service
from tui.ui.widgets.bar import SplitBar
from tui.ui.workbench.bench_context import BenchContext


class WatchLine(SplitBar):
    """The line, for an add-on. It is hidden while there is nothing to say."""

    DEFAULT_CSS = "WatchLine { display: none; }"

    def look(self) -> None:
        """Show changes; cheap if there are none."""


def watch_lines(shared: BenchContext) -> tuple[WatchLine, ...]:
    """Return the line, nothing without the add-on."""
    made = service("watch line")
    return () if made is None else (made(shared),)
