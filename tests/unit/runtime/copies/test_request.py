"""A request of a recording, ready to be copied."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tui.core.errors import UsageError
from tui.core.secrets.redact import Redactor
from tui.core.servers import Reference, ServerSpec, Transport
from tui.core.traffic import Captured, Direction, Entry, Kind, TrafficReader
from tui.runtime.copies.origin import Origin
from tui.runtime.copies.request import MOST_BYTES, config_options, copied_server, model_request, request_at
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.copies.ways import copied, ways
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.recorder import Recorder

OUT, IN, NONE = Direction.OUT, Direction.IN, Direction.NONE
CALL = {"name": "t", "arguments": {"a": 1}}
SPAWN = {"event": "spawn", "argv": ["python", "server.py"], "cwd": "/w", "env": ["TOKEN_NAME"]}
CONNECT = {"event": "connect", "url": "https://x/mcp", "transport": "http"}


def recorded(
    path: Path, *sent: tuple[Direction, Kind | None, dict[str, Any], dict[str, Any]], source: str = "s"
) -> None:
    recorder = Recorder(lambda: RecordingWriter(path), EntryColumns(), redact=Redactor().redact_bytes)
    recorder.start()
    for at, (way, kind, body, detail) in enumerate(sent, 1):
        text = json.dumps(body if kind is Kind.EVENT else {"jsonrpc": "2.0", **body}).encode()
        recorder.capture(Captured(source, way, at, at, text, kind, detail=detail))
    recorder.close()


@pytest.fixture
def stdio(tmp_path: Path) -> Iterator[TrafficReader]:
    file = tmp_path / "a.mcptrace"
    recorded(
        file,
        (NONE, Kind.EVENT, SPAWN, SPAWN),
        (OUT, None, {"id": 1, "method": "tools/call", "params": CALL}, {}),
        (IN, None, {"id": 1, "result": {"content": []}}, {}),
        (IN, None, {"id": 5, "method": "ping"}, {}),
    )
    with closing(RecordingReader(file)) as reader:
        yield reader


def test_a_request_has_the_launch_of_its_server(stdio: TrafficReader) -> None:
    found = request_at(stdio, 2)
    assert (found.method, found.subject, found.arguments) == ("tools/call", "t", {"a": 1})
    assert found.server.command == ("python", "server.py")
    assert found.server.cwd == "/w"
    assert "It starts a command of the recording: python server.py" in copied("mcptui", found).remark
    assert found.server.env == {"TOKEN_NAME": "${TOKEN_NAME}"}


def test_a_response_leads_to_its_request(stdio: TrafficReader) -> None:
    assert request_at(stdio, 3, failed=True).subject == "t"
    assert request_at(stdio, 3, failed=True).is_unchecked


@pytest.mark.parametrize("seq", [1, 4, 99])
def test_what_is_no_request_of_ours_is_not_copied(stdio: TrafficReader, seq: int) -> None:
    with pytest.raises(UsageError, match="Only requests"):
        request_at(stdio, seq)


def test_a_request_over_http_has_its_revision_and_headers(tmp_path: Path) -> None:
    file = tmp_path / "a.mcptrace"
    sent = [["MCP-Protocol-Version", "2026-07-28"], ["Mcp-Param-City", "Oslo"], ["X-Own", "1"]]
    detail = {"url": "https://x/mcp", "headers": sent}
    recorded(
        file,
        (NONE, Kind.EVENT, CONNECT, CONNECT),
        (OUT, None, {"id": 1, "method": "tools/call", "params": CALL}, detail),
    )
    with closing(RecordingReader(file)) as reader:
        found = request_at(reader, 2)
    assert found.server.revision == "2026-07-28"
    assert (found.headers, found.server.headers) == ({"mcp-param-city": "Oslo"}, {"X-Own": "1"})
    assert "curl" in ways(found)


def test_a_server_that_fell_back_to_http_and_sse_is_reached_so_with_its_sign_in(tmp_path: Path) -> None:
    file = tmp_path / "a.mcptrace"
    detail = {"url": "https://x/messages", "headers": [["Authorization", "Bearer [redacted:token]"]]}
    endpoint = {"event": "endpoint"}
    recorded(
        file,
        (NONE, Kind.EVENT, CONNECT, CONNECT),
        (NONE, Kind.EVENT, endpoint, endpoint),
        (OUT, None, {"id": 1, "method": "tools/call", "params": CALL}, detail),
    )
    with closing(RecordingReader(file)) as reader:
        found = request_at(reader, 3)
    assert found.server.transport == "sse"
    assert found.server.all_headers == {"Authorization": "${S_AUTHORIZATION}"}


def test_a_configured_server_that_signed_in_is_sent_a_token() -> None:
    spec = ServerSpec("notes", url="https://x/mcp", transport=Transport.HTTP)
    server = copied_server(Origin.of_spec(spec, "/w", configured=True), str, signs_in=True)
    assert server.all_headers == {"Authorization": "Bearer ${NOTES_TOKEN}"}


def test_a_secret_in_the_command_becomes_a_variable() -> None:
    spec = ServerSpec("notes", "run", ("--token=abcdefgh12345678", "--api-key", "k-1234567890", "x"))
    server = copied_server(Origin.of_spec(spec, "/w", configured=False), str)
    assert server.command[0] == "run" and server.command[-1] == "x"
    assert all("1234" not in word for word in server.command)
    assert server.command[1].startswith("--token=${NOTES_")


def test_the_content_of_a_file_becomes_a_variable() -> None:
    references = {"env.A": Reference("${file:/run/secret}", ("file:/run/secret",))}
    spec = ServerSpec("notes", "run", env={"A": "x"}, references=references)
    server = copied_server(Origin.of_spec(spec, "/w", configured=False), str)
    assert server.env == {"A": "${NOTES_A}"}


def test_a_redacted_argument_stays_redacted(tmp_path: Path) -> None:
    file = tmp_path / "a.mcptrace"
    key = "sk-" + "a1B2c3D4" * 5
    params = {"name": "t", "arguments": {"text": f"with {key}"}}
    recorded(
        file,
        (NONE, Kind.EVENT, SPAWN, SPAWN),
        (OUT, None, {"id": 1, "method": "tools/call", "params": params}, {}),
    )
    with closing(RecordingReader(file)) as reader:
        copy = copied("mcptui", request_at(reader, 2))
    assert key not in copy.text


def test_a_request_to_a_model_is_copied_without_its_key() -> None:
    headers = [["authorization", "Bearer [redacted:OPENAI_API_KEY]"], ["user-agent", "x"], ["x-title", "t"]]
    entry = Entry(
        1, 0, 0, "model:m", OUT, Kind.MODEL_REQUEST, detail={"url": "https://m/v1", "headers": headers}
    )
    text = model_request(entry, b'{"model": "it\'s"}')
    assert text.startswith("curl -sSgN https://m/v1") and "user-agent" not in text
    assert "-H 'authorization: Bearer '\"${API_KEY:?}\"" in text and "x-title: t" in text
    assert text.endswith("""--data-raw '{"model": "it'"'"'s"}'""")


def test_a_command_uses_the_configuration_of_the_run_and_trusts_it_as_much() -> None:
    options = SimpleNamespace(config="/c.toml", trust_config=True)
    assert config_options(cast(Any, SimpleNamespace(options=options))) == (
        "--config",
        "/c.toml",
        "--trust-config",
    )
    assert config_options(None) == ()


def test_a_request_larger_than_the_clipboard_takes_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a.mcptrace"
    large = {"name": "t", "arguments": {"text": "x" * MOST_BYTES}}
    recorded(
        file,
        (NONE, Kind.EVENT, SPAWN, SPAWN),
        (OUT, None, {"id": 1, "method": "tools/call", "params": large}, {}),
    )
    with closing(RecordingReader(file)) as reader, pytest.raises(UsageError, match="larger than 1 MB"):
        request_at(reader, 2)
