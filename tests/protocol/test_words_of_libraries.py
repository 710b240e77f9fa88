"""No words of a library, and a proxy that is dead or misspelled is named."""

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest

from tests.endpoint import port_that_says
from tests.protocol.command import Done, mcptui

FOREIGN = re.compile(
    r"Errno|Expecting|Unterminated string|Extra data|Error -\d|incorrect header|Field required|Input should"
    r"|validation error|_ssl\.c|WRONG_VERSION|codec can't|illegal (?:header|status)|chunked read|Traceback"
    r"|pydantic|httpx|h11|attempts failed|Connect call|bytearray|File is not a zip|\(char \d"
    r"|No closing quotation|at end of document|Invalid statement|is not a database"
    r"|disk image|Name or service|Server disconnected"
)


def told(done: Done) -> str:
    """Return what a failed command printed, and check that it is ours."""
    text = done.out + done.err
    assert not FOREIGN.search(text), text
    return text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.toml", b"[servers\n", "] is missing after the name of a table"),
        ("config.toml", b"[servers]\nx", "= is missing after a key at the end of the file"),
        ("mcp.json", b'{"mcpServers": }', "a value is missing at column 16"),
        ("mcp.json", b'{"mcpServers": {"a": {"command": "x}}', "a string is not closed"),
        ("config.toml", b"\xff\xfe[\x00", "is UTF-16 text, not UTF-8. Save it as UTF-8"),
    ],
)
async def test_a_configuration(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert said in told(await mcptui("config", "check", "--config", str(path)))


@pytest.mark.parametrize(
    ("words", "content", "said"),
    [
        (
            ("run", "--demo", "--schema", "FILE", "hi"),
            b'{"type": }',
            "a value is missing at line 1, column 10",
        ),
        (
            ("run", "--demo", "--schema", "FILE", "hi"),
            b'{"a": "\xff"}',
            "is not UTF-8 text: byte 0xff in line 1",
        ),
        (
            ("call", "weather", "get_weather", "--args", "@FILE"),
            b"\xff",
            "it is not UTF-8 text: byte 0xff in line 1",
        ),
        (("call", "weather", "get_weather", "--args", "@FILE"), b'{"a" 1}', "a colon is missing"),
        (
            ("call", "weather", "get_weather", "--elicit", "@FILE"),
            b"{'a'}",
            "a name in double quotes is missing",
        ),
        (("add", "FILE"), b"no zip at all", "it is not a zip file"),
        (("traffic", "FILE"), b"no recording" * 100, ""),
        (("sessions", "import", "FILE"), b'{"format": ', "a value is missing"),
    ],
)
async def test_a_file(tmp_path: Path, words: tuple[str, ...], content: bytes, said: str) -> None:
    path = tmp_path / ("x.mcpb" if words[0] == "add" else "x.mcptrace" if words[0] == "traffic" else "x.json")
    path.write_bytes(content)
    assert said in told(await mcptui(*(word.replace("FILE", str(path)) for word in words)))


async def test_a_bundle_with_damaged_contents(tmp_path: Path) -> None:
    path = tmp_path / "x.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("manifest.json", json.dumps({"name": "x" * 200}))
    raw = bytearray(path.read_bytes())
    raw[45:55] = b"\xff" * 10
    path.write_bytes(raw)
    told(await mcptui("add", str(path)))


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
REPLIES = pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ("http", b"hello\r\n\r\n"),
        ("http", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n"),
        ("http", b""),
        ("http", HEAD + b"content-length: 100\r\n\r\n{"),
        ("http", HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{"),
        ("http", HEAD + b"content-encoding: gzip\r\ncontent-length: 4\r\n\r\nxxxx"),
        ("http", HEAD + b"content-length: 9\r\n\r\n{} {} \xff{}"),
        ("https", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    ],
    ids=["no-http", "header", "nothing", "short", "cut-chunk", "no-gzip", "no-json", "no-tls"],
)


@REPLIES
async def test_a_server_over_http(tmp_path: Path, scheme: str, said: bytes) -> None:
    async with port_that_says(said) as port:
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"far": {"url": f"{scheme}://127.0.0.1:{port}/mcp"}}}))
        assert "far" in told(await mcptui("servers", "--config", str(path)))


@REPLIES
async def test_an_endpoint(tmp_path: Path, scheme: str, said: bytes) -> None:
    async with port_that_says(said) as port:
        path = tmp_path / "config.toml"
        url = f"{scheme}://127.0.0.1:{port}/v1"
        path.write_text(f'[models.far]\nbase_url = "{url}"\nmodel = "m"\n[servers]\n')
        assert "127.0.0.1" in told(await mcptui("run", "--config", str(path), "hi"))


@REPLIES
async def test_a_registry(scheme: str, said: bytes) -> None:
    async with port_that_says(said) as port:
        told(await mcptui("search", "--registry", f"{scheme}://127.0.0.1:{port}", "weather"))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/mcp", "http://no-such-host.invalid/mcp"])
async def test_a_server_that_cannot_be_reached(tmp_path: Path, url: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"far": {"url": url}}}))
    text = told(await mcptui("servers", "--config", str(path)))
    assert "Connection refused" in text or "the host name cannot be resolved" in text


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"protocolVersion": 5},
        {"protocolVersion": "2025-11-25", "capabilities": [], "serverInfo": {}},
        [],
        5,
    ],
)
async def test_a_server_with_an_invalid_handshake(tmp_path: Path, result: object) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n    if 'id' in asked:\n"
        f"        print(json.dumps(dict(jsonrpc='2.0', id=asked['id'], result={result!r})), flush=True)\n"
    )
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"odd": {"command": sys.executable, "args": [str(server)]}}}))
    assert "odd" in told(await mcptui("servers", "--config", str(path)))


DEAD = {"HTTP_PROXY": "http://ada:s3cret@127.0.0.1:9"}
WRONG = {"HTTP_PROXY": "http://ada:s3cret@127.0.0.1:99999"}
SCHEME = {"ALL_PROXY": "gopher://ada:s3cret@127.0.0.1:1080"}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


SAID = pytest.mark.parametrize(
    ("env", "said", "step"),
    [
        (
            DEAD,
            "cannot connect to the proxy http://127.0.0.1:9 (HTTP_PROXY): Connection refused",
            "Check HTTP_PROXY",
        ),
        (
            WRONG,
            "HTTP_PROXY is not the URL of a proxy: http://127.0.0.1:99999",
            "Correct HTTP_PROXY, or unset it.",
        ),
        (
            SCHEME,
            "ALL_PROXY names a proxy with an unsupported scheme: gopher://127.0.0.1:1080",
            "Correct ALL_PROXY",
        ),
    ],
    ids=["dead", "wrong", "scheme"],
)


@SAID
async def test_for_a_server(tmp_path: Path, env: dict[str, str], said: str, step: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"far": {"url": "http://mcp.example.test/mcp"}}}))
    done = await mcptui("servers", "--config", str(path), **env)
    assert done.code == 5 and said in done.out and step in done.out
    assert "s3cret" not in done.out + done.err


@SAID
async def test_for_a_model(tmp_path: Path, env: dict[str, str], said: str, step: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[models.far]\nbase_url = "http://api.example.test/v1"\nmodel = "m"\n[servers]\n')
    done = await mcptui("run", "--config", str(path), "hi", **env)
    assert done.code == 4 and said in done.err and step in done.err
    assert "s3cret" not in done.out + done.err


@SAID
async def test_for_the_registry(env: dict[str, str], said: str, step: str) -> None:
    done = await mcptui("search", "--registry", "http://registry.example.test", "weather", **env)
    assert done.code != 0 and said in done.err and step in done.err
    assert "s3cret" not in done.out + done.err
