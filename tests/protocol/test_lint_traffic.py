"""The linter over real traffic: no findings for good servers, the right one for each faulty server."""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec
from tui.core.traffic import Captured, Direction, Finding
from tui.host.host import Host
from tui.host.schemas.judge import ModelJudge
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_config" / "servers"
FAULTS = ROOT / "tests" / "corpus" / "faults"
CHANGING = Path(__file__).with_name("changing_server.py")


@pytest.fixture
def judge() -> Iterator[ModelJudge]:
    made = ModelJudge()
    yield made
    made.close()


def findings(captured: Sequence[Captured], judge: ModelJudge) -> list[Finding]:
    reader, linter, entries = EntryReader(lambda raw: (raw, ()), 256 * 1024), Linter(judge), []
    for item in captured:
        reader.read(item, entries)
    return [finding for entry in entries for finding in linter.feed(entry)]


async def test_correct_servers_and_mcptui_itself_have_no_findings(judge):
    seen: list[Captured] = []
    host = Host(
        [
            ServerSpec("weather", sys.executable, (str(SAMPLES / "weather.py"),)),
            ServerSpec("notes", sys.executable, (str(SAMPLES / "notes.py"),)),
            programs.server("changing", CHANGING),
        ],
        sink=seen.append,
        clock=MonotonicClock(),
    )
    await host.start_all()
    for tool in host.toolbox.tools():
        known = {"location": "Rome", "query": "milk", "title": "a", "text": "b", "id": "c", "days": 2}
        needed = {name: known.get(name, "x") for name in tool.schema.get("required", [])}
        await host.toolbox.call(tool, needed, seconds=10, progress=lambda *_: None)
    await host.restart("weather")
    await host.shutdown()
    assert len(seen) > 40
    assert await asyncio.to_thread(findings, seen, judge) == []


class Conversation:
    """A minimal client: one request after the other, with each line of the server recorded."""

    def __init__(self, fault: str, era: str) -> None:
        environment = {"PATH": "/usr/bin:/bin", "FAULT_ERA": era, "FAULT_RATE": "50", "FAULT_SECONDS": "0.1"}
        self.seen: list[Captured] = []
        self._server = subprocess.Popen(
            [sys.executable, str(FAULTS / f"{fault}.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def say(self, message: dict[str, Any]) -> None:
        raw = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._note(Direction.OUT, raw)
        assert self._server.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.write(raw + b"\n")
            self._server.stdin.flush()

    def hear(self, lines: int) -> None:
        assert self._server.stdout is not None
        for _ in range(lines):
            line = self._server.stdout.readline()
            if not line:
                return
            self._note(Direction.IN, line.rstrip(b"\n"))

    def close(self) -> None:
        self._server.kill()
        self._server.communicate()

    def _note(self, direction: Direction, raw: bytes) -> None:
        self.seen.append(Captured("faulty", direction, time.monotonic_ns(), time.time_ns(), raw))


def conversation(fault: str, lines: Sequence[int]) -> list[Captured]:
    """Do the handshake, list the tools and call one. `lines` is the number of lines of each answer."""
    talk = Conversation(fault, "legacy")
    try:
        client = {"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        opening = {"protocolVersion": "2025-11-25", **client}
        talk.say({"id": 1, "method": "initialize", "params": opening})
        talk.hear(lines[0])
        talk.say({"method": "notifications/initialized"})
        talk.say({"id": 2, "method": "tools/list"})
        if len(lines) > 1:
            talk.hear(lines[1])
        if len(lines) > 2:
            tool = {"name": "count" if fault == "structured_violates_schema" else "echo", "arguments": {}}
            talk.say({"id": 3, "method": "tools/call", "params": tool})
            talk.hear(lines[2])
    finally:
        talk.close()
    return talk.seen


@pytest.mark.parametrize(
    ("fault", "lines", "code"),
    [
        ("banner_on_stdout", (6, 1, 1), "stray-output"),
        ("nonjson_between_frames", (4, 4), "not-json"),
        ("invalid_utf8", (1, 1, 2), "invalid-utf8"),
        ("crlf", (1, 1, 1), "line-ending"),
        ("pretty_printed_json", (12,), "embedded-newline"),
        ("batch_array", (1, 1, 1), "batch"),
        ("lone_surrogates", (1, 1, 1), "lone-surrogate"),
        ("duplicate_keys", (1, 1, 1), "duplicate-key"),
        ("messages_among_text", (1, 1, 1), "stray-output"),
        ("two_on_a_line", (1, 1, 1), "stray-output"),
        ("content_length", (2,), "stray-output"),
        ("wrong_id", (1, 1, 1), "unknown-id"),
        ("duplicate_response", (1, 1, 2), "duplicate-answer"),
        ("result_and_error", (1, 1, 1), "result-and-error"),
        ("answers_without_result", (1, 1, 1), "neither"),
        ("jsonrpc_errors", (1, 1, 1), "bad-error"),
        ("progress_forever", (1, 1, 3), "progress-token"),
        ("bad_tool_names", (1, 1), "duplicate-tool"),
        ("tool_poisoning", (1, 1), "hidden-text"),
        ("schema_ref_cycle", (1, 1), "bad-schema"),
        ("schema_remote_ref", (1, 1), "bad-schema"),
        ("structured_violates_schema", (1, 1, 1), "structured-content"),
        ("version_unknown", (1,), "unknown-revision"),
        ("server_requests", (1, 1, 1), "not-negotiated"),
    ],
)
def test_each_fault_of_a_server_has_its_finding(judge, fault: str, lines: tuple[int, ...], code: str):
    assert code in [finding.code for finding in findings(conversation(fault, lines), judge)]
