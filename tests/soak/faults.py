"""Runs every faulty server of the corpus in a terminal, in both protocol eras, while keys are typed.

`python -m tests.soak.faults [NAME …]` starts the app once for each server and era, together with a healthy
server. The model calls every tool while keys are typed. For each run it prints the slowest key and the memory
gained by the app, and reports if the healthy server did not answer or if anything is left over. A question of
a server takes the keyboard focus, so it is answered first: only keys in the input are timed.
"""

import re
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from tests.endpoint import Endpoint, Request, calls, says
from tests.terminal.pty_app import TerminalApp, alive, home_in
from tests.terminal.set_ups import FAULTS, config_with, endpoint_beside

ERAS = ("legacy", "modern")
FIXED = {
    "crash_loop": {"FAULT_DELAY": "0.3"},
    "slow_start": {"FAULT_DELAY": "5"},
    "stderr_flood": {"FAULT_MIB": "50"},
}
TURN_SECONDS, AFTERWARDS_SECONDS = 60, 1.5
KEY_LIMIT, MEMORY_LIMIT = 0.150, 50 * 1024 * 1024
QUESTIONS_SECONDS = 60
LETTERS = "qwxz"
ENTER, CLEAR, QUIT, ESCAPE, CTRL_S = "\r", "\x03", "\x11", "\x1b", "\x13"
ACCEPTED = {"input_required_loop"}
"""Servers whose questions are accepted, since their fault is how many they ask. Others are cancelled."""

ASKS = re.compile(r"ctrl\+x (?:decline|leave out|do not trust|no)\b")
"""The keys that a question dialog shows."""


def call_everything(request: Request):
    """Call each tool once, the healthy server's tool last."""
    names = [tool["function"]["name"] for tool in request.json.get("tools", [])]
    names.sort(key=lambda name: name.startswith("healthy"))
    return (
        calls(*((name, {"text": "hello"}) for name in names[:8] + names[-1:])) if names else says("No tools.")
    )


def key_delay(app: TerminalApp, letter: str, answer: str) -> float:
    """Type a letter in the input; return the seconds until it is on the screen.

    Questions are answered first; a new one ignores keys for a moment. A letter that went to a question is
    typed again.
    """
    deadline, lost = time.monotonic() + QUESTIONS_SECONDS, 0
    while time.monotonic() < deadline and lost < 3:
        if is_asked(app):
            sent_until(app, answer, lambda: not is_asked(app), 1)
            continue
        if typed(app)[:1] in set(LETTERS):  # typed just as a question appeared
            sent_until(app, CLEAR, lambda: typed(app)[:1] not in set(LETTERS) or is_asked(app), 20)
            continue
        begun = time.monotonic()
        sent_until(app, letter, lambda: typed(app) == letter or is_asked(app), 3)
        if typed(app) == letter:
            taken = time.monotonic() - begun
            sent_until(app, CLEAR, lambda: typed(app) != letter, 20)
            return taken
        lost += not is_asked(app)
    raise AssertionError(f"no key reaches the input; the screen shows\n{app.text}")


def sent_until(app: TerminalApp, key: str, condition: Callable[[], object], seconds: float) -> None:
    """Press a key, and wait for its effect for some time."""
    app.send(key)
    with suppress(AssertionError):
        app.until(condition, seconds)


def is_asked(app: TerminalApp) -> bool:
    """Return whether a server's question is on the screen."""
    return bool(ASKS.search(app.text))


def start_turn(app: TerminalApp, endpoint: Endpoint) -> None:
    """Send a message, again if the keys went to a server's question, such as one about its definitions."""
    for _ in range(10):
        keys = ""
        if "▌ go" not in app.text:  # the message may be waiting for servers to start
            keys = "go" + ENTER if " › Ask anything" in app.text else ESCAPE
        sent_until(app, keys, lambda: endpoint.requests, 3)
        if endpoint.requests:
            return
    raise AssertionError(f"no turn begins; the screen shows\n{app.text}")


def typed(app: TerminalApp) -> str:
    """Return the first two characters of the input, stripped: one letter unless more was typed."""
    return next((line[3:5].strip() for line in app.text.splitlines() if line.startswith(" › ")), "")


def one(name: str, era: str) -> list[str]:
    """Run the app with one faulty server; return the problems."""
    wrong: list[str] = []
    env = FIXED.get(name, {}) | {"FAULT_ERA": era}
    answer = CTRL_S if name in ACCEPTED else ESCAPE
    servers = {name: (name, env), "healthy": ("stderr_flood", {"FAULT_MIB": "0", "FAULT_ERA": era})}
    with (
        tempfile.TemporaryDirectory() as folder,
        endpoint_beside([call_everything, says("The end.")]) as endpoint,
    ):
        config = config_with(Path(folder), servers, endpoint=endpoint.base_url, rules=["*/*"])
        with Path(config).open("a") as file:
            file.write("[limits]\ntool_seconds = 8\n")
        with TerminalApp.real("--config", config, env=home_in(folder)) as app:
            app.until(lambda: re.search("healthy +RUNNING|decide later", app.text))
            memory = psutil.Process(app.process.pid).memory_info().rss
            start_turn(app, endpoint)
            begun, slowest, number, ended = time.monotonic(), 0.0, 0, 0.0
            while time.monotonic() - begun < TURN_SECONDS:
                slowest = max(slowest, key_delay(app, LETTERS[number % 4], answer))
                number += 1
                ended = ended or ("The end." in app.text and time.monotonic())
                if ended and time.monotonic() > ended + AFTERWARDS_SECONDS:
                    break
            else:
                wrong.append("the turn did not end")
            gained = psutil.Process(app.process.pid).memory_info().rss - memory
            seconds = time.monotonic() - begun
            row = f"{name:32} {era:7} key {slowest * 1000:5.0f} ms of {number:3}"
            print(f"{row}  +{gained >> 20:3} MB  {seconds:5.1f} s", flush=True)
            if slowest > KEY_LIMIT:
                wrong.append(f"a key took {slowest * 1000:.0f} ms")
            if gained > MEMORY_LIMIT:
                wrong.append(f"{gained >> 20} MB gained")
            if not any("healthy" in str(request.json.get("messages")) for request in endpoint.requests[1:]):
                wrong.append("the healthy server did not answer")
            processes = app.children()
            app.send(QUIT)
            if code := app.ended():
                wrong.append(f"exit code {code}")
            if faults := app.faults_of_the_terminal():
                wrong.append(f"terminal: {faults}")
            deadline = time.monotonic() + 5
            while alive(processes) and time.monotonic() < deadline:
                time.sleep(0.05)
            if left := alive(processes):
                wrong.append(f"left: {left}")
    return wrong


def main() -> int:
    failed = 0
    for name in sys.argv[1:] or sorted(path.stem for path in FAULTS.glob("[a-z]*.py")):
        for era in ERAS:
            try:
                wrong = one(name, era)
            except AssertionError as error:
                wrong = [str(error)[:3000]]
            failed += len(wrong)
            for sentence in wrong:
                print(f"   {name} {era}: {sentence}", flush=True)
    print(f"{failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
