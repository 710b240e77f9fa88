"""Puts secrets everywhere, then searches everything that mcptui writes, prints and paints for them.

`python -m tests.soak.canaries --minutes 60` plays rounds: the app in a terminal at three sizes, `run`,
`call`, `prompt`, `read`, `list`, `servers`, `traffic`, `sessions`, exports, `tap`. There are secrets in
`env`, `args`, headers and model keys, and the servers and the model put them into everything they send. All
bytes are searched for every piece of 8 characters of a secret, also in base64 and with URL and JSON escapes,
so that a secret with a line break in it is found too. They are also searched for pieces of 5 characters in
their original order with other bytes between them. Texts that a recorded stream carries in pieces are joined
first.
Exits with 1 if a secret is found or a step fails.
"""

import argparse
import asyncio
import base64
import contextlib
import itertools
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from tests.configurations import config_file, server, table
from tests.endpoint import Answer, Request, calls, chunk
from tests.http_server import Asked, http_server, reply
from tests.terminal.pty_app import ROOT, TerminalApp, home_in
from tests.terminal.set_ups import endpoint_beside
from tui.core.errors import StorageError
from tui.storage.recordings.reader import RecordingReader

SERVER = Path(__file__).with_name("canary_server.py")
PIECE = 8
"""This many consecutive characters of a secret are a leak."""

SHORT, IN_ORDER, NEAR = 5, 3, 1000
"""Length of a short piece, how many of them in order are a leak, and the most bytes between two of them."""

ONLINE = (
    *("call canary sing", "call canary sing text=a --json", "call canary sing text=wide --verbose"),
    *("call far echo text=a", "prompt canary song a=b", "prompt canary song a=b --json", "list canary"),
    *("list canary --json", "list canary resources --json", "servers", "servers --json"),
)
OFFLINE = (
    *("decisions", "traffic --list", "traffic", "traffic --json", "traffic --stats", "traffic --lint"),
    *("traffic --all --slowest", "sessions list", "sessions show last", "sessions search redacted"),
)
SIZES = ((80, 24), (120, 40), (200, 60))
ENTER, ESCAPE, QUIT, TAB = "\r", "\x1b", "\x11", "\t"
F2, F3, F4, F6, NEXT = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[17~", "\x1b[6;5~"
LOG, SEND = "\x0c", "\x13"
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\s")
_COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)")
_CONTROL = re.compile(rb"\x1b\]([^\x07\x1b]*)")


def fresh_secrets() -> dict[str, str]:
    """Return new secrets by the place where they are used, with characters that JSON and URLs escape."""
    return {
        "env": f"e/{secrets.token_hex(6)}+{secrets.token_hex(6)}=Q",
        "argument": f'a"{secrets.token_hex(6)}&{secrets.token_hex(6)}W',
        "header": f"h-{secrets.token_hex(6)}/{secrets.token_hex(6)}V",
        "typed": f"t.{secrets.token_hex(6)}~{secrets.token_hex(6)}",
        "key": f"sk-live-{secrets.token_hex(12)}",
    }


class Needles:
    """Finds pieces of secrets in bytes, in every encoding that mcptui redacts."""

    def __init__(self, known: dict[str, str]) -> None:
        self._of: dict[bytes, str] = {}
        self._short_of: dict[bytes, tuple[str, int]] = {}
        for name, secret in known.items():
            raw = secret.encode()
            forms = [raw, quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode()]
            forms += [json.dumps(json.dumps(secret)[1:-1])[1:-1].encode()]
            for form in forms:
                self._add(form, PIECE, name)
            self._add("".join(f"\\u{ord(char):04x}" for char in secret).encode(), 6 * PIECE, name)
            for shift in range(3):  # preceding bytes shift the base64 alignment
                for encode in (base64.b64encode, base64.urlsafe_b64encode):
                    text = encode(b"\0" * shift + raw).rstrip(b"=")
                    self._add(text[4 if shift else 0 : -2], 12, f"{name} in base64")
            for at in range(len(raw) - SHORT + 1):
                self._short_of.setdefault(raw[at : at + SHORT], (name, at))
        self._pattern = re.compile(b"|".join(map(re.escape, self._of)))
        self._short = re.compile(b"(?=(%b))" % b"|".join(map(re.escape, self._short_of)))

    def _add(self, form: bytes, length: int, name: str) -> None:
        for at in range(len(form) - length + 1):
            self._of.setdefault(form[at : at + length], name)

    def found_in(self, data: bytes) -> dict[str, bytes]:
        """Return the names of the secrets of which a piece is found, with the bytes around it."""
        return {
            self._of[found[0]]: data[max(0, found.start() - 100) : found.end() + 40]
            for found in self._pattern.finditer(data)
        } | self._in_order(data)

    def _in_order(self, data: bytes) -> dict[str, bytes]:
        """Return the names of the secrets of which several short pieces are found in order."""
        chains: dict[str, tuple[int, int, int]] = {}
        found: dict[str, bytes] = {}
        for hit in self._short.finditer(data):
            name, offset = self._short_of[hit[1]]
            at, last, count = chains.get(name, (0, 0, 0))
            if not count or hit.start() - at > NEAR or offset < last:
                chains[name] = (hit.start(), offset, 1)
            elif offset >= last + SHORT:
                chains[name] = (hit.start(), offset, count + 1)
                if count + 1 == IN_ORDER:
                    found[f"{name} in pieces"] = data[at : hit.end() + 40]
        return found


def painted_texts(raw: bytes) -> Iterator[bytes]:
    """Yield the terminal output without escapes and blanks, its titles and links, and copied texts."""
    yield _ESCAPE.sub(b"", raw)
    yield b"\n".join(_CONTROL.findall(raw))
    for copied in _COPIED.findall(raw):
        with contextlib.suppress(ValueError):
            yield base64.b64decode(copied)


def spelled_texts(body: bytes) -> Iterator[bytes]:
    """Yield the texts that the events of a stream carry in pieces, joined by their key."""
    texts: dict[str, list[str]] = {}
    for line in body.splitlines():
        if line.startswith(b"data: {"):
            json.loads(line[6:], object_pairs_hook=lambda pairs: [_hear(texts, pair) for pair in pairs])
    yield from ("".join(text).encode("utf-8", "replace") for text in texts.values())


def _hear(texts: dict[str, list[str]], pair: tuple[str, object]) -> None:
    if isinstance(pair[1], str):
        texts.setdefault(pair[0], []).append(pair[1])


class Proof:
    """Plays rounds in its own home folder and collects leaks and failed steps."""

    def __init__(self, home: Path, known: dict[str, str]) -> None:
        self.home = home
        self.known = known
        self.needles = Needles(known)
        self.leaks: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.config = home / "config.toml"
        self.environment = {"SSH_CONNECTION": "here"} | home_in(home)

    def look(self, where: str, data: bytes) -> None:
        self.counts["bytes"] += len(data)
        for name, around in self.needles.found_in(data).items():
            self.leaks[f"{where}: {name}"] += 1
            print(f"LEAK {where}: {name}: {around!r}", flush=True)

    def configure(self, model: str, far: str) -> None:
        known = self.known
        token = f"Bearer {known['header']}"
        config_file(
            self.home,
            table("models.m", model="m", base_url=model, api_key=known["key"]),
            table("approvals", allow=["canary/*", "far/*"]),
            server(
                *("canary", SERVER, "--token", known["argument"]),
                env={"CANARY_TOKEN": known["env"], "OTHER_TOKEN": known["typed"]},
            ),
            table("servers.far", url=far, headers={"Authorization": token}),
        )

    def miss(self, what: str, why: str) -> None:
        self.missing[what] += 1
        print(f"MISSING {what}: {why}", flush=True)

    def program(
        self, words: list[str], given: bytes = b"", **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run mcptui."""
        self.counts["commands"] += 1
        env = {**os.environ, "PYTHONPATH": str(ROOT), **self.environment, **more}
        argv = [sys.executable, "-m", "tui", *words]
        return subprocess.run(argv, cwd=self.home, env=env, input=given, capture_output=True, timeout=120)

    def command(self, *words: str, config: bool = True, codes: tuple[int, ...] = (0,)) -> bytes:
        """Run a command, search what it prints, and return its stdout."""
        given = [*words, "--config", str(self.config)] if config else list(words)
        trust = ["--trust-config"] if words[0] in ("run", "call", "prompt", "read", "list", "servers") else []
        done = self.program([*given[: len(words)], *trust, *given[len(words) :]])
        name = " ".join(word for word in words if str(self.home) not in word)
        self.look(f"printed by {name}", done.stdout + done.stderr)
        if done.returncode not in codes:
            self.miss(f"{name}: exit code {done.returncode}", repr(done.stderr[-300:]))
        return done.stdout

    def tap(self) -> None:
        """Act as another host that runs its server through `mcptui tap`. The host's input is not searched."""
        secret = self.known["argument"]
        server = [sys.executable, str(SERVER), "--token", secret]
        calls = [("tools/list", {}), ("tools/call", {"name": "sing", "arguments": {"text": "a"}})]
        asked = [("initialize", {}), *calls]
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            for number, (method, params) in enumerate(asked)
        ]
        words = ["tap", "--name", "canary", "--", *server]
        done = self.program(words, "\n".join(lines).encode() + b"\n", CANARY_TOKEN=self.known["env"])
        answers = done.stdout.count(b'"id": ')
        if done.returncode or answers != len(lines) or secret.encode() not in done.stderr:
            self.miss("tap", f"{done.returncode} {done.stdout[-300:]!r}")

    def files(self) -> None:
        """Search every file in the home folder, and the decoded entries of recordings."""
        own = {self.config}
        for path in self.home.rglob("*"):
            if path in own or not path.is_file():
                continue
            with contextlib.suppress(FileNotFoundError):
                self.look(f"written to {path.relative_to(self.home).parts[:3]}", path.read_bytes())
                self.look("a file's name", str(path).encode())
                self.counts["files"] += 1
            if path.suffix == ".mcptrace":
                with contextlib.suppress(StorageError), contextlib.closing(RecordingReader(path)) as reader:
                    for entry in reader.columns(0, 1_000_000):
                        said = json.dumps(entry.detail, default=str, ensure_ascii=False)
                        body = reader.body(entry.seq)
                        self.look("recorded", body + said.encode())
                        for text in spelled_texts(body):
                            self.look("spelled by a recorded stream", text)
                        self.counts["entries"] += 1

    def forget(self) -> None:
        """Delete the recordings that have been searched."""
        for path in self.home.rglob("*.mcptrace*"):
            path.unlink()

    def terminal(self, columns: int, rows: int) -> None:
        """Go through the screens of the app and search what it paints."""
        arguments = ("--config", str(self.config))
        with TerminalApp.real(*arguments, columns=columns, rows=rows, env=self.environment) as app:
            name = f"app {columns}x{rows}"
            seen: set[str] = set()

            def keys(*pressed: str) -> None:
                for key in pressed:
                    app.send(key)
                    size = -1
                    while size != len(app.raw):
                        size = len(app.raw)
                        app.pump(0.4)
                    seen.add(app.text)

            def step(what: str, *texts: str, seconds: float = 25) -> None:
                try:
                    app.shows(*texts, seconds=seconds)
                except AssertionError:
                    self.miss(f"{name}: {what}", app.text)
                seen.add(app.text)

            step("servers run", "Ask anything")
            keys("sing to me" + ENTER)
            step("answer", "Bye.")
            app.until(lambda: "esc stop" not in app.text)
            keys(F2, "c", "v")
            step("result", "[redacted:")
            keys("q", F3, LOG)
            step("log", "called with")
            keys(ESCAPE, F3, ENTER, "1")
            step("workbench", "[redacted:")
            keys("2", ENTER, SEND, NEXT, ENTER, NEXT, ENTER, NEXT, NEXT, ESCAPE, ESCAPE, ESCAPE)
            keys(F4)
            step("traffic", "tools/call")
            keys("/", *"method:tools/call", ENTER, ENTER, *"llll", ESCAPE)
            keys("c", ESCAPE, "S", ESCAPE, "w", ESCAPE)
            keys("x")
            step("export of traffic", "xport")
            keys(ENTER)
            keys(ESCAPE, ESCAPE, ESCAPE, ESCAPE)
            for kind in ("markdown", "json", "html"):
                keys(f"/export {kind} {self.home}/out-{columns}.{kind}" + ENTER)
                app.pump(1)
                keys(ENTER)
            keys("/rename" + ENTER)
            app.pump(1)
            for command in ("/sessions", "/rules", "/context", "/tools"):
                keys(command + ENTER, ESCAPE)
            keys("/prompt canary/song a=b" + ENTER, ESCAPE, ESCAPE, "\x03")
            keys(QUIT, ENTER)
            try:
                app.ended()
            except AssertionError:
                self.miss(f"{name}: quit", app.text)
            painted = bytes(app.raw)
        self.counts["screens"] += len(seen)
        for text in painted_texts(painted):
            self.look(f"painted by {name}", text)
        for text in seen:
            self.look(f"on the screen of {name}", "".join(text.split()).encode())
        if b"Traceback" in painted:
            self.missing[f"{name}: traceback"] += 1

    def round(self, number: int) -> None:
        """Play one round."""
        out = self.home / "out"
        out.mkdir(exist_ok=True)
        question = f"sing of {self.known['typed']}"
        self.command("run", "--session", f"s{number}", "--approve", "all", question)
        self.command("run", "--json", "--session", f"j{number}", "--approve", "all", "sing")
        for words in ONLINE:
            self.command(*words.split())
        self.command("call", "canary", "sing", "-o", str(out / "result"))
        self.tap()
        for words in ("call canary sing text=fail", "call canary sing text=die", "call far echo text=fail"):
            self.command(*words.split(), codes=(1, 4))
        self.command("config", "show")
        self.command("config", "check", codes=(0, 1, 2))
        self.terminal(*SIZES[number % len(SIZES)])
        for words in OFFLINE:
            self.command(*words.split(), config=False, codes=(0, 1))
        self.command("sessions", "search", "it is", config=False)
        found = sorted(self.home.rglob("*.mcptrace"), key=lambda path: path.stat().st_size)
        largest = found[-2:]
        for kind in ("jsonl", "md", "har", "html"):
            for more in ((), ("--redact",)):
                for recording in largest:
                    self.command("traffic", str(recording), "--export", kind, *more, config=False)
                where = str(out / f"{number}{len(more)}.{kind}")
                self.command("traffic", "--export", kind, "-o", where, *more, config=False)
        for kind in ("json", "html", "markdown"):
            for more in ((), ("--redact",)):
                where = str(out / f"s{number}{len(more)}.{kind}")
                self.command("sessions", "export", "last", "--as", kind, "-o", where, *more)
        self.files()
        self.forget()
        self.counts["rounds"] += 1


@contextlib.contextmanager
def far_server() -> Iterator[str]:
    """Run a remote server in a thread that returns its request headers; yield its URL."""

    async def echo(asked: Asked, writer: asyncio.StreamWriter) -> None:
        said = asked.headers.get("authorization", "")
        if asked.message["params"]["arguments"].get("text") == "fail":
            writer.write(reply(said.encode(), "500 Internal Server Error", "text/plain", x_said=said))
            return
        result = {"resultType": "complete", "content": [{"type": "text", "text": said}]}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}, x_said=said))

    up, ends = threading.Event(), []

    async def live() -> None:
        over = asyncio.Event()
        async with http_server(answers={"tools/call": echo}) as server:
            ends.extend((asyncio.get_running_loop(), over, server.url))
            up.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(live(),))
    thread.start()
    try:
        assert up.wait(10)
        yield ends[2]
    finally:
        ends[0].call_soon_threadsafe(ends[1].set)
        thread.join()


def model(known: dict[str, str]) -> Callable[[Request], Answer]:
    """Return a model that calls every tool, then sends the secrets it knows in pieces of various sizes."""
    sizes = itertools.cycle((3, 1, 5, 7))

    def answer(request: Request) -> Answer:
        said = request.json["messages"][-1]
        names = [tool["function"]["name"] for tool in request.json.get("tools", [])]
        if said["role"] == "user" and names:
            made = [(name, {"text": "a"}) for name in names if name.endswith(("sing", "echo"))]
            return calls(*made, *((name, {"text": "fail"}) for name, _ in made))
        size = next(sizes)
        text = f"{known['typed']} and {request.headers.get('authorization', '') if size == 3 else ''}"
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        thoughts = [chunk(reasoning_content=part) for part in parts]
        pieces = [chunk(content=part) for part in parts]
        said = [chunk(content="They sang "), *thoughts, *pieces, chunk(content=". Bye."), chunk("stop")]
        return Answer(said)

    return answer


def prove(seconds: float) -> int:
    """Play rounds for some time and print the leaks; return the exit code."""
    known = fresh_secrets()
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        proof = Proof(home, known)
        endpoint = stack.enter_context(endpoint_beside([model(known)] * 10_000))
        proof.configure(endpoint.base_url, stack.enter_context(far_server()))
        began = time.monotonic()
        while not proof.counts["rounds"] or time.monotonic() < began + seconds:
            proof.round(proof.counts["rounds"])
            done = "  ".join(f"{value} {name}" for name, value in proof.counts.items())
            print(f"{time.monotonic() - began:6.0f} s  {done}  {proof.leaks.total()} leaks", flush=True)
        del known["typed"]  # typed text is sent to the model unchanged
        proof.needles = Needles(known)
        proof.look("sent to the model", b"\n".join(request.body for request in endpoint.requests))
    for what, times in [*proof.leaks.items(), *proof.missing.items()]:
        print(f"{what} ({times} times)")
    print(f"{proof.leaks.total()} leaks, {proof.missing.total()} steps that did not come about")
    return 1 if proof.leaks or proof.missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.canaries", description=__doc__)
    parser.add_argument("--minutes", type=float, metavar="N", default=0.0, help="at least one round")
    return prove(parser.parse_args().minutes * 60)


if __name__ == "__main__":
    sys.exit(main())
