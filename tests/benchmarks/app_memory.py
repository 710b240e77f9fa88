"""Memory of the whole app as a conversation grows, compared with a bare Textual app.

The real program runs in a pty with two real servers and a model behind real HTTP on loopback. A turn has four
messages: a question, a call, its result of 1,500 characters, and an answer. Measured is the resident memory
of the app's process alone while it is idle.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.benchmarks.program import STUB, bare, megabytes, program, rest, with_servers
from tests.configurations import model, table
from tests.endpoint import Answer, Endpoint, Request, calls, says
from tests.terminal.set_ups import endpoint_beside

SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk", log_level="WARNING")

@server.tool(structured_output=False)
def look(at: int) -> str:
    """Look at something."""
    return (f"line {at} of what was found on the desk\\n" * 60)[:1500]

server.run("stdio")
'''
TURN = 4
"""Messages per turn."""

MESSAGES = 1000
BUDGETS = {0: 90, 1000: 105}
"""Budget in megabytes by number of messages."""

CALM_SECONDS = 3.0
"""After this long, all work of the last turn is done."""

RUNS_DIFFER_MB = 1.5
"""How much two runs of the same program differ. Only one run is measured here."""


def answering() -> Callable[[Request], Answer]:
    """Return the endpoint's behavior: it calls the tool once for each question, then answers."""
    turns = 0

    def answer(request: Request) -> Answer:
        nonlocal turns
        if request.json["messages"][-1]["role"] == "tool":
            return says(f"**Answer {turns}.** " + "This is what it looks like from here. " * 12, pieces=20)
        turns += 1
        return calls(("s0__look", {"at": turns}), text="Let me look.")

    return answer


def configured(home: str, endpoint: Endpoint) -> str:
    """Write the configuration and the server script; return the path of the configuration."""
    script = Path(home) / "desk.py"
    script.write_text(SERVER, "utf-8")
    models = f'default_model = "scripted"\n{model(endpoint, context_window=10_000_000)}'
    return with_servers(home, script, STUB, more=models + table("approvals", allow=["s0/*"]))


def talk(home: str, messages: int) -> Iterator[tuple[int, float]]:
    """Talk to the app; yield the number of messages and the memory at several points."""
    with (
        endpoint_beside([answering()]) as endpoint,
        program(home, "--config", configured(home, endpoint)) as app,
    ):
        app.until(lambda: b"2 of 2" in app.raw, 60)
        rest(app, CALM_SECONDS)
        yield 0, megabytes(app)
        for turn in range(1, messages // TURN + 1):
            app.send(f"Question {turn}: how is it with the other one?\r")
            app.until(lambda turn=turn: len(endpoint.requests) >= 2 * turn, 60)
            endpoint.requests[:-1] = [endpoint.requests[0]] * (len(endpoint.requests) - 1)
            if turn * TURN in (100, messages // 2, messages):
                rest(app, CALM_SECONDS)
                yield turn * TURN, megabytes(app)


def measure(messages: int = MESSAGES) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        list(talk(home, TURN))  # warm-up: compiles modules, which would count as memory
        with bare(home) as app:
            app.until(lambda: b"ready" in app.raw)
            rest(app, CALM_SECONDS)
            beside = f"bare Textual {megabytes(app):.0f} MB"
        return [
            Figure(
                f"memory after {said:,} messages" if said else "memory when started",
                *(held, "MB", BUDGETS.get(said), RUNS_DIFFER_MB, beside),
            )
            for said, held in talk(home, messages)
        ]
