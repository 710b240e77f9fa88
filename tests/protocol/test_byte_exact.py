"""The stored traffic of a server equals, byte for byte, that of a recorder between the pipes."""

import asyncio
import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.hosts import called, host_of
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerState
from tui.core.traffic import Direction, Entry, Kind
from tui.host.process.stop_ladder import StopGrace
from tui.host.transports import open_transport
from tui.runtime.recording import RunRecording
from tui.settings.schema import TrafficSettings
from tui.storage.recordings.reader import RecordingReader

pytestmark = pytest.mark.usefixtures("quick_python")

FAULTS = Path(__file__).parents[1] / "corpus" / "faults"
TEE = Path(__file__).with_name("reference_tee.py")
QUICK = StopGrace(flush=0.3, eof=1.0, term=0.5, kill=2.0, stragglers=0.2)
SMALL = {"FAULT_LINES": "2000", "FAULT_SECONDS": "0.2", "FAULT_MIB": "25", "FAULT_LISTS": "260000"}
"""Sizes just above the limits of the host, and a flood that ends within its call."""

NOISY = [
    ["banner_on_stdout", "noise_before_handshake", "nonjson_between_frames", "messages_among_text"],
    ["crlf", "no_newline", "two_on_a_line", "pretty_printed_json", "content_length", "batch_array"],
    ["invalid_utf8", "lone_surrogates", "duplicate_keys", "deep_json", "ansi_everywhere", "textual_markup"],
    ["duplicate_response", "wrong_id", "out_of_order", "result_and_error", "answers_without_result"],
    ["half_answer_then_exit", "half_line_then_silence", "exit_mid_call", "exit_at_once", "closes_stdin"],
    ["discover_dies", "discover_garbage", "slow_drip", "wide_result", "huge_line_64mib", "huge_notification"],
    ["stdout_flood", "progress_forever", "server_requests", "sampling_abuse", "list_changed_storm"],
]


class Store:
    """A real recording of a host whose servers run behind the reference."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.traffic = RunRecording(Redactor)
        specs = [
            ServerSpec(
                name,
                sys.executable,
                (str(TEE), str(folder), sys.executable, str(FAULTS / f"{name}.py")),
                SMALL,
                start_seconds=8.0 if name.startswith("noise") else 3.0,
            )
            for name in names
        ]
        quick = partial(open_transport, grace=QUICK)
        self.host = host_of(*specs, sink=self.traffic, open_with=quick)

    async def run(self) -> None:
        self.traffic.start(TrafficSettings(), self.folder)
        await self.host.start_all()
        running = [
            tool
            for tool in self.host.toolbox.tools()
            if self.host.status(tool.server).state is ServerState.RUNNING
        ]
        first = {tool.server: tool for tool in reversed(running)}
        await asyncio.gather(*(called(self.host, tool, 0.6) for tool in first.values()))
        await self.host.shutdown()
        assert await asyncio.to_thread(self.traffic._recorder.flush, 60)
        await asyncio.to_thread(self.traffic.close)

    def entries(self) -> Sequence[Entry]:
        with closing(RecordingReader(self.traffic.path)) as reader:
            return reader.whole(0, 10**9, 1 << 30)


def lives(entries: Sequence[Entry]) -> Iterator[tuple[str, int, list[Entry]]]:
    """Yield name, process id and entries of each started process."""
    for spawn in entries:
        if spawn.kind is Kind.EVENT and spawn.method == "spawn":
            later = [entry for entry in entries if entry.seq > spawn.seq and entry.source == spawn.source]
            end = next((entry.seq for entry in later if entry.method == "spawn"), 1 << 62)
            yield spawn.source, spawn.detail["pid"], [entry for entry in later if entry.seq < end]


def differences(stored: Sequence[Entry], reference: bytes, direction: Direction) -> list[str]:
    """Return the differences between stored lines and the bytes of the reference.

    Bytes written to a server that no longer read, and the last bytes of a killed server, may be missing
    at the end of one side.
    """
    lines = reference.split(b"\n")
    wrong = []
    columns = [
        entry
        for entry in stored
        if entry.direction is direction
        and entry.kind not in (Kind.EVENT, Kind.STDERR)
        and "batch" not in entry.detail
    ]
    for number, (entry, line) in enumerate(zip(columns, lines, strict=False)):
        cut = number >= min(len(columns), len(lines)) - 1 and (
            direction is Direction.OUT or entry.detail.get("newline") is False
        )
        if cut and len(line) < len(entry.body):
            if not entry.body.startswith(line):
                wrong.append(f"line {number}: {entry.body[:60]!r} instead of {line[:60]!r}")
        elif entry.size != len(line) and not cut:
            wrong.append(f"line {number}: {entry.size} bytes instead of {len(line)}")
        elif entry.body != line[: len(entry.body)] and not entry.redactions:
            wrong.append(f"line {number}: {entry.body[:60]!r} instead of {line[:60]!r}")
        elif entry.sha256 and entry.sha256 != hashlib.sha256(line[: entry.size]).hexdigest():
            wrong.append(f"line {number}: another hash")
        elif not entry.sha256 and len(entry.body) != entry.size and not entry.redactions:
            wrong.append(f"line {number}: only {len(entry.body)} of {entry.size} bytes")
    return wrong


@pytest.mark.parametrize("names", NOISY, ids=lambda names: names[0])
async def test_the_store_contains_exactly_the_bytes_of_the_reference(tmp_path, names):
    store = Store(tmp_path, names)
    await store.run()
    seen = 0
    for name, pid, entries in lives(store.entries()):
        for direction, suffix in ((Direction.OUT, "in"), (Direction.IN, "out")):
            reference = (tmp_path / f"{pid}.{suffix}").read_bytes()
            assert differences(entries, reference, direction) == [], (name, suffix)
            kept = sum(entry.direction is direction and "batch" not in entry.detail for entry in entries)
            unended = bool(reference) and not reference.endswith(b"\n")
            killed = any(entry.method == "signal" for entry in entries)
            if not killed and direction is Direction.IN:
                assert kept == reference.count(b"\n") + unended, (name, suffix)
        seen += 1
    assert seen >= len(names)
