"""Half an hour with `mcptui dev`, as the author of a server: saves, some of them broken, and no key.

    python tests/soak/dev_saves.py fastmcp /path/to/python-with-fastmcp
    python tests/soak/dev_saves.py typescript /path/to/folder-with-node_modules   (sdk, tsx, zod)

Each save must be told right on the screen. What that takes is compared with the start of the new process: as
told, or, if it is broken, as it ends alone.
Needs tmux. Prints a table, and exits with 1 if anything was told wrong or left running.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
FEW = 1.5
"""Seconds that telling may take, besides the server's own start."""

PYTHON = '''\
from fastmcp import FastMCP

mcp = FastMCP("weather")


@mcp.tool
def get_weather({arguments}) -> str:
    """{description}"""
    return f"{result} in {{city}}"

{more}
{broken}
if __name__ == "__main__":
    mcp.run(show_banner=False)
'''
TYPESCRIPT = """\
import {{ McpServer }} from "@modelcontextprotocol/sdk/server/mcp.js";
import {{ StdioServerTransport }} from "@modelcontextprotocol/sdk/server/stdio.js";
import {{ z }} from "zod";

const server = new McpServer({{ name: "weather", version: "1.0.0" }});

server.registerTool(
  "get_weather",
  {{ description: "{description}", inputSchema: {{ {arguments} }} }},
  async ({{ city }}) => ({{ content: [{{ type: "text", text: `{result} in ${{city}}` }}] }}),
);
{more}
{broken}
await server.connect(new StdioServerTransport());
"""


@dataclass
class Kind:
    """A language: its file, what its parts are, and its broken saves with what is to be told of them."""

    file: str
    source: str
    command: list[str]
    arguments: Sequence[str]
    more: str
    broken: Sequence[tuple[str, str]]


def fastmcp(python: str) -> Kind:
    return Kind(
        "server.py",
        PYTHON,
        [python, "server.py"],
        ("city: str", "city: str, days: int = 1", "city: str, days: int"),
        '@mcp.tool\ndef get_alerts(area: str) -> str:\n    """Alerts."""\n    return area\n',
        (
            ("def helper(:\n    pass", r"server\.py:LINE .*SyntaxError"),
            ("import no_such_module", r"server\.py:LINE .*ModuleNotFoundError"),
            ('raise RuntimeError("no API key")', r"server\.py:LINE .*RuntimeError: no API key"),
            ("undefined_name()", r"server\.py:LINE .*NameError"),
            ("import sys; sys.exit(3)", r"exited with code 3"),
        ),
    )


def typescript(modules: str) -> Kind:
    number, city = "z.number().int()", "city: z.string()"
    return Kind(
        "index.ts",
        TYPESCRIPT,
        [f"{modules}/node_modules/.bin/tsx", "index.ts"],
        (city, f"{city}, days: {number}.optional()", f"{city}, days: {number}"),
        'server.registerTool("get_alerts", { description: "Alerts.", inputSchema: { area: z.string() } },\n'
        '  async ({ area }) => ({ content: [{ type: "text", text: area }] }));',
        (
            ("const helper = (;", r"index\.ts:LINE .*ERROR"),
            ('import "./no-such-module.js";', r"Cannot find module.*no-such-module"),
            ('throw new Error("no API key");', r"index\.ts:LINE .*Error: no API key"),
            ("undefinedName();", r"index\.ts:LINE .*ReferenceError"),
            ("process.exit(3);", r"exited with code 3"),
        ),
    )


@dataclass
class State:
    """What the next save contains."""

    arguments: int = 0
    description: str = "Weather of a city."
    result: str = "sunny"
    has_more: bool = False


def good_saves(state: State, number: int) -> str:
    """Change the state for the next good save; return what is to be told."""
    match number % 6:
        case 0:
            state.description = f"Weather of a city, version {number}."
            return r"get_weather: description changed, routing"
        case 1:
            state.arguments = 1
            return r"get_weather: input changed, compatible"
        case 2:
            state.result = "rainy"
            return r"1 kept: 1 differs"
        case 3:
            state.result = "sunny"
            return r"1 kept: 1 passed"
        case 4:
            state.has_more = not state.has_more
            return r"get_alerts: " + ("new" if state.has_more else "removed, breaking")
        case _:
            state.arguments, state.result = 0, "sunny"
            return r"get_weather: input changed"


class Screen:
    """An app in tmux."""

    def __init__(self, folder: Path, home: Path, command: Sequence[str]) -> None:
        self._tmux = ["tmux", "-L", f"dev-saves-{os.getpid()}"]
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        words = " ".join(f"'{word}'" for word in command)
        start = ["new-session", "-d", "-x", "150", "-y", "40", "-c", str(folder), words]
        subprocess.run([*self._tmux, *start], check=True, env=env)

    def rows(self) -> list[str]:
        done = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True)
        return [*done.stdout.splitlines(), *[""] * 5]

    def send(self, key: str) -> None:
        subprocess.run([*self._tmux, "send-keys", key], check=True)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True)

    @property
    def is_open(self) -> bool:
        return subprocess.run([*self._tmux, "has-session"], capture_output=True).returncode == 0

    @property
    def pid(self) -> str:
        found = re.search(r"pid (\d+)", self.rows()[0])
        return found[1] if found else ""


def write(path: Path, text: str, how: int) -> None:
    """Save as an editor does: at once, as a copy that is renamed, twice, or in two steps."""
    match how % 4:
        case 0:
            path.write_text(text)
        case 1:
            copy = path.with_name(f".{path.name}.tmp~")
            copy.write_text(text)
            os.replace(copy, path)
        case 2:
            path.write_text(text)
            time.sleep(0.12)  # and a formatter writes it again
            path.write_text(text)
        case _:
            path.rename(path.with_name(f"{path.name}~"))
            time.sleep(0.03)
            path.write_text(text)


def own_start(command: Sequence[str], folder: Path) -> float:
    """Return the seconds until the server by itself has listed its tools, or has ended."""
    began = time.monotonic()
    server = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None
    who = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    messages = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    )
    try:
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            if message.get("id") and not server.stdout.readline():
                break
    except BrokenPipeError:
        pass
    took = time.monotonic() - began
    server.kill()
    server.communicate()
    return took


def main() -> int:
    kind = {"fastmcp": fastmcp, "typescript": typescript}[sys.argv[1]](sys.argv[2])
    folder, home = Path(tempfile.mkdtemp(prefix="dev-saves-")), Path(tempfile.mkdtemp(prefix="dev-home-"))
    if sys.argv[1] == "typescript":
        (folder / "node_modules").symlink_to(Path(sys.argv[2]) / "node_modules")
        (folder / "package.json").write_text('{"type": "module"}')
    path, state = folder / kind.file, State()

    def source(broken: str = "") -> str:
        return kind.source.format(
            arguments=kind.arguments[state.arguments],
            description=state.description,
            result=state.result,
            more=kind.more if state.has_more else "",
            broken=broken,
        )

    path.write_text(source())
    words = json.dumps(kind.command)
    (folder / "weather.mcp.toml").write_text(
        f'[server]\ncommand = {words}\n\n[[call]]\nname = "Oslo"\ntool = "get_weather"\n'
        'args = { city = "Oslo" }\ntext = "sunny in Oslo"\n'
    )
    program = [sys.executable, "-m", "tui", "dev", "--", *kind.command]
    os.environ["PYTHONPATH"] = str(ROOT)
    wrong, late, added = list[str](), list[str](), list[float]()
    screen = Screen(folder, home, ["env", f"PYTHONPATH={ROOT}", *program])
    try:
        wait(lambda: screen.pid and "tools 1" in screen.rows()[1] and "1 kept" in screen.rows()[4], 60)
        good = bad = 0
        for number in range(25):
            is_broken = number % 5 == 2
            before, told = screen.pid, ""
            if is_broken:
                code, expected = kind.broken[bad]
                text, bad = source(code), bad + 1
                expected = expected.replace("LINE", str(text[: text.index(code)].count("\n") + 1))
            else:
                expected, code = good_saves(state, good), ""
                text, good = source(), good + 1
            write(path, text, number)
            began = time.monotonic()

            def is_told(before: str = before, is_broken: bool = is_broken, expected: str = expected) -> bool:
                rows = screen.rows()
                is_new = (f"pid {before} " not in rows[0]) != is_broken
                return is_new and re.search(expected, rows[2]) is not None

            is_right = wait(is_told, 30, fail=False)
            took, told = time.monotonic() - began, screen.rows()[2].strip()
            own = (
                own_start(kind.command, folder) if is_broken else float(re.findall(r"in ([\d.]+) s", told)[0])
            )
            added.append(took - own)
            name = f"{number + 1:2} {'broken' if is_broken else 'good  '}"
            print(
                f"{name}  told after {took:.2f} s, own start {own:.2f} s, {took - own:+.2f} s   {told[:100]}"
            )
            wrong += [] if is_right else [f"{name}: expected {expected}, told: {told}"]
            late += [name] if took - own > FEW else []
        screen.send("C-q")
        wait(lambda: not screen.is_open, 15)
    finally:
        screen.close()
    time.sleep(0.5)
    left = [one.pid for one in psutil.process_iter() if _is_in(one, folder)]
    print(
        f"{len(added)} saves: {len(wrong)} told wrong, {len(late)} late; added to the server's own start: "
        f"median {statistics.median(added):.2f} s, most {max(added):.2f} s; left running: {len(left)}"
    )
    recordings = [*home.rglob("*.mcptrace")]
    told = subprocess.run(
        [sys.executable, "-m", "tui", "traffic", str(recordings[0]), "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(home)},
    ).stdout
    events = {word: told.count(f'"event":"{word}"') for word in ("restarted", "restart failed")}
    print(f"in the recording: {events}")
    for one in wrong:
        print("WRONG", one)
    shutil.rmtree(folder)
    shutil.rmtree(home)
    return int(bool(wrong or late or left))


def _is_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()) == folder
    except (psutil.Error, OSError):
        return False


def wait(is_so, seconds: float, *, fail: bool = True) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if is_so():
            return True
        time.sleep(0.03)
    if fail:
        raise TimeoutError
    return False


if __name__ == "__main__":
    sys.exit(main())
