"""The real program with instrumentation: python watched_app.py WHAT [ARGUMENTS OF MCPTUI].

`modules=FILE` writes the names of the modules imported at the first frame, then continues.
`crash=PLACE` raises there, see `PLACES`. `crash=key` raises when an exclamation mark is typed.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import tui.cli


def note_modules(report: str) -> None:
    """Report the first frame."""
    from tui.ui.app import app as app_module

    class Reporting(app_module.McptuiApp):
        def on_mount(self) -> None:
            self.call_after_refresh(self.report)

        def report(self) -> None:
            Path(report).write_text("\n".join(sorted(sys.modules)), encoding="utf-8")

    app_module.McptuiApp = Reporting  # type: ignore[misc]


def defect(*_: object, **__: object) -> None:
    """Raise, with a secret in a local variable and an escape sequence in the message."""
    api_key = "sk-secret-in-a-local"
    raise RuntimeError(f"a defect {len(api_key)}. \x1b]0;pwned\x07")


def typed(broken: Callable[..., object]) -> Callable[[], None]:
    """Call this with the screen once something is typed."""

    def prepare() -> None:
        from tui.ui.chat.screen import ChatScreen

        ChatScreen.on_text_area_changed = broken  # type: ignore[method-assign, assignment]

    return prepare


def instead_of(name: str) -> Callable[[], None]:
    """Make this method, "tui.module:Class.method", raise."""

    def prepare() -> None:
        module, _, path = name.partition(":")
        owner, _, method = path.partition(".")
        setattr(getattr(import_module(module), owner), method, defect)

    return prepare


async def work() -> None:
    defect()


def paint(screen: Any) -> None:
    instead_of("tui.ui.chat.status_line:StatusLine.row")()
    screen.regions.status_line.refresh()


def shut_down(screen: Any) -> None:
    instead_of("tui.host.host:Host.shutdown")()
    screen.app.exit(0)


def key(screen: Any) -> None:
    if "!" in screen.composer.text:
        defect()


PLACES = {
    "compose": instead_of("tui.ui.chat.screen:ChatScreen.compose"),
    "terminal": instead_of("textual.drivers.linux_driver:LinuxDriver._enable_bracketed_paste"),
    "loading": instead_of("tui.runtime.runtime:Runtime.ready"),
    "input": instead_of("tui.ui.platform.driver:RobustDriver._take"),
    "handler": typed(defect),
    "worker": typed(lambda screen: screen.run_worker(work())),
    "timer": typed(lambda screen: screen.set_timer(0.01, defect)),
    "painting": typed(paint),
    "shutdown": typed(shut_down),
}
"""Where the program can raise: some places at once, the others when something is typed."""

AT_ONCE = ("compose", "terminal", "loading", "input")

if __name__ == "__main__":
    what, _, where = sys.argv[1].partition("=")
    if what == "modules":
        note_modules(where)
    else:
        ({"key": typed(key)} | PLACES)[where]()
    raise SystemExit(tui.cli.main(sys.argv[2:]))
