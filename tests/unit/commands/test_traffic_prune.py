"""`mcptui traffic --prune`: what goes, what stays, and that nothing goes without a yes."""

import json
import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.protocol.command import in_this_process
from tui.core.traffic import Direction, Entry, Kind
from tui.settings.locations import state_dir
from tui.storage.files.live_lock import live_file
from tui.storage.recordings.database import keep_note
from tui.storage.recordings.writer import RecordingWriter

DAY_NS = 86_400 * 1_000_000_000


def recorded(name: str, days: float) -> Path:
    """Make a recording whose only entry is some days old."""
    path = state_dir() / "recordings" / f"{name}.mcptrace"
    path.parent.mkdir(parents=True, exist_ok=True)
    ns = time.time_ns() - int(days * DAY_NS)
    with closing(RecordingWriter(path)) as writer:
        writer.write([Entry(1, ns, ns, "s", Direction.OUT, Kind.REQUEST, "ping")])
    return path


@pytest.fixture
def old(separate_home: Path) -> Path:
    recorded("new", 1)
    marked = recorded("marked", 50)
    keep_note(marked, 1, marked=True)
    return recorded("old", 40)


def prune(*args: str) -> tuple[int, str, str]:
    done = in_this_process(("traffic", "--prune", *args))
    return done.code, done.out, done.err


def left(old: Path) -> set[str]:
    return {path.stem for path in old.parent.glob("*.mcptrace")}


def test_old_recordings_go_with_all_their_files(old: Path) -> None:
    code, out, _ = prune("--older-than", "30d", "--yes")
    assert code == 0 and "Removed 2 recordings" in out
    assert left(old) == {"new"}


def test_marked_ones_are_kept_if_asked_for(old: Path) -> None:
    code, out, _ = prune("--older-than", "30d", "--except", "marked", "--yes")
    assert code == 0 and "Kept though older: 1 with marks or notes." in out
    assert left(old) == {"new", "marked"}


def test_a_dry_run_removes_nothing(old: Path) -> None:
    code, out, _ = prune("--older-than", "30d", "--dry-run")
    assert code == 0 and "2 older recordings" in out and "Disk use of " in out
    assert left(old) == {"new", "marked", "old"}


def test_nothing_goes_without_a_terminal_to_ask_on(old: Path) -> None:
    code, _, err = prune("--older-than", "30d")
    assert code == 2 and "nothing removed" in err
    assert left(old) == {"new", "marked", "old"}


def test_a_live_recording_stays(old: Path) -> None:
    with closing(RecordingWriter(old.with_name("live.mcptrace"))) as writer:
        ns = time.time_ns() - 60 * DAY_NS
        writer.write([Entry(1, ns, ns, "s", Direction.OUT, Kind.REQUEST, "ping")])
        assert live_file(old.with_name("live.mcptrace")).exists()
        code, out, _ = prune("--older-than", "30d", "--yes")
    assert code == 0 and "1 live" in out
    assert left(old) == {"new", "live"}


def test_each_recording_and_the_sums_are_json(old: Path) -> None:
    _, out, _ = prune("--older-than", "30d", "--except", "marked", "--yes", "--json")
    *ones, sums = [json.loads(line) for line in out.splitlines()]
    assert [(one["name"], one["removed"], one.get("kept")) for one in ones] == [
        ("old", True, None),
        ("marked", False, "marked"),
    ]
    assert sums["removed"] == 1 and sums["before"] - sums["after"] == sums["bytes"] > 0


def test_an_unreadable_recording_goes_unless_it_may_be_marked(old: Path) -> None:
    broken = old.with_name("broken.mcptrace")
    broken.write_bytes(b"no database")
    os.utime(broken, (0, 0))
    prune("--older-than", "30d", "--except", "marked", "--yes")
    assert "broken" in left(old)
    prune("--older-than", "30d", "--yes")
    assert "broken" not in left(old)


@pytest.mark.parametrize(
    "args",
    [
        ("--prune",),
        ("--prune", "--older-than", "soon"),
        ("--prune", "--older-than", "1d", "--failed"),
        ("--prune", "--older-than", "1d", "name"),
        ("--older-than", "1d"),
        ("--except", "marked"),
        ("--yes",),
    ],
)
def test_what_makes_no_sense_is_refused(separate_home: Path, args: tuple[str, ...]) -> None:
    assert in_this_process(("traffic", *args)).code == 2


def test_a_folder_is_no_recording(old: Path) -> None:
    (old.parent / "folder.mcptrace").mkdir()
    code, out, _ = prune("--older-than", "30d", "--yes")
    assert code == 0 and "Removed 2 recordings" in out


def test_a_time_that_is_none_names_the_option(separate_home: Path) -> None:
    assert "--older-than: “30” is not a time. Use 30d" in prune("--older-than", "30")[2]


def test_the_list_says_how_much_disk_is_used(old: Path) -> None:
    assert "disk use of all recordings" in in_this_process(("traffic", "--list")).err


def test_weeks_are_a_unit_of_time(old: Path) -> None:
    code, _, _ = prune("--older-than", "6w", "--yes")
    assert code == 0 and left(old) == {"new", "old"}
