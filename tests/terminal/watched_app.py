"""The real program with instrumentation: python watched_app.py WHAT [ARGUMENTS OF MCPTUI].

`modules=FILE` writes the names of the modules imported at the first frame, then continues.
`focus=FILE` writes which widget has the focus, which ones can have it, and whether text is edited in it. It
closes all screens above the chat, paints it anew, and deletes FILE.home, once that exists.
`crash=PLACE` raises there, see `PLACES`. `crash=key` raises when an exclamation mark is typed.
"""

import gc
import json
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


def note_focus(report: str) -> None:
    """Report the focus of the screen on top whenever it changes, and each tab or down that was handled."""
    from textual import events
    from textual.dom import DOMNode
    from textual.widgets import Input, TextArea

    from tui.ui.app import app as app_module
    from tui.ui.forms.form_pane import FormPane
    from tui.ui.platform.editing import caret_of

    def hides(focused: object) -> bool:
        if isinstance(focused, FormPane):
            return focused.current is not None and focused.current.spec.secret
        return isinstance(focused, Input) and focused.password

    home = Path(f"{report}.home")

    class Reporting(app_module.McptuiApp):
        reported = ""
        tabs = 0

        def on_mount(self) -> None:
            self.set_interval(0.05, self.report)

        async def on_event(self, event: events.Event) -> None:
            if isinstance(event, events.Key) and event.key in ("tab", "down") and not event.is_forwarded:
                self.call_next(self.follow, self.focused or self.screen)
            await super().on_event(event)

        def follow(self, node: DOMNode | None) -> None:
            """Follow a key through the queues of the focused widget and of all above it, then count it."""
            if not (node and node.call_later(self.follow, node.parent)):
                self.call_after_refresh(setattr, self, "tabs", self.tabs + 1)

        def report(self) -> None:
            if home.exists():
                if self.screen is not self.main:
                    self.screen.dismiss()
                    return
                self.main.composer.text = ""
                self.main.composer.focus()
                self.main.refresh()
                home.unlink()
            focused = self.focused
            state = {
                "focused": f"{id(focused)} {getattr(focused, 'cursor', '')}" if focused else "",
                "edits": isinstance(focused, Input | TextArea)
                or (focused is not None and caret_of(focused) is not None),
                "hides": hides(focused),
                "fields": sum(isinstance(one, Input | TextArea) for one in self.screen.focus_chain),
                "tabs": self.tabs,
            }
            if (text := json.dumps(state)) != self.reported or not Path(report).exists():
                Path(f"{report}.new").write_text(text, encoding="utf-8")
                Path(f"{report}.new").rename(report)
                self.reported = text

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
    "painting": typed(paint),
    "shutdown": typed(shut_down),
}
"""Where the program can raise: some places at once, the others when something is typed."""

AT_ONCE = ("compose", "terminal", "loading", "input")

if __name__ == "__main__":
    gc.disable()  # as the command line does, which imports the rest
    what, _, where = sys.argv[1].partition("=")
    if what in ("modules", "focus"):
        (note_modules if what == "modules" else note_focus)(where)
    else:
        ({"key": typed(key)} | PLACES)[where]()
    raise SystemExit(tui.cli.main(sys.argv[2:]))
