"""The program itself, seen from inside: python watched_app.py WHAT [ARGUMENTS OF MCPTUI].

`modules=FILE` writes the names of the modules that are loaded at the first frame, then goes on.
`crash` breaks, with a secret in a local variable, as soon as a server runs.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import tui.cli


def note_modules(report: str) -> None:
    """Have the first frame reported."""
    from tui.ui.app import app as app_module

    class Reporting(app_module.McptuiApp):
        def on_mount(self) -> None:
            self.call_after_refresh(self.report)

        def report(self) -> None:
            Path(report).write_text("\n".join(sorted(sys.modules)), encoding="utf-8")

    app_module.McptuiApp = Reporting  # type: ignore[misc]


def break_later() -> None:
    """Have the screen's own road end in a defect."""
    from tui.core.servers import ServerState
    from tui.runtime.runtime import Runtime

    def broken(self: Runtime) -> Sequence[str]:
        api_key = "sk-secret-in-a-local"
        if any(status.state is ServerState.RUNNING for status in self.host.statuses()):
            raise RuntimeError(f"a defect {len(api_key)} \x1b]0;pwned\x07")
        return ()

    Runtime.examples = broken  # type: ignore[method-assign]


if __name__ == "__main__":
    what, _, where = sys.argv[1].partition("=")
    if what == "modules":
        note_modules(where)
    else:
        break_later()
    raise SystemExit(tui.cli.main(sys.argv[2:]))
