"""Secrets of the configuration that a server repeats everywhere: no command writes or prints them."""

import asyncio
import base64
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.configurations import config_file, server, table
from tests.endpoint import Answer, Endpoint, Request, calls, chunk, says
from tests.http_server import Asked, http_server, reply
from tests.programs import ANSWERING
from tests.protocol.command import Done, mcptui, recordings
from tui.core.traffic import Kind
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.record.secret_texts import joined

LEAKY = Path(__file__).parents[1] / "unit" / "host" / "leaky_server.py"
SECRETS = {
    "env": "canary-env-7f3a9c-secret",
    "header": "canary-header-51bd08-secret",
    "argument": "canary-argument-c2e9f4-secret",
    "key": "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c",
}
MARK = "[redacted:servers.leaky.env.LEAKY_TOKEN]"


def leaked_in(text: str) -> list[str]:
    """Return the names of the secrets in a text, plain or in base64."""
    return [
        name
        for name, secret in SECRETS.items()
        if secret in text
        or base64.b64encode(secret.encode()).decode().rstrip("=") in text
        or base64.b64encode(f"ada:{secret}".encode()).decode()[8:-4] in text
    ]


def written() -> Iterator[tuple[str, list[str]]]:
    """Yield the files written by mcptui that contain a secret."""
    for path in Path(os.environ["HOME"]).rglob("*"):
        if path.is_file() and (found := leaked_in(path.read_bytes().decode("latin-1"))):
            yield str(path), found


def files_with(text: str) -> list[Path]:
    """Return the files in the state folder that contain `text`."""
    files = Path(os.environ["XDG_STATE_HOME"]).rglob("*")
    return [path for path in files if path.is_file() and text.encode() in path.read_bytes()]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    remote = {"url": "http://127.0.0.1:9/mcp", "autostart": False, "headers": {"X-Tenant": SECRETS["header"]}}
    env = {"LEAKY_TOKEN": SECRETS["env"]}
    leaky = server("leaky", LEAKY, "--token", SECRETS["argument"], env=env)
    return Path(config_file(tmp_path, leaky, table("servers.remote", **remote)))


def add_model(config: Path, endpoint: Endpoint, server: str = "") -> None:
    model = f'base_url = "{endpoint.base_url}"\nmodel = "m"\napi_key = "{SECRETS["key"]}"'
    servers = config.read_text("utf-8").replace("[servers.leaky]\n", f"[servers.leaky]\n{server}")
    config.write_text(f"{servers}[models.m]\n{model}\n", "utf-8")


OTHERS = (
    *("config show", "config check", "decisions"),
    *("sessions show last", "sessions list", "sessions search it"),
    *("traffic", "traffic --json", "traffic --stats"),
    *("traffic --lint", "traffic --list", "traffic --slowest"),
)
"""Commands that print what is saved."""


async def command(config: Path, *args: str) -> Done:
    done = await mcptui("--config", str(config), *args)
    assert done.code != 2, done.err  # of a command line that is not valid
    assert leaked_in(done.out + done.err) == [], args
    return done


@pytest.mark.parametrize(
    "args",
    [
        ("call", "leaky", "leak"),
        ("call", "leaky", "leak", "--json"),
        ("call", "leaky", "leak", "text=fail"),
        ("call", "leaky", "leak", "--verbose"),
        ("prompt", "leaky", "p", "a=b", "--json"),
        ("prompt", "leaky", "p", "a=b"),
        ("list", "leaky"),
        ("list", "leaky", "--json"),
        ("servers",),
        ("servers", "--json"),
    ],
    ids=" ".join,
)
async def test_no_command_prints_a_secret_that_a_server_returns(config: Path, args: tuple[str, ...]):
    done = await command(config, *args)
    assert args[0] == "servers" or MARK in done.out + done.err
    assert list(written()) == []


async def test_a_secret_in_a_listed_resource_uri_is_redacted(config: Path):
    listed = await command(config, "list", "leaky", "resources", "--json")
    assert f"leak://{MARK}/notes" in listed.out


async def test_a_turn_leaves_no_secret_in_output_requests_or_files(config: Path):
    def reply(request: Request) -> object:
        if len(endpoint.requests) == 1:
            return calls(("leaky__leak", {"text": "a"}))
        return says(request.json["messages"][-1]["content"])

    async with Endpoint([reply]) as endpoint:
        add_model(config, endpoint)
        done = await command(config, "run", "--json", "--session", "s", "--approve", "all", "leak it")
        again = await command(config, "run", "--session", "s", "--approve", "all", "what was it?")
        sent = b"".join(request.body for request in endpoint.requests).decode()
    assert done.code == again.code == 0, done.err
    assert leaked_in(sent) == [] and f"it is {MARK}" in sent
    assert f"it is {MARK}" in done.out
    assert recordings()
    for recording in recordings():
        for kind in ("jsonl", "md", "har", "html"):
            await command(config, "traffic", str(recording), "--export", kind)
            await command(config, "traffic", str(recording), "--export", kind, "--redact")
    for kind in ("json", "html", "markdown"):
        for more in ((), ("--redact",)):
            await command(config, "sessions", "export", "last", "--as", kind, *more)
    for words in OTHERS:
        await command(config, *words.split())
    assert list(written()) == []


async def test_secrets_that_the_model_may_get_are_shown_nowhere_else(config: Path):
    env = SECRETS["env"]
    replies = [
        calls(("leaky__leak", {"text": "a"})),
        calls(("leaky__leak", {"text": env})),
        Answer([*(chunk(content=char) for char in f"The token is {env}."), chunk("stop")]),
    ]
    async with Endpoint(replies) as endpoint:
        add_model(config, endpoint, server="send_as_is = true\n")
        words = ("run", "--json", "--session", "s", "--approve", "all", "--config", str(config))
        done = await mcptui(*words, "leak it")
        sent = [request.body.decode() for request in endpoint.requests]
    assert done.code == 0, done.err
    assert f"it is {env}; told False" in sent[1] and f"it is {env}; told True" in sent[2]
    assert leaked_in(done.out + done.err) == []
    assert f"it is {MARK}; told True" in done.out and f"The token is {MARK}." in done.out
    assert list(written()) == []
    with closing(RecordingReader(recordings()[-1])) as reader:
        replies = [
            reader.body(entry.seq) for entry in reader.columns(0, 1000) if entry.kind == Kind.MODEL_REPLY
        ]
    assert joined(replies[-1])["text"] == f"The token is {MARK}."
    assert leaked_in(joined(replies[1])["tool_calls"][0]["arguments"]) == []


async def test_headers_returned_by_a_remote_server_are_shown_nowhere(tmp_path: Path):
    async def echo(asked: Asked, writer: asyncio.StreamWriter) -> None:
        said = f"{asked.headers['authorization']} for {asked.headers['x-tenant']}"
        if asked.message["params"]["arguments"]:
            writer.write(reply(said.encode(), "500 Internal Server Error", "text/plain", x_said=said))
            return
        result = {"resultType": "complete", "content": [{"type": "text", "text": said}]}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}, x_said=said))

    async with http_server(answers={"tools/call": echo}) as server:
        path = tmp_path / "remote.toml"
        lines = (
            f'[servers.far]\nurl = "{server.url}?api_key={SECRETS["argument"]}"',
            "[servers.far.headers]",
            f'Authorization = "Bearer {SECRETS["key"]}"',
            f'X-Tenant = "{SECRETS["header"]}"',
        )
        await asyncio.to_thread(path.write_text, "\n".join(lines), "utf-8")
        for words in ((), ("--json",), ("--verbose",)):
            done = await command(path, "call", "far", "echo", *words)
            assert done.code == 0 and done.out.count("[redacted:") >= 2
        failed = await command(path, "call", "far", "echo", "text=fail")
        assert failed.code != 0
        shown = await command(path, "servers")
        assert "[redacted:" in shown.out
        assert server.asked[-1].headers["authorization"] == f"Bearer {SECRETS['key']}"
    assert recordings()
    for recording in recordings():
        for kind in ("jsonl", "md", "har", "html"):
            await command(path, "traffic", str(recording), "--export", kind)
    assert list(written()) == []


PRIVATE_KEY = """-----BEGIN PRIVATE KEY-----
MIIBcanaryAAAABBBBCCCCDDDD
EEEEcanaryFFFFGGGGHHHH
-----END PRIVATE KEY-----"""

PRINTS_LINES = (
    ANSWERING
    + """
print(os.environ["SERVER_PEM"], file=sys.stderr, flush=True)
print(os.environ["SERVER_PEM"], *sys.argv[1:], sep="\\n", flush=True)
said = " ".join([os.environ["SERVER_PEM"].splitlines()[1], *sys.argv[1:]])
serve(tools=[{"name": "t", "description": said, "inputSchema": {"type": "object"}}])
"""
)


async def test_a_private_key_and_arguments_printed_line_by_line_are_redacted(tmp_path: Path):
    arguments = [
        "--gh=ghp_canary7f3a9c5e6f7a8b9c0d1e2f3a4b5c6d7e8",
        "--header=X-Api-Key: canary-header-51bd08",
        "-u",
        "ada:canary-user-c2e9f4",
        "https://h/x?a=1&sig=canary0user0c2e9f4",
    ]
    script, path = tmp_path / "prints.py", tmp_path / "lines.toml"
    lines = (
        "[servers.lines]",
        f"command = {json.dumps(sys.executable)}",
        f"args = {json.dumps([str(script), *arguments])}",
        f"env = {{ SERVER_PEM = {json.dumps(PRIVATE_KEY)} }}",
    )
    await asyncio.to_thread(script.write_text, PRINTS_LINES, "utf-8")
    await asyncio.to_thread(path.write_text, "\n".join(lines), "utf-8")
    outputs = [
        await mcptui(*words, "--config", str(path))
        for words in (("list", "lines"), ("call", "lines", "t"), ("servers",), ("traffic",))
    ]
    assert "[redacted:servers.lines.env.SERVER_PEM]" in outputs[-1].out
    for text in (one.out + one.err for one in outputs):
        assert "canary" not in text
    assert files_with("redacted:servers.lines.env.SERVER_PEM") != []
    assert files_with("canary") == []


@pytest.mark.parametrize("key", ["sk-envkeycanary-1234567890", "sk-live-Zk38Qm1xVt-canarykey1"])
async def test_a_key_that_does_not_look_random_is_redacted_too(config: Path, key: str):
    async with Endpoint([says(f"You sent {key}.")]) as endpoint:
        model = f'[models.m]\nmodel = "m"\nbase_url = "{endpoint.base_url}"\napi_key = "{key}"\n'
        await asyncio.to_thread(config.write_text, model, "utf-8")
        done = await mcptui("run", "--json", "--session", "s", "--config", str(config), "what did I send?")
    assert done.code == 0, done.err
    assert "You sent [redacted:" in done.out and key not in done.out + done.err
    assert files_with(key) == []
