"""The Inspector's CLI behind `mcptui tap --watch`: one restart for each call.

    python tests/soak/inspector_restarts.py /path/to/folder-with-node_modules [RESTARTS]

Half of the calls are under way when the server is saved, and must fail with one clear error. The others are
made while it restarts, and must succeed. Saves during a restart may cause one more for all of them; over
stdio, a call that succeeds ends its tap before the restart. Three times: over stdio, over HTTP with a fixed
port, and with `{port}`.
Prints what the CLI said how often, and exits with 1 if anything else happened or is left running.
"""

import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
SERVER = """\
import sys, time
from pathlib import Path
from mcp.server.mcpserver import MCPServer

VERSION = 0
mcp = MCPServer("restarted")


@mcp.tool()
def call(seconds: float) -> str:
    Path("called").touch()
    time.sleep(seconds)
    return f"version {VERSION}"


Path("started").touch()
port = [int(word) for word in sys.argv[1:]]
mcp.run("streamable-http", port=port[0]) if port else mcp.run()
"""
FAILED = "The server was restarted because server.py changed, and did not answer this request. Repeat it."


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def wait_for(path: Path, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.005)


class Session:
    """A folder with a server, and the words that the CLI gets for it."""

    def __init__(self, folder: Path, modules: str, port: str) -> None:
        self.folder, self.port = folder, port
        node = f"{modules}/node_modules/node/bin/node"
        self._cli = [node, f"{modules}/node_modules/@modelcontextprotocol/inspector/cli/build/index.js"]
        self.tap = [sys.executable, "-m", "tui", "tap", "--watch", "server.py"]
        self.server = [sys.executable, "server.py"]
        self.env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder / "home")}
        self._said = (folder / "tap.log").open("w+")
        self.url = ""
        self.save(0)

    def save(self, version: int) -> None:
        (self.folder / "server.py").write_text(SERVER.replace("VERSION = 0", f"VERSION = {version}"))

    def call(self, seconds: float) -> "subprocess.Popen[str]":
        target = [self.url] if self.url else [str(self.folder / "tap.sh")]
        words = ["--method", "tools/call", "--tool-name", "call", "--tool-arg", f"seconds={seconds}"]
        return subprocess.Popen(
            [*self._cli, *target, *words],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def serves(self, version: int, seconds: float = 20.0) -> bool:
        """Return whether calls reach a version in the end."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if f"version {version}" in self.call(0.0).communicate()[0]:
                return True
        return False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the tap over HTTP; over stdio, the CLI starts one for each call."""
        if not self.port:
            script = self.folder / "tap.sh"
            words = " ".join([*self.tap, "--", *self.server])
            path = f"export PYTHONPATH='{ROOT}' HOME='{self.folder / 'home'}'"
            script.write_text(f"#!/bin/sh\n{path}\nexec {words} 2>>tap.log\n")
            script.chmod(0o755)
            yield
            return
        listens = free_port()
        self.url = f"http://127.0.0.1:{listens}/mcp"
        http = ["--listen", listens, "--to", f"http://127.0.0.1:{self.port}/mcp"]
        words = [*self.tap, *http, "--", *self.server, self.port]
        tap = subprocess.Popen(words, cwd=self.folder, env=self.env, stderr=self._said)
        wait_for(self.folder / "started")
        try:
            yield
        finally:
            tap.terminate()
            tap.wait(20)


def judged(session: Session, number: int, chance: random.Random) -> tuple[str, str]:
    """Save once during a call; return the kind of the call, and what the CLI said."""
    is_under_way = number % 2 == 0
    (session.folder / "called").unlink(missing_ok=True)
    if not session.port:
        (session.folder / "started").unlink(missing_ok=True)
    if session.port and not is_under_way:
        session.save(number)
        time.sleep(chance.random())
    called = session.call(30.0 if is_under_way else 0.0)
    if is_under_way:
        wait_for(session.folder / "called")
    elif not session.port:
        wait_for(session.folder / "started")
    if is_under_way or not session.port:
        time.sleep(chance.random() / 2)
        session.save(number)
    try:
        said, _ = called.communicate(timeout=40)
    except subprocess.TimeoutExpired:
        called.kill()
        said = f"no end: {called.communicate()[0]}"
    shown = " ".join(re.sub(r"version \d+", "version N", said).split())
    if shown.count(FAILED) == 1 and called.returncode == 1:
        shown = "one clear error"
    elif '"text": "version N"' in shown and called.returncode == 0:
        shown = "a result"
    return ("under way" if is_under_way else "while it restarts"), shown


def main() -> int:
    modules, restarts = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    wrong = 0
    for how, port in (("stdio", ""), ("HTTP, fixed port", free_port()), ("HTTP, {port}", "{port}")):
        folder, chance = Path(tempfile.mkdtemp(prefix="restarts-")), random.Random(5)
        session, found = Session(folder, modules, port), Counter[tuple[str, str]]()
        with session.running():
            found.update(judged(session, number + 1, chance) for number in range(restarts))
            is_newest = session.serves(restarts)
        for (kind, said), count in sorted(found.items()):
            print(f"{how}: {kind}: {count} x {said[:600]}", flush=True)
            wrong += count if said != ("one clear error" if kind == "under way" else "a result") else 0
        told = (folder / "tap.log").read_text()
        time.sleep(0.5)
        left = [one.pid for one in psutil.process_iter() if is_in(one, folder)]
        done = len(re.findall(r"restarted in [\d.]+ ", told))
        newest = "the last save is served" if is_newest else "THE LAST SAVE IS NOT SERVED"
        print(f"{how}: {restarts} saves, {done} restarts, {newest}, {len(left)} left running", flush=True)
        wrong += len(left) + (not is_newest)
        shutil.rmtree(folder)
    return int(bool(wrong))


def is_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()) == folder
    except (psutil.Error, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
