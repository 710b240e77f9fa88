"""Broken servers, each with one defect, and what `mcptui doctor` must say about it.

    python -m tests.protocol.doctor_setups        all of them, as a table

A set-up is an async context manager over a folder that yields the arguments of `mcptui doctor` and its
environment. `step` is the step that must fail, or be warned about, and `named` a pattern of the cause.
"""

import asyncio
import base64
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.configurations import config_file, table
from tests.http_server import STREAM, HttpServer, reply, says
from tests.protocol.oauth_server import OAuthServer


@dataclass(frozen=True)
class Given:
    """Arguments after `mcptui doctor`, and variables of the environment."""

    args: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


MakeSetUp = Callable[[Path], Any]


@dataclass(frozen=True)
class SetUp:
    """A broken set-up, and how doctor must name it. A `cheap` one is also a test."""

    name: str
    make: MakeSetUp
    step: str
    named: str
    cheap: bool


SET_UPS: list[SetUp] = []


def broken(name: str, step: str, named: str, *, cheap: bool = False) -> Callable[[MakeSetUp], MakeSetUp]:
    def add(make: MakeSetUp) -> MakeSetUp:
        SET_UPS.append(SetUp(name, asynccontextmanager(make), step, named, cheap))
        return make

    return add


PYTHON = sys.executable
ANSWERS = """
import json, sys
TOOLS = %s
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    result = {"initialize": {"protocolVersion": "%s", "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"}}, "tools/list": {"tools": TOOLS}}.get(asked["method"])
    said = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
    %s
"""
PRINT = 'print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)'


def answering(tools: str = "[]", version: str = "2025-11-25", say: str = PRINT) -> str:
    return ANSWERS % (tools, version, say)


def command(*words: str) -> Given:
    return Given(("--seconds", "1.5", "--", *words))


def code(text: str) -> Given:
    return command(PYTHON, "-c", text)


# ---- local -------------------------------------------------------------------------------------------


@broken("command not found", "command", "not found on PATH", cheap=True)
async def not_found(folder: Path) -> AsyncIterator[Given]:
    yield command("no-such-server-xyz")


@broken("npx without -y asks", "stray output", "Ok to proceed.*-y", cheap=True)
async def npx(folder: Path) -> AsyncIterator[Given]:
    fake = folder / "npx"
    fake.write_text('#!/bin/sh\nprintf "Need to install:\\nx@1.0.0\\nOk to proceed? (y) "\nread a\n')
    fake.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    yield Given(command("npx", "some-mcp-server").args, {"PATH": path})


@broken("wrong interpreter", "interpreter", "cannot run .*server.js, which is JavaScript.*node", cheap=True)
async def interpreter(folder: Path) -> AsyncIterator[Given]:
    (folder / "server.js").write_text("import x from 'y';")
    yield command(PYTHON, str(folder / "server.js"))


@broken("missing env variable", "start", "WEATHER_API_KEY is not set.*env", cheap=True)
async def variable(folder: Path) -> AsyncIterator[Given]:
    yield code("import os; os.environ['WEATHER_API_KEY']")


@broken(
    "relative path in the wrong cwd", "folder", "server.py does not exist in .*absolute path|cwd", cheap=True
)
async def relative(folder: Path) -> AsyncIterator[Given]:
    path = config_file(folder, table("servers.s", command=PYTHON, args=["src/server.py"], start_seconds=2))
    yield Given(("s", "--config", path))


@broken("module import error", "start", "no module no_such_module.*install")
async def module(folder: Path) -> AsyncIterator[Given]:
    script = folder / "server.py"
    script.write_text("import json\nimport no_such_module\n")
    yield command(PYTHON, str(script))


@broken("prints on stdout", "stray output", "on stdout.*Server started.*stderr")
async def prints(folder: Path) -> AsyncIterator[Given]:
    tool = '[{"name": "a", "description": "A.", "inputSchema": {"type": "object"}}]'
    yield code("print('Server started', flush=True)\n" + answering(tool))


@broken("two tools of one name", "lists", "It listed 3 tools, more than one with the name a", cheap=True)
async def twice(folder: Path) -> AsyncIterator[Given]:
    one = '{"name": "%s", "description": "A.", "inputSchema": {"type": "object"}}'
    yield code(answering(f"[{one % 'a'}, {one % 'b'}, {one % 'a'}]"))


@broken("stdout is not flushed", "first byte", "stdout is buffered.*flush.*python -u", cheap=True)
async def buffered(folder: Path) -> AsyncIterator[Given]:
    yield code(answering(say=PRINT.replace(", flush=True", "")))


@broken("exits at once with a code", "start", "exited with code 3", cheap=True)
async def exits(folder: Path) -> AsyncIterator[Given]:
    yield code("import sys; sys.exit(3)")


@broken("hangs", "first byte", "nothing on stdout.*within 1.5 s", cheap=True)
async def hangs(folder: Path) -> AsyncIterator[Given]:
    yield code("import sys\nfor line in sys.stdin: pass")


@broken("serves HTTP", "first byte", "serves HTTP on http://127.0.0.1:8983 .*that URL .*/mcp", cheap=True)
async def serves_http(folder: Path) -> AsyncIterator[Given]:
    yield code(
        "import sys, time\nprint('INFO: Uvicorn running on http://127.0.0.1:8983 (Press', file=sys.stderr)"
        "\ntry:\n  time.sleep(60)\nfinally:\n  print('INFO: Finished server process', file=sys.stderr)"
    )


@broken("answers in Content-Length framing", "stray output", "Content-Length headers.*newline")
async def framing(folder: Path) -> AsyncIterator[Given]:
    say = 't = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said})\n    '
    say += r'sys.stdout.write(f"Content-Length: {len(t)}\r\n\r\n{t}"); sys.stdout.flush()'
    yield code(answering(say=say))


@broken("wrong protocol version", "handshake", "no common protocol version.*1999", cheap=True)
async def version(folder: Path) -> AsyncIterator[Given]:
    yield code(answering(version="1999-01-01"))


@broken("invalid JSON", "stray output", "not JSON|invalid JSON", cheap=True)
async def invalid(folder: Path) -> AsyncIterator[Given]:
    yield code(answering(say="""print("{'jsonrpc': '2.0', 'id': 1, 'result': {}}", flush=True)"""))


@broken("lists nothing", "lists", "lists no tools", cheap=True)
async def nothing(folder: Path) -> AsyncIterator[Given]:
    yield code(answering())


@broken(
    "tool schema invalid for a provider", "schemas", "OpenAI, Anthropic: anyOf at the root.*pick", cheap=True
)
async def schema(folder: Path) -> AsyncIterator[Given]:
    tool = {
        "name": "pick",
        "description": "Picks.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "anyOf": [{"required": ["a"]}],
        },
    }
    yield code(answering(json.dumps([tool])))


# ---- remote ------------------------------------------------------------------------------------------


def url(address: str, *more: str, **env: str) -> Given:
    return Given((address, "--seconds", "4", *more), env)


@asynccontextmanager
async def server(**how: Any) -> AsyncIterator[HttpServer]:
    made = HttpServer(**how)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


def all_as(raw: bytes) -> dict[str, Any]:
    """Return the same answer to everything."""
    return dict.fromkeys(("GET", "server/discover", "initialize", "tools/list", "DELETE"), says(raw))


@broken("port closed", "tcp", "refused.*running", cheap=True)
async def closed(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        address = made.url
    yield url(address)


@broken("DNS name unknown", "name", "DNS does not know the name: no-such-host.invalid", cheap=True)
async def unknown(folder: Path) -> AsyncIterator[Given]:
    yield url("https://no-such-host.invalid/mcp")


def certificate(folder: Path, name: str, *dates: str) -> ssl.SSLContext:
    key, made = folder / "key.pem", folder / "cert.pem"
    subject = [
        "-subj",
        f"/CN={name}",
        "-addext",
        f"subjectAltName={'IP' if name[0].isdigit() else 'DNS'}:{name}",
    ]
    how = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [*how, *(dates or ("-days", "2")), "-keyout", key, "-out", made, *subject],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    return context


@asynccontextmanager
async def over_tls(context: ssl.SSLContext) -> AsyncIterator[str]:
    async with server(tls=context) as made:
        yield made.url.replace("http:", "https:")


@broken("TLS: self-signed certificate", "tls", "self-signed.*SSL_CERT_FILE")
async def self_signed(folder: Path) -> AsyncIterator[Given]:
    async with over_tls(certificate(folder, "127.0.0.1")) as address:
        yield url(address)


@broken("http to a port that speaks TLS", "tls", "The port expects TLS.*ry https://127.0.0.1", cheap=True)
async def plain(folder: Path) -> AsyncIterator[Given]:
    async with over_tls(await asyncio.to_thread(certificate, folder, "127.0.0.1")) as address:
        yield url(address.replace("https:", "http:"))


@broken("TLS: certificate expired", "tls", "expired.*renew")
async def expired(folder: Path) -> AsyncIterator[Given]:
    context = expired_certificate(folder)
    async with over_tls(context) as address:
        yield url(address, SSL_CERT_FILE=str(folder / "cert.pem"))


def expired_certificate(folder: Path) -> ssl.SSLContext:
    """Sign by `openssl ca`: old releases of the others take no dates of the past."""
    key, request, made = folder / "key.pem", folder / "r.csr", folder / "cert.pem"
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("01")
    conf = folder / "ca.cnf"
    conf.write_text(
        f"[ca]\ndefault_ca=c\n[c]\ndir={folder}\ndatabase={folder}/index.txt\nserial={folder}/serial\n"
        f"new_certs_dir={folder}\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n[p]\n"
        "commonName=supplied\n[e]\nsubjectAltName=IP:127.0.0.1\nbasicConstraints=CA:TRUE\n"
        "[req]\ndistinguished_name=d\n[d]\n"
    )
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    new = ["openssl", "req", *curve, "-nodes", "-subj", "/CN=127.0.0.1", "-config", conf]
    subprocess.run([*new, "-keyout", key, "-out", request], check=True, capture_output=True)
    dates = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z")
    sign = ["openssl", "ca", "-batch", "-selfsign", "-notext", *dates, "-config", conf]
    subprocess.run([*sign, "-keyfile", key, "-in", request, "-out", made], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    return context


@broken("TLS: certificate for another host", "tls", "mismatch|not valid for.*host name")
async def wrong_host(folder: Path) -> AsyncIterator[Given]:
    async with over_tls(certificate(folder, "other.example")) as address:
        yield url(address, SSL_CERT_FILE=str(folder / "cert.pem"))


@broken("proxy wrong", "proxy", "cannot connect to the proxy http://127.0.0.1.*(?i:http_proxy)", cheap=True)
async def proxy(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        port = made.port
    yield url("http://mcp.example/mcp", http_proxy=f"http://127.0.0.1:{port}", no_proxy="")


@broken("401 with no metadata", "well-known", "requires a token, and has no OAuth metadata")
async def no_metadata(folder: Path) -> AsyncIterator[Given]:
    async with OAuthServer(metadata=False, registration=False) as made:
        yield url(made.url)


@broken("404: wrong path", "address", "404.*There is an MCP server at .*/mcp", cheap=True)
async def path(folder: Path) -> AsyncIterator[Given]:
    missing = reply(b"Not Found", "404 Not Found", "text/plain")

    async def answer(asked: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(made.usual(asked) if asked.path == "/mcp" else missing)

    async with server(path="/") as made:
        made.answers = dict.fromkeys(("GET", "server/discover", "initialize", "tools/list"), answer)
        yield url(made.url)


@broken("405", "405/406", "405.*takes no POST")
async def no_post(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        made.answers = all_as(reply(b"", "405 Method Not Allowed", ""))
        made.answers["GET"] = says(reply(b"", "404 Not Found", ""))
        yield url(made.url)


@broken("JSON-RPC as text/plain", "answer", "text/plain.*Content-Type: application/json", cheap=True)
async def plain_text(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        raw = reply(b'{"jsonrpc": "2.0", "id": 1, "result": {}}', kind="text/plain")
        made.answers = dict.fromkeys(("server/discover", "initialize"), says(raw))
        yield url(made.url)


@broken("406", "405/406", "406.*Accept", cheap=True)
async def accept(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        made.answers = all_as(reply(b"", "406 Not Acceptable", ""))
        yield url(made.url)


@broken("500", "answer", "500.*server's own log")
async def failing(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        made.answers = all_as(reply(b"boom", "500 Internal Server Error", "text/plain"))
        yield url(made.url)


@broken("HTML page of a proxy", "answer", "text/html.*web page", cheap=True)
async def page(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        made.answers = all_as(reply(b"<html><title>Corporate login</title></html>", kind="text/html"))
        yield url(made.url)


@broken("HTTP+SSE configured as http", "transport", 'HTTP\\+SSE.*transport = "sse"')
async def old_sse(folder: Path) -> AsyncIterator[Given]:
    async def stream(asked: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"\r\nevent: endpoint\ndata: /messages?s=1\n\n")

    async with server(path="/sse") as made:
        made.answers = all_as(reply(b"", "405 Method Not Allowed", ""))
        made.answers["GET"] = stream
        yield url(made.url, "--transport", "http")


@broken("session refused", "session", "lost the session", cheap=True)
async def session(folder: Path) -> AsyncIterator[Given]:
    async with server(modern=False) as made:
        made.answers["tools/list"] = says(reply(b"no such session", "404 Not Found", "text/plain"))
        yield url(made.url, "--era", "legacy")


@broken("redirect to another origin", "redirect", "redirect to .*elsewhere.example.*that URL", cheap=True)
async def redirect(folder: Path) -> AsyncIterator[Given]:
    async with server() as made:
        made.answers = all_as(
            reply(b"", "307 Temporary Redirect", "", location="https://elsewhere.example/mcp")
        )
        yield url(made.url)


def jwt(expires: float) -> str:
    part = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    return f"e30.{part}.c2ln"


@broken("token expired", "token", "expired .* ago.*new token", cheap=True)
async def token(folder: Path) -> AsyncIterator[Given]:
    challenge = 'Bearer error="invalid_token", error_description="The token expired"'
    async with server() as made:
        made.answers = all_as(reply(b"", "401 Unauthorized", "", www_authenticate=challenge))
        yield url(made.url, "--header", f"Authorization: Bearer {jwt(time.time() - 90_000)}")


@broken("insufficient scope", "scopes", "files:write required")
async def scope(folder: Path) -> AsyncIterator[Given]:
    challenge = 'Bearer error="insufficient_scope", scope="files:write"'
    async with server() as made:
        made.answers = all_as(reply(b"", "403 Forbidden", "", www_authenticate=challenge))
        yield url(made.url, "--header", "Authorization: Bearer abc")


@broken("stream that never opens", "stream", "never opens", cheap=True)
async def mute_stream(folder: Path) -> AsyncIterator[Given]:
    async def nothing(asked: Any, writer: asyncio.StreamWriter) -> None:
        if asked.headers.get("mcp-session-id"):
            await writer.wait_closed()
        writer.write(made.usual(asked))

    async with server(modern=False) as made:
        made.answers["GET"] = nothing
        yield url(made.url)


# ---- the table ---------------------------------------------------------------------------------------


def names_cause(found: dict[str, Any], one: SetUp) -> str:
    """Return the step, what was seen and what to do, if they name the cause; or ""."""
    for step in found["steps"]:
        said = f"{step['seen']} → {step['fix']}"
        if step["state"] != "ok" and step["name"] == one.step and re.search(one.named, said, re.IGNORECASE):
            return said
    return ""


async def examined(one: SetUp, folder: Path) -> tuple[int, bytes, bytes]:
    """Run doctor on a set-up, in a process; return the exit code and what it printed."""
    home, place = folder / "home", folder / "place"
    for each in (home, place):
        os.mkdir(each)
    async with one.make(place) as given:
        env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        process = await asyncio.create_subprocess_exec(
            *(PYTHON, "-m", "tui", "doctor", "--json", "--trust-config", *given.args),
            env={**env, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), **given.env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out, err


async def _table() -> None:
    known, chosen = (
        0,
        [one for one in SET_UPS if not sys.argv[1:] or any(w in one.name for w in sys.argv[1:])],
    )
    for one in chosen:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            returned, out, err = await examined(one, Path(folder))
        found = json.loads(out)
        said = names_cause(found, one)
        known += bool(said)
        took = time.monotonic() - began
        print(f"{'✓' if said else '✗'} {one.name:36} {one.step:13} {returned} {took:4.1f} s  {said}")
        for step in () if said and not err else found["steps"]:
            print(f"       {step} {err.decode()[-300:]}")
    print(f"{known} of {len(chosen)} named")


if __name__ == "__main__":
    asyncio.run(_table())
