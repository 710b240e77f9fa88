"""Properties of recordings, without reading them completely."""

import os
from contextlib import closing
from pathlib import Path

from tests.unit.storage.traffic_samples import request
from tui.commands.recordings import about, last_entry, newest, recordings, since
from tui.core.traffic import Entry
from tui.storage.recordings.writer import RecordingWriter

MINUTE = 60_000_000_000
NOON = 1_700_000_000_000_000_000


def kept(
    name: str, *minutes: float, live: bool = False, command: str = "", **more: object
) -> RecordingWriter:
    """Keep a recording with an entry for each minute after noon."""
    folder = recordings().folder
    folder.mkdir(parents=True, exist_ok=True)
    writer = RecordingWriter(folder / f"{name}.mcptrace", meta={"tap": name, "command": command})
    walls = [NOON + round(each * MINUTE) for each in minutes]
    writer.write([request(seq, wall_ns=wall, **more) for seq, wall in enumerate(walls, 1)])
    if not live:
        writer.close()
    return writer


def changed(name: str, minute: float) -> None:
    when = NOON + round(minute * MINUTE)
    for path in recordings().folder.glob(f"{name}.mcptrace*"):
        os.utime(path, ns=(when, when))


def test_recordings_are_listed_with_the_newest_entry_first():
    kept("1-long", 0, 9)
    kept("2-short", 1, 2)
    kept("3-empty")
    listed = sorted(map(about, recordings().list()), key=last_entry, reverse=True)
    assert [one.kept.name for one in listed] == ["1-long", "2-short", "3-empty"]
    assert listed[0].kept.name == newest().kept.name


def test_a_recording_of_a_single_request_is_selected_only_if_there_is_no_other():
    kept("1-call", 3, command="call")
    assert newest().kept.name == "1-call"
    kept("2-run", 1, command="run")
    changed("2-run", 1)
    kept("3-call", 30, command="call")
    assert newest().kept.name == "2-run"


def test_recordings_last_written_before_the_newest_entry_are_not_opened():
    kept("1-new", 0, 9)
    kept("2-damaged", 1)
    path = recordings().folder / "2-damaged.mcptrace"
    path.write_bytes(b"?")
    changed("2-damaged", 1)
    assert newest().kept.name == "1-new"


def test_an_unreadable_recording_is_selected_only_if_there_is_no_other():
    kept("1-new", 0)
    path = recordings().folder / "2-damaged.mcptrace"
    path.write_bytes(b"?")
    assert newest().kept.name == "1-new"
    (recordings().folder / "1-new.mcptrace").unlink()
    assert newest().problem


def test_a_live_recording_can_be_preferred():
    with closing(kept("1-live", 1, live=True)):
        kept("2-over", 2)
        assert newest().kept.name == "2-over"
        assert newest(live_first=True).kept.name == "1-live"


def test_recordings_since_a_time_are_in_the_order_of_their_start():
    kept("1", 0, 1)
    kept("3", 2, 8)
    kept("2", 1, 6)
    kept("4-empty")
    assert [one.kept.name for one in since(NOON + 5 * MINUTE)] == ["2", "3"]
    assert [one.kept.name for one in since(0)] == ["1", "2", "3"]


def test_the_listed_servers_do_not_include_the_model(tmp_path: Path):
    folder = recordings()
    folder.folder.mkdir(parents=True)
    with closing(RecordingWriter(folder.folder / "1.mcptrace")) as writer:
        sources = ("weather", "model:demo", "notes", "weather")
        entries: list[Entry] = [request(seq, source=one) for seq, one in enumerate(sources, 1)]
        writer.write(entries)
    known = about(folder.list()[0], with_servers=True)
    assert (known.servers, known.entries, known.of) == (("notes", "weather"), 4, "mcptui")
