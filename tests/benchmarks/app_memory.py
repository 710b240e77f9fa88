"""Memory of the whole app as a conversation grows, compared with a bare Textual "hello" app.

Run it: python tests/benchmarks/app_memory.py [MESSAGES] [PICTURE_KB]
The real program runs in a pty with two real servers and a model behind real HTTP on loopback. A turn has four
messages: a question, a call, its result of 1,500 characters, and an answer. With PICTURE_KB, every fourth
result contains an image of that many kilobytes. Prints the resident memory of the app's process alone,
measured while it is idle: after the start and at several points of the conversation. The budgets apply
without images.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged  # noqa: E402
from tests.benchmarks.first_paint import HELLO, compiled_in  # noqa: E402
from tests.benchmarks.start import STUB  # noqa: E402
from tests.endpoint import Answer, Request, calls, says  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402
from tests.terminal.set_ups import endpoint_beside  # noqa: E402

SERVER = """
import base64, os
from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("desk", log_level="WARNING")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

@server.tool(structured_output=False)
def look(at: int, picture_kb: int = 0):
    \"\"\"Look at something.\"\"\"
    text = (f"line {at} of what was found on the desk\\n" * 60)[:1500]
    if not picture_kb:
        return text
    return [text, Image(data=PNG + os.urandom(picture_kb * 1000), format="png")]

server.run("stdio")
"""
TURN = 4
"""Messages per turn."""

BUDGETS = {0: 90, 1000: 105}
"""Budget in megabytes by number of messages."""

CALM_SECONDS = 3.0
"""After this long, all work of the last turn is done."""

RUNS_DIFFER_MB = 1.5
"""How much two runs of the same program differ. Only one run is measured here."""


def answering(picture_kb: int) -> Callable[[Request], Answer]:
    """Return the endpoint's behavior: it calls the tool once for each question, then answers."""
    turns = 0

    def answer(request: Request) -> Answer:
        nonlocal turns
        if request.json["messages"][-1]["role"] == "tool":
            return says(f"**Answer {turns}.** " + "This is what it looks like from here. " * 12, pieces=20)
        turns += 1
        picture = {"picture_kb": picture_kb} if picture_kb and turns % 4 == 0 else {}
        return calls(("desk__look", {"at": turns, **picture}), text="Let me look.")

    return answer


def configured(folder: Path, endpoint: str) -> str:
    """Write the configuration and the server script; return the path of the configuration."""
    script = folder / "desk.py"
    script.write_text(SERVER, encoding="utf-8")
    lines = [
        'default_model = "m"',
        "[models.m]",
        'model = "m"',
        f"base_url = {json.dumps(endpoint)}",
        "context_window = 10_000_000",
        "[approvals]",
        'allow = ["desk/*"]',
        "[servers.desk]",
        f"command = {json.dumps(sys.executable)}",
        f"args = [{json.dumps(str(script))}]",
        "[servers.stub]",
        f"command = {json.dumps(sys.executable)}",
        f"args = [{json.dumps(STUB)}]",
    ]
    path = folder / "config.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def megabytes(app: TerminalApp) -> float:
    """Return the resident memory of a program once it is idle."""
    rest = time.monotonic() + CALM_SECONDS
    app.until(lambda: time.monotonic() > rest)
    return float(psutil.Process(app.process.pid).memory_info().rss) / 2**20


def bare(home: str) -> float:
    """Return the memory of a bare Textual app."""
    with TerminalApp(
        [sys.executable, "-c", HELLO], env=home_in(home) | compiled_in(home), draws=False
    ) as app:
        app.until(lambda: b"Hello there" in app.raw)
        return megabytes(app)


def talk(folder: Path, messages: int, picture_kb: int) -> Iterator[tuple[int, float]]:
    """Talk to the app; yield the number of messages and the memory at several points."""
    with endpoint_beside([answering(picture_kb)]) as endpoint:
        argv = [
            sys.executable,
            "-m",
            "tui",
            "--trust-config",
            "--config",
            configured(folder, endpoint.base_url),
        ]
        with TerminalApp(argv, env=home_in(folder) | compiled_in(str(folder)), draws=False) as app:
            app.until(lambda: b"2 of 2" in app.raw, 60)
            yield 0, megabytes(app)
            for turn in range(1, messages // TURN + 1):
                app.send(f"Question {turn}: how is it with the other one?\r")
                app.until(lambda turn=turn: len(endpoint.requests) >= 2 * turn, 60)
                endpoint.requests[:-1] = [endpoint.requests[0]] * (len(endpoint.requests) - 1)
                if turn * TURN in (100, messages // 2, messages // TURN * TURN):
                    yield turn * TURN, megabytes(app)


def main() -> int:
    """Measure and print; return the exit code."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    picture_kb = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as home:
        bare(home)
        list(talk(Path(home), TURN, 0))  # warm-up: compiles modules, which would count as memory
        beside = f"bare Textual {bare(home):.0f} MB"
        figures = []
        for said, held in talk(Path(home), messages, picture_kb):
            what = f"memory after {said:,} messages" if said else "memory when started"
            print(f"{what}: {held:.1f} MB", flush=True)
            budget = None if picture_kb else BUDGETS.get(said)
            figures.append(Figure(what, held, "MB", budget, RUNS_DIFFER_MB, beside))
    return judged(figures)


if __name__ == "__main__":
    sys.exit(main())
