"""Recordings of machines whose clock was not set: before 1970, or far in the future."""

import json
import os
from pathlib import Path

import pytest

from tests.protocol.command import mcptui
from tui.core.traffic import FIRST_NS, LAST_NS, Direction, Entry, Kind, Outcome
from tui.storage.recordings.writer import RecordingWriter

SECOND = 1_000_000_000
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
