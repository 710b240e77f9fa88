"""A minimal app for one widget, a fake host, and helpers to read painted lines."""

from collections.abc import Sequence
from dataclasses import replace

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.settings.themes import load_theme
from tui.ui.platform.key_order import in_order
from tui.ui.widgets import theme_colors
from tui.ui.widgets.lines import LinePane

SECOND = 1_000_000_000


class Stage(App[None]):
    """Shows one widget on the full screen, in the default theme."""

    CSS = "Screen { background: $surface; }"

    def __init__(self, widget: Widget | None = None, theme: str = "harbor") -> None:
        super().__init__()
        self.widget = widget
        self.register_theme(theme_colors.theme_of(load_theme(theme)[0]))
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(theme_colors.DEFAULTS)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            await in_order(self, event, super().on_event)
        else:
            await super().on_event(event)

    def compose(self) -> ComposeResult:
        if self.widget is not None:
            yield self.widget


class FakeHost:
    """Statuses of servers that a test sets, and a record of start, stop and restart requests."""

    def __init__(self, *statuses: ServerStatus) -> None:
        self.revision = 1
        self.asked: list[tuple[str, str]] = []
        self.lines: tuple[str, ...] = ()
        self._statuses = statuses

    def statuses(self) -> tuple[ServerStatus, ...]:
        return self._statuses

    def find(self, name: str) -> ServerStatus | None:
        return next((status for status in self._statuses if status.name == name), None)

    def stderr(self, name: str) -> tuple[str, ...]:
        return self.lines

    def request_start(self, name: str) -> None:
        self.asked.append(("start", name))

    def request_stop(self, name: str) -> None:
        self.asked.append(("stop", name))

    def request_restart(self, name: str) -> None:
        self.asked.append(("restart", name))

    def change(self, name: str, **fields: object) -> None:
        self._statuses = tuple(
            replace(status, **fields) if status.name == name else status for status in self._statuses
        )
        self.revision += 1


class Hand:
    """A clock that a test advances."""

    def __init__(self, now_ns: int = 1_000 * SECOND) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        return self.now_ns

    def turn(self, seconds: float) -> None:
        self.now_ns += int(seconds * SECOND)


def server(name: str, state: ServerState = ServerState.RUNNING, **fields: object) -> ServerStatus:
    """Return the status of a server."""
    spec = ServerSpec(name, command="python", args=(f"{name}.py",))
    return ServerStatus(name, spec, state, launch=f"python {name}.py", **fields)  # type: ignore[arg-type]


def stopped(name: str, reason: StopReason, **fields: object) -> ServerStatus:
    """Return the status of a stopped server."""
    return server(name, ServerState.STOPPED, reason=reason, **fields)


def shown(pane: LinePane) -> list[str]:
    """Return the painted lines of a pane without trailing spaces."""
    return [pane.render_line(y).text.rstrip() for y in range(pane.size.height)]


def row_with(lines: Sequence[str], part: str) -> str:
    """Return the only line that contains `part`."""
    (found,) = [line for line in lines if part in line]
    return found


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait until the app has handled them."""
    await pilot.press(*keys)
    await pilot.pause()
