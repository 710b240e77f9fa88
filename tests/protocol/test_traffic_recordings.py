"""`mcptui traffic` on many recordings at once, its times, and the linter over real traffic."""

import asyncio
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests import programs
from tests.hosts import called, running
from tests.protocol.command import mcptui
from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.traffic_samples import requests
from tui.commands.recordings import recordings
from tui.core.traffic import FIRST_NS, LAST_NS, Captured, Direction, Entry, Finding, Kind, Outcome
from tui.host.schemas.judge import ModelJudge
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader

SECOND = 1_000_000_000
HOUR = 3600 * SECOND


class Session:
    """A recording being written."""

    def __init__(self, began_ns: int) -> None:
        self._at = began_ns
        self.entries: list[Entry] = []

    def add(self, kind: Kind, took_ns: int = 0, **more: object) -> int:
        self._at += took_ns
        out = kind in (Kind.REQUEST, Kind.MODEL_REQUEST)
        direction = Direction.OUT if out else Direction.NONE if kind is Kind.EVENT else Direction.IN
        values = {"source": "weather", "direction": direction, "kind": kind, "mono_ns": self._at, **more}
        self.entries.append(Entry(len(self.entries) + 1, wall_ns=self._at, size=2, body=b"{}", **values))
        return len(self.entries)

    def call(self, tool: str, seconds: float, outcome: Outcome = Outcome.OK, **more: object) -> None:
        what = {"method": "tools/call", "tool": tool, **more}
        asked = self.add(Kind.REQUEST, ident=str(len(self.entries)), **what)
        self.add(Kind.RESPONSE, round(seconds * SECOND), pair=asked, outcome=outcome, **what)

    def keep(self, name: str, **meta: str) -> None:
        folder = recordings().folder
        folder.mkdir(parents=True, exist_ok=True)
        with closing(RecordingWriter(folder / f"{name}.mcptrace", meta=meta)) as writer:
            writer.write(self.entries)


@pytest.fixture
def hour() -> None:
    """Write recordings: one long ago, and in the last hour a session and a tap."""
    now = time.time_ns()
    old = Session(now - 3 * HOUR)
    old.call("ancient", 99, Outcome.ERROR)
    old.keep("1-old")
    session = Session(now - HOUR // 2)
    session.call("", 60, method="initialize")
    session.call("", 0.1, Outcome.ERROR, method="server/discover")
    session.call("", 50, method="resources/templates/list")
    asked = session.add(Kind.MODEL_REQUEST, source="model:demo", method="demo")
    session.add(Kind.MODEL_REPLY, 70 * SECOND, source="model:demo", pair=asked, outcome=Outcome.OK)
    session.add(Kind.REQUEST, method="subscriptions/listen", ident="90")
    session.call("quick", 1)
    session.call("slow", 5)
    session.call("forecast", 9, source="tap:other")
    session.add(Kind.REQUEST, method="tools/call", tool="crash", ident="91")
    session.add(Kind.EVENT, method="exit")
    session.keep("2-session")
    tap = Session(now - HOUR // 2)
    tap.call("forecast", 9, source="other")
    tap.keep("3-tap", tap="other")


def tools(out: str) -> list[tuple[str, str]]:
    return [(line.split()[0], line.split()[7]) for line in out.splitlines()]


async def test_one_command_shows_the_slowest_calls_of_the_last_hour(hour: None):
    done = await mcptui("traffic", "--since", "1h", "--slowest")
    assert tools(done.out) == [("3-tap", "forecast"), ("2-session", "slow"), ("2-session", "quick")]
    assert "not shown: 4 other requests (handshakes, lists, model requests and questions to you)." in done.err


async def test_one_command_shows_the_failed_calls_of_the_last_hour(hour: None):
    done = await mcptui("traffic", "--since", "1h", "--failed")
    assert tools(done.out) == [("2-session", "crash")]
    filtered = await mcptui("traffic", "--since", "1h", "--filter", "status:failed")
    assert tools(filtered.out) == [("2-session", "crash")]


@pytest.mark.parametrize(
    ("expression", "first"),
    [("method:*", "demo"), ("method:initialize", "initialize"), ("server:model:*", "demo")],
)
async def test_a_filter_by_method_includes_handshakes_and_lists(hour: None, expression: str, first: str):
    done = await mcptui("traffic", "--since", "1h", "--slowest", "1", "--filter", expression)
    assert first in done.out
    assert "omitted" not in done.err


async def test_all_recordings_are_read_oldest_first(hour: None):
    done = await mcptui("traffic", "--all", "--filter", "kind:request method:tools/call")
    assert [name for name, _ in tools(done.out)] == ["1-old", *["2-session"] * 3, "3-tap"]


async def test_each_object_names_its_recording(hour: None):
    rows = [
        json.loads(line) for line in (await mcptui("traffic", "--since", "1h", "--json")).out.splitlines()
    ]
    assert {row["recording"] for row in rows} == {"2-session", "3-tap"}
    assert not any(row["source"].startswith("tap:") for row in rows)


async def test_statistics_and_findings_name_their_recording(hour: None):
    head, *rows = (await mcptui("traffic", "--since", "1h", "--stats")).out.splitlines()
    assert head.split()[:2] == ["recording", "server"]
    assert {row.split()[0] for row in rows} == {"2-session", "3-tap"}
    *findings, last = (await mcptui("traffic", "--all", "--lint")).out.splitlines()
    assert {line.split()[0] for line in findings} == {"1-old", "2-session", "3-tap"}
    assert "findings in" in last


async def test_a_time_without_recordings_is_reported(hour: None):
    done = await mcptui("traffic", "--since", "1s")
    assert (done.code, done.out, done.err) == (0, "", "mcptui: 0 of 0 entries in 0 recordings\n")


async def test_an_unreadable_recording_does_not_hide_the_others(hour: None):
    (recordings().folder / "4-damaged.mcptrace").write_bytes(b"?" * 5000)
    done = await mcptui("traffic", "--since", "1h", "--slowest", "1")
    assert tools(done.out) == [("3-tap", "forecast")]
    assert "4-damaged" in done.err


async def test_an_unreadable_recording_does_not_shift_the_columns_of_the_list(hour: None):
    head = (await mcptui("traffic", "--list")).out.splitlines()[0]
    (recordings().folder / "4-damaged.mcptrace").write_bytes(b"?" * 5000)
    lines = (await mcptui("traffic", "--list")).out.splitlines()
    assert any(re.search("  unreadable +not a recording, or damaged", line) for line in lines)
    assert lines[0].split() == head.split() and not any("…" in line for line in lines)
    told = [json.loads(line) for line in (await mcptui("traffic", "--list", "--json")).out.splitlines()]
    assert any(
        one["problem"].endswith("If it was copied while in use, also copy its -wal file.") for one in told
    )


async def test_a_named_recording_can_be_read_from_a_given_time(hour: None):
    done = await mcptui("traffic", "1-old", "--since", "1h")
    assert (done.out, done.err) == ("", "mcptui: 0 of 2 entries\n")


async def test_a_replay_of_several_servers_selects_the_named_one(hour: None, tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text('[servers.other]\ncommand = "true"\n')
    done = await mcptui("traffic", "2-session", "--replay", "weather", "--config", str(config))
    assert "several servers" not in done.err
    assert "stdio server not found. Configured:" in done.err
    assert "several servers" in (await mcptui("traffic", "2-session", "--replay", "elsewhere")).err


def damage(table: str, pages: slice) -> None:
    """Write a recording with damaged pages."""
    path = recordings().folder / "5-damaged.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 500, 200 if table == "bodies" else 0))
    overwrite(path, *leaves(path, table)[pages])


async def test_the_readable_part_of_a_damaged_recording_is_printed(hour: None):
    damage("entries", slice(3, 4))
    done = await mcptui("traffic", "5-damaged")
    count = len(done.out.splitlines())
    assert [int(line.split()[0]) for line in done.out.splitlines()] == list(range(1, count + 1))
    assert 50 < count < 500
    assert f"the recording is damaged: only the entries up to {count} could be read" in done.err
    assert done.code == 2


@pytest.mark.parametrize("how", [["--json"], ["--export", "jsonl"], ["--export", "md"], ["--export", "html"]])
async def test_lost_bodies_are_reported_and_marked_in_place(hour: None, how: list[str]):
    damage("bodies", slice(-2, None))
    done = await mcptui("traffic", "5-damaged", *how)
    lost = done.out.count('"body_lost":true') or done.out.count(
        "body lost: this part of the recording is damaged"
    )
    assert 10 < lost < 100
    assert "the recording is damaged: part of it could not be read" in done.err
    assert done.code == 2


async def test_output_that_does_not_need_the_lost_bodies_is_complete(hour: None):
    damage("bodies", slice(-2, None))
    done = await mcptui("traffic", "5-damaged", "--stats")
    assert (done.err, done.code) == ("", 0)


async def test_the_list_shows_the_readable_properties_of_a_damaged_recording(hour: None):
    damage("entries", slice(-1, None))
    (line,) = [one for one in (await mcptui("traffic", "--list")).out.splitlines() if "5-damaged" in one]
    assert "damaged, mcptui" in line
    told = [json.loads(one) for one in (await mcptui("traffic", "--list", "--json")).out.splitlines()]
    (one,) = [one for one in told if one["name"] == "5-damaged"]
    assert one["of"] == "mcptui" and 50 < one["entries"] < 500
    assert one["began"].startswith("20")
    assert "could be read" in one["problem"]


async def test_a_truncated_recording_is_reported_and_read_with_the_others(hour: None):
    path = recordings().folder / "5-cut.mcptrace"
    now = time.time_ns()
    with closing(RecordingWriter(path)) as writer:
        writer.write([entry._replace(wall_ns=now) for entry in requests(1, 500)])
    with path.open("r+b") as file:
        file.truncate(file.seek(0, 2) * 2 // 3)
    done = await mcptui("traffic", "--since", "1h")
    assert sum("5-cut" in line for line in done.out.splitlines()) > 300
    assert "5-cut" in done.err
    assert "is truncated (" in done.err


@pytest.mark.parametrize(
    "more", [("--export", "jsonl"), ("--json",), ("--json", "--filter", "method:tools/*")]
)
async def test_the_available_part_of_a_live_recording_at_its_size_limit_is_read(
    tmp_path: Path, more: tuple[str, ...]
):
    path, full, stop = tmp_path / "live.mcptrace", threading.Event(), threading.Event()

    def record() -> None:
        with closing(RecordingWriter(path, cap_bytes=500_000)) as writer:
            last = 0
            while not stop.is_set():
                writer.write(requests(last + 1, 50, 300))
                last += 50
                if writer.gone:
                    full.set()
                    stop.wait(0.01)  # 5,000 a second: faster ones are dropped before they can be read

    thread = threading.Thread(target=record)
    thread.start()
    try:
        assert await asyncio.to_thread(full.wait, 30)
        done = await mcptui("traffic", str(path), *more)
    finally:
        stop.set()
        thread.join()
    seqs = [entry["seq"] for entry in done.objects if "seq" in entry]
    assert done.code == 0
    assert len(seqs) > 100 and seqs == sorted(set(seqs))


TIMES = {"1969": -5 * SECOND, "1901": -2_177_452_800 * SECOND, "first": FIRST_NS, "last": LAST_NS - SECOND}


def folder() -> Path:
    found = Path(os.environ["XDG_STATE_HOME"]) / "mcptui" / "recordings"
    found.mkdir(parents=True, exist_ok=True)
    return found


def recorded(name: str, wall_ns: int) -> Path:
    path = folder() / f"{name}.mcptrace"
    writer = RecordingWriter(path)
    call = Entry(1, 5, wall_ns, "s", Direction.OUT, Kind.REQUEST, "tools/call", "t", "1", 2, body=b"{}")
    end = call._replace(seq=2, mono_ns=SECOND, wall_ns=wall_ns + SECOND - 5, direction=Direction.IN)
    writer.write([call, end._replace(kind=Kind.RESPONSE, pair=1, outcome=Outcome.OK)])
    writer.close()
    assert not writer.problem
    return path


@pytest.mark.parametrize("wall_ns", TIMES.values(), ids=TIMES)
async def test_an_entry_of_any_time_is_read_and_exported(wall_ns: int, tmp_path: Path) -> None:
    path = recorded("odd", wall_ns)
    done = await mcptui("traffic", "odd", "--json")
    assert (done.code, done.err, done.objects[0]["wall_ns"]) == (0, "", wall_ns)
    exported = tmp_path / "odd.jsonl"
    await mcptui("traffic", str(path), "--export", "jsonl", "-o", str(exported))
    again = await mcptui("traffic", str(exported), "--json")
    assert (again.err, again.objects) == ("", done.objects)
    for form in ("md", "html", "har"):
        assert (await mcptui("traffic", "odd", "--export", form)).code == 0
    assert "1.0 s" in (await mcptui("traffic", "odd", "--slowest")).out


async def test_recordings_of_any_time_are_listed_and_filtered_by_time() -> None:
    for name, wall_ns in TIMES.items():
        recorded(name, wall_ns)
    RecordingWriter(folder() / "empty.mcptrace").close()
    rows = (await mcptui("traffic", "--list")).out.splitlines()[1:]
    assert [row.split()[0] for row in rows if row.split()[0] != "empty"] == ["last", "1969", "1901", "first"]
    assert "1969-12-31" in rows[1] or "1970-01-01" in rows[1]
    whole = await mcptui("traffic", "--all", "--json")
    assert {json.loads(line)["recording"] for line in whole.out.splitlines()} == set(TIMES)
    before = await mcptui("traffic", "1969", "--filter", "until:1971-01-01 since:1960-01-01")
    assert len(before.out.splitlines()) == 2
    assert (await mcptui("traffic", "1969", "--filter", "since:1971-01-01")).out == ""


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
    samples = [programs.server(name, SAMPLES / f"{name}.py") for name in ("weather", "notes")]
    seen: list[Captured] = []
    changing = programs.server("changing", CHANGING)
    async with running(*samples, changing, sink=seen.append) as host:
        for tool in host.toolbox.tools():
            known = {"location": "Rome", "query": "milk", "title": "a", "text": "b", "id": "c", "days": 2}
            needed = {name: known.get(name, "x") for name in tool.schema.get("required", [])}
            await called(host, tool, **needed)
        await host.restart("weather")
    assert len(seen) > 40
    assert await asyncio.to_thread(findings, seen, judge) == []


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("banner_on_stdout", "stray-output"),
        ("nonjson_between_frames", "not-json"),
        ("invalid_utf8", "invalid-utf8"),
        ("crlf", "line-ending"),
        ("pretty_printed_json", "embedded-newline"),
        ("batch_array", "batch"),
        ("lone_surrogates", "lone-surrogate"),
        ("duplicate_keys", "duplicate-key"),
        ("messages_among_text", "stray-output"),
        ("two_on_a_line", "stray-output"),
        ("content_length", "stray-output"),
        ("wrong_id", "unknown-id"),
        ("duplicate_response", "duplicate-answer"),
        ("result_and_error", "result-and-error"),
        ("answers_without_result", "neither"),
        ("jsonrpc_errors", "bad-error"),
        ("progress_forever", "progress-order"),
        ("bad_tool_names", "duplicate-tool"),
        ("tool_poisoning", "hidden-text"),
        ("schema_ref_cycle", "bad-schema"),
        ("schema_remote_ref", "bad-schema"),
        ("structured_violates_schema", "structured-content"),
        ("version_unknown", "unknown-revision"),
        ("server_requests", "not-negotiated"),
    ],
)
async def test_each_fault_of_a_server_has_its_finding(judge, fault: str, code: str):
    env = {"FAULT_ERA": "legacy", "FAULT_RATE": "50", "FAULT_SECONDS": "0.1"}
    spec = programs.server(fault, FAULTS / f"{fault}.py", env=env, start_seconds=2.0)
    seen: list[Captured] = []
    async with running(spec, sink=seen.append) as host:
        for tool in host.toolbox.tools()[:1]:
            await called(host, tool, seconds=1)
    assert code in {finding.code for finding in await asyncio.to_thread(findings, seen, judge)}
