"""How long a key waits while a result of 4 MiB without a line break arrives, is shown and is viewed.

Run it: python tests/benchmarks/keys_with_long_line.py [MIB] [-v]
The real program runs in a pty. The model calls a tool that returns a single line. The result is then viewed
in the conversation, the result screen, the trace, the traffic screen and the workbench. Inside the program, a
clock records how long the event loop is blocked, since no key can be handled meanwhile. `-v` prints where the
loop was blocked.
"""

import asyncio
import json
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

from tests.benchmarks.figures import Figure, judged  # noqa: E402

INSIDE = "--inside"
BUDGET_MS = 100
TICK, SLOW = 0.002, 0.04

ENTER, ESCAPE, PAGE_DOWN, PAGE_UP, HOME, END = "\r", "\x1b", "\x1b[6~", "\x1b[5~", "\x1b[H", "\x1b[F"
DOWN, RIGHT, CTRL_S, CTRL_E, QUIT = "\x1b[B", "\x1b[C", "\x13", "\x05", "\x11"
CONVERSATION, SERVERS, TRAFFIC, TRACE, INPUT = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[17~", "\x1b[15~"

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
    """Run the program; report each delay of its event loop: milliseconds, CPU, time and place."""
    import tui.cli
    from tui.ui.app import app as app_module

    ticked, worked = [time.perf_counter()], [0.0]
    main = threading.get_ident()
    places: list[str] = []

    def watch() -> None:
        while True:
            time.sleep(0.01)
            if time.perf_counter() - ticked[0] > SLOW and (frame := sys._current_frames().get(main)):
                places[:] = ["".join(traceback.format_stack(frame)[-14:])]

    async def tick(file: object) -> None:
        while True:
            await asyncio.sleep(TICK)
            late = time.perf_counter() - ticked[0] - TICK
            cpu = time.thread_time() - worked[0]
            if late > 0.02:
                where = places[0] if places else ""
                line = [round(late * 1e3, 1), round(cpu * 1e3, 1), time.time(), where]
                file.write(json.dumps(line) + "\n")  # type: ignore[attr-defined]
                file.flush()  # type: ignore[attr-defined]
            places.clear()
            ticked[0], worked[0] = time.perf_counter(), time.thread_time()

    class Watched(app_module.McptuiApp):
        def on_mount(self) -> None:
            file = Path(report).open("a", encoding="utf-8")
            self.ticking = asyncio.create_task(tick(file))
            threading.Thread(target=watch, daemon=True).start()

    app_module.McptuiApp = Watched  # type: ignore[misc]
    return tui.cli.main(arguments)


def phases(mib: int, folder: Path) -> Iterator[tuple[str, float]]:
    """Run the program through the story; yield the name of each phase and the time at which it ended."""
    from tests.endpoint import calls, says
    from tests.terminal.pty_app import TerminalApp, home_in
    from tests.terminal.set_ups import config_with, endpoint_beside

    def rest(seconds: float) -> None:
        over = time.perf_counter() + seconds
        while (left := over - time.perf_counter()) > 0:
            app.pump(left)

    def call(request: object) -> object:
        tools = request.json["tools"]  # type: ignore[attr-defined]
        return calls((tools[0]["function"]["name"], {"text": "x"}))

    servers = {"long": ("long_unbroken_line", {"FAULT_MIB": str(mib), "FAULT_LINES": "0"})}
    with endpoint_beside([call, says("The end.")]) as endpoint:  # type: ignore[list-item]
        config = config_with(folder, servers, endpoint=endpoint.base_url, rules=["*/*"])
        argv = [
            sys.executable,
            __file__,
            INSIDE,
            str(folder / "report"),
            "--trust-config",
            "--config",
            config,
        ]
        with TerminalApp(argv, env=home_in(folder), fresh=True) as app:
            app.shows("1 of 1")
            rest(2)
            yield "at the start", time.time()
            app.send("go" + ENTER)
            over = time.perf_counter() + 3
            number = 0
            while time.perf_counter() < over or "The end." not in app.text:
                app.send(chr(0x2801 + number % 250))
                number += 1
                rest(0.03)
            app.send("\x15" * 5)
            yield "while the result arrives", time.time()
            for name, keys in STORY.items():
                for key in keys:
                    app.send(key)
                    rest(0.25 if key in (ENTER, ESCAPE, CTRL_S) else 0.08)
                    if "-v" in sys.argv:
                        print(f"--- {name}, after {key!r}\n{app.text}")
                rest(0.5)
                yield name, time.time()
            app.send(QUIT)
            assert app.ended() == 0
    yield "at the end", time.time()


def main() -> int:
    """Measure; return the exit code."""
    mib = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ends = list(phases(mib, folder))
        found = [json.loads(line) for line in (folder / "report").read_text(encoding="utf-8").splitlines()]
    figures = []
    before = 0.0
    for phase, end in ends:
        delays = [0.0, *(late for late, _, at, _ in found if before < at <= end)]
        cpu = max([0.0, *(cpu for _, cpu, at, _ in found if before < at <= end)])
        budget = None if phase in ("at the start", "at the end") else BUDGET_MS
        beside = f"CPU {cpu:.0f} ms"
        figures.append(Figure(f"loop held {phase}, longest", max(delays), "ms", budget, beside=beside))
        if "-v" in sys.argv:
            for late, cpu, at, place in found:
                if before < at <= end and late > 50:
                    print(f"=== {phase}: {late} ms, CPU {cpu} ms\n{place}")
        before = end
    return judged(figures)


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        sys.exit(inside(sys.argv[2], sys.argv[3:]))
    sys.exit(main())
