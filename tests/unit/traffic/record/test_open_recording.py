"""A recording as a screen shows it, without anything that its owner adds."""

from tests.unit.traffic.small_traffic import Traffic
from tui.traffic.record.open_recording import Recording


def test_without_an_owner_all_entries_count_as_linted_and_nothing_is_stored() -> None:
    columns = Traffic().columns
    recording = Recording(columns, open_reader=lambda: None)
    recording.keep_mark(1, True)
    recording.keep_note(1, "a note")
    recording.keep_filter("slow", "latency:>1s")
    assert recording.judged() > 10**9 and recording.problem() == "" and recording.revision("weather") == ""
    assert recording.go_to_turn is None and not recording.notes and not recording.filters


def test_two_recordings_share_no_notes_or_filters() -> None:
    one, other = (Recording(Traffic().columns, open_reader=lambda: None) for _ in range(2))
    one.notes[1] = "a note"
    one.filters["slow"] = "latency:>1s"
    assert not other.notes and not other.filters
