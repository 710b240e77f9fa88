"""`mcptui traffic` on many recordings at once: questions about the last hour."""

import asyncio
import json
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.protocol.command import mcptui
from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.traffic_samples import requests
from tui.commands.recordings import recordings
from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.storage.recordings.writer import RecordingWriter

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
    assert "3 handshake or list requests, 1 model request" in done.err


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
    assert (done.code, done.out, done.err) == (0, "", "mcptui traffic: 0 of 0 entries in 0 recordings\n")


async def test_an_unreadable_recording_does_not_hide_the_others(hour: None):
    (recordings().folder / "4-damaged.mcptrace").write_bytes(b"?" * 5000)
    done = await mcptui("traffic", "--since", "1h", "--slowest", "1")
    assert tools(done.out) == [("3-tap", "forecast")]
    assert "4-damaged" in done.err


async def test_an_unreadable_recording_does_not_shift_the_columns_of_the_list(hour: None):
    before = max(map(len, (await mcptui("traffic", "--list")).out.splitlines()))
    (recordings().folder / "4-damaged.mcptrace").write_bytes(b"?" * 5000)
    lines = (await mcptui("traffic", "--list")).out.splitlines()
    assert any(line.endswith("not a recording, or damaged (it is not …") for line in lines)
    assert max(map(len, lines)) < before + 40
    told = [json.loads(line) for line in (await mcptui("traffic", "--list", "--json")).out.splitlines()]
    assert any(
        one["problem"].endswith("If it was copied while in use, also copy its -wal file.") for one in told
    )


async def test_a_named_recording_can_be_read_from_a_given_time(hour: None):
    done = await mcptui("traffic", "1-old", "--since", "1h")
    assert (done.out, done.err) == ("", "mcptui traffic: 0 of 2 entries\n")


async def test_a_replay_of_several_servers_selects_the_named_one(hour: None, tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text('[servers.other]\ncommand = "true"\n')
    done = await mcptui("traffic", "2-session", "--replay", "weather", "--config", str(config))
    assert "several servers" not in done.err
    assert "stdio server not found. Configured:" in done.err
    assert "several servers" in (await mcptui("traffic", "2-session", "--replay", "elsewhere")).err


async def test_the_readable_part_of_a_damaged_recording_is_printed(hour: None):
    path = recordings().folder / "5-damaged.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 500))
    overwrite(path, leaves(path, "entries")[3])
    done = await mcptui("traffic", "5-damaged")
    count = len(done.out.splitlines())
    assert [int(line.split()[0]) for line in done.out.splitlines()] == list(range(1, count + 1))
    assert 50 < count < 500
    assert f"the recording is damaged: only the entries up to {count} could be read" in done.err
    assert done.code == 2


@pytest.mark.parametrize("how", [["--json"], ["--export", "jsonl"], ["--export", "md"], ["--export", "html"]])
async def test_lost_bodies_are_reported_and_marked_in_place(hour: None, how: list[str]):
    path = recordings().folder / "5-damaged.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 500, 200))
    overwrite(path, *leaves(path, "bodies")[-2:])
    done = await mcptui("traffic", "5-damaged", *how)
    lost = done.out.count('"body_lost":true') or done.out.count(
        "body lost: this part of the recording is damaged"
    )
    assert 10 < lost < 100
    assert "the recording is damaged: part of it could not be read" in done.err
    assert done.code == 2


async def test_output_that_does_not_need_the_lost_bodies_is_complete(hour: None):
    path = recordings().folder / "5-damaged.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 500, 200))
    overwrite(path, *leaves(path, "bodies")[-2:])
    done = await mcptui("traffic", "5-damaged", "--stats")
    assert (done.err, done.code) == ("", 0)


async def test_the_list_shows_the_readable_properties_of_a_damaged_recording(hour: None):
    path = recordings().folder / "5-damaged.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 500))
    overwrite(path, leaves(path, "entries")[-1])
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
        with closing(RecordingWriter(path, cap_bytes=2_000_000)) as writer:
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
