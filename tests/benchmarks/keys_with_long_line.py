"""How long a key waits while a result of 4 MiB without a line break arrives, is shown and is viewed.

The real program runs in a pty. The model calls a tool that returns a single line. The result is then viewed
in the conversation, the result screen, the trace, the traffic screen and the workbench. Measured is the
longest time in which the event loop is blocked.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.benchmarks.loop_holds import Hold, longest, recorded
from tests.benchmarks.program import ENTER, ESCAPE, QUIT, TRAFFIC, installed, rest
from tests.endpoint import Answer, Request, calls, says
from tests.terminal.pty_app import TerminalApp
from tests.terminal.set_ups import config_with, endpoint_beside

MIB = 4
BUDGET_MS = 100

PAGE_DOWN, PAGE_UP, HOME, END = "\x1b[6~", "\x1b[5~", "\x1b[H", "\x1b[F"
DOWN, RIGHT, CTRL_S = "\x1b[B", "\x1b[C", "\x13"
CONVERSATION, SERVERS, TRACE, INPUT = "\x1bOQ", "\x1bOR", "\x1b[17~", "\x1b[15~"

SCROLLING = (PAGE_DOWN, PAGE_DOWN, END, PAGE_UP, HOME)
STORY = {
    "in the conversation": (CONVERSATION, "\x1b[A", ENTER, *SCROLLING, "\x1b[A", ENTER, "c", INPUT),
    "in the result screen": (CONVERSATION, END, "\x1b[A", "v", *SCROLLING, "c", "q", INPUT),
    "in the trace": (TRACE, END, ENTER, *SCROLLING, ENTER, "o", ESCAPE, INPUT),
    "in the list of the traffic": (
        *(TRAFFIC, "/", *"AAAA", ENTER, ESCAPE, ESCAPE),
        *(TRAFFIC, "s", *"AAAA", ENTER, ESCAPE),
    ),
    "in an entry of the traffic": (
        *("/", *"kind:response method:tools/call", ENTER, END, ENTER),
        *(*SCROLLING, "a", *SCROLLING, DOWN, DOWN, DOWN, ENTER),
        *(RIGHT, *SCROLLING, RIGHT, *SCROLLING, RIGHT, RIGHT, RIGHT, *SCROLLING),
        *("/", *"AAA", ENTER, "n", "n", "N", ESCAPE, "z", "z", ESCAPE, ESCAPE, ESCAPE),
    ),
    "in the workbench": (
        *(SERVERS, ENTER, "2", ENTER, CTRL_S),
        *(*SCROLLING, ENTER, *SCROLLING, DOWN, DOWN, ENTER, "z", *SCROLLING, "z"),
        *("y", "Y", CTRL_S, "d", "6", *SCROLLING),
        *(ESCAPE, ESCAPE, ESCAPE),
    ),
}  # fmt: skip


def inside(report: str, arguments: list[str]) -> int:
    """Run the program; report each hold of its event loop."""
    import tui.cli
    from tui.ui.app import app as app_module

    holds = list[Hold]()

    class Watched(app_module.McptuiApp):
        def on_mount(self) -> None:
            self.clock = ExitStack()
            self.clock.enter_context(recorded(holds))

    app_module.McptuiApp = Watched  # type: ignore[misc]
    code = tui.cli.main(arguments)
    Path(report).write_text(json.dumps(holds), "utf-8")
    return code


def call(request: Request) -> Answer:
    return calls((request.json["tools"][0]["function"]["name"], {"text": "x"}))


def phases(folder: Path) -> Iterator[tuple[str, float]]:
    """Run the program through the story; yield the name of each phase and the time at which it ended."""
    servers = {"long": ("long_unbroken_line", {"FAULT_MIB": str(MIB), "FAULT_LINES": "0"})}
    with endpoint_beside([call, says("The end.")]) as endpoint:
        config = config_with(folder, servers, endpoint=endpoint.base_url, rules=["*/*"])
        module = [sys.executable, "-m", "tests.benchmarks.keys_with_long_line"]
        argv = [*module, str(folder / "report"), "--trust-config", "--config", config]
        with TerminalApp(argv, env=installed(str(folder))) as app:
            app.shows("1 of 1")
            rest(app, 2)
            yield "at the start", time.time()
            app.send("go" + ENTER)
            over = time.perf_counter() + 3
            number = 0
            while time.perf_counter() < over or "The end." not in app.text:
                app.send(chr(0x2801 + number % 250))
                number += 1
                rest(app, 0.03)
            app.send("\x15" * 5)
            yield "while the result arrives", time.time()
            for name, keys in STORY.items():
                for key in keys:
                    app.send(key)
                    rest(app, 0.25 if key in (ENTER, ESCAPE, CTRL_S) else 0.08)
                rest(app, 0.5)
                yield name, time.time()
            app.send(QUIT)
            assert app.ended() == 0


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        ends = list(phases(Path(name)))
        found = [Hold(*hold) for hold in json.loads((Path(name) / "report").read_text("utf-8"))]
    figures = []
    for (_, before), (phase, end) in pairwise(ends):
        hold = longest([hold for hold in found if before < hold.at <= end])
        what = f"loop held {phase}, longest"
        figures.append(Figure(what, hold.late, "ms", BUDGET_MS, hold.waited, f"CPU {hold.cpu:.0f} ms"))
    return figures


if __name__ == "__main__":
    sys.exit(inside(sys.argv[1], sys.argv[2:]))
