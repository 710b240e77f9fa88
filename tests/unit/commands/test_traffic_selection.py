"""A recording is read into columns and filtered."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.traffic_samples import request, requests
from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.commands.recordings import open_entries
from tui.commands.traffic_selection import Selection, beginning, query_of
from tui.core.errors import UsageError
from tui.core.traffic import DROPPED, Cause, Entry, Finding, Kind, Severity
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.record.entry_columns import EntryColumns, column_row

SECOND = 1_000_000_000
LONG_AGO = 1_700_000_000 * SECOND


def recorded(path: Path, *entries: Entry) -> Path:
    with closing(RecordingWriter(path)) as writer:
        writer.write(entries)
    return path


def passing(path: Path, expression: str) -> list[int]:
    with open_entries(path) as recording, closing(Selection(recording, query_of(expression))) as selection:
        return [entry.seq for entry in selection.entries()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return recorded(
        tmp_path / "r.mcptrace",
        *(
            request(seq, mono_ns=seq * 60 * SECOND, wall_ns=LONG_AGO + seq * 60 * SECOND, cause=Cause(seq))
            for seq in range(1, 11)
        ),
    )


def test_since_counts_back_from_the_end_of_a_finished_recording(path: Path):
    assert passing(path, "since:5m") == [5, 6, 7, 8, 9, 10]
    assert passing(path, "until:8m") == [1, 2]


def test_since_counts_back_from_now_in_a_live_recording(tmp_path: Path):
    path = tmp_path / "live.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write([request(1, wall_ns=LONG_AGO)])
        assert passing(path, "since:5m") == []


def test_since_matches_nothing_in_an_empty_recording(tmp_path: Path):
    assert passing(recorded(tmp_path / "r.mcptrace"), "since:5m") == []


def test_the_columns_match_the_entries(path: Path):
    with open_entries(path) as recording, closing(Selection(recording, query_of(""))) as selection:
        expected = EntryColumns()
        expected.extend(list(map(column_row, recording.entries())))
        for name in ("mono", "kind", "direction", "source", "method", "turn", "ident", "size", "outcome"):
            assert getattr(selection.columns, name) == getattr(expected, name)
        selection.read_on()
        assert len(selection.columns) == 10


def test_a_regular_expression_is_searched_in_the_bodies(path: Path):
    assert passing(path, '/"id":[37],/') == [3, 7]


def test_matching_entries_come_before_the_error_about_unsearched_bodies(path: Path):
    query = query_of(r"seq:1 or /\w{1000}/")
    with open_entries(path) as recording, closing(Selection(recording, query)) as selection:
        passing = selection.entries()
        assert next(passing).seq == 1
        with pytest.raises(UsageError, match="--filter: the pattern is too large"):
            next(passing)


def test_a_damaged_recording_is_read_up_to_its_damage(tmp_path: Path):
    path = recorded(tmp_path / "r.mcptrace", *requests(1, 2000))
    overwrite(path, leaves(path, "entries")[3])
    with open_entries(path) as recording, closing(Selection(recording, query_of(""))) as selection:
        whole = list(selection.whole())
        assert [entry.seq for entry in whole] == list(range(1, len(whole) + 1)) and 100 < len(whole) < 2000
        assert selection.damage.endswith(f"only the entries up to {len(whole):,} could be read")
        assert len(list(selection.findings())) > 0


CAP = 1_000_000
"""The size limit of a recording with about two thousand entries."""


class Live:
    """A recording at its size limit, which drops its oldest entries as more are written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = 0
        self.writer = RecordingWriter(path, cap_bytes=CAP)
        self.write(4000)

    def write(self, number: int) -> None:
        for _ in range(number // 100):
            self.writer.write(requests(self.last + 1, 100, 300))
            self.last += 100


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    recording = Live(tmp_path / "live.mcptrace")
    with closing(recording.writer):
        yield recording


def test_a_recording_at_its_size_limit_exports_the_rest(live: Live):
    with open_entries(live.path) as recording, closing(Selection(recording, query_of(""))) as selection:
        seqs = list(selection.columns.seqs(range(len(selection.columns))))
        live.write(1000)
        marker, *rest = selection.whole()
        assert seqs[0] < marker.seq == live.writer.gone and marker.method == DROPPED
        assert [entry.seq for entry in rest] == list(range(marker.seq + 1, seqs[-1] + 1))
        assert all(entry.body for entry in rest)


@pytest.mark.parametrize("first", [0, 3990])
def test_a_dropped_match_is_never_replaced_by_another_entry(live: Live, first: int):
    query = query_of(f"kind:request seq:>{first}")
    with open_entries(live.path) as recording, closing(Selection(recording, query)) as selection:
        known = selection.columns.seqs(range(len(selection.columns)))
        wanted = [seq for seq in known if seq > max(first, known[0])]
        live.write(3000)
        assert live.writer.gone > 3995
        assert [entry.seq for entry in selection.entries()] == [
            seq for seq in wanted if seq > live.writer.gone
        ]
        assert list(selection.whole()) == []


def test_an_entry_dropped_between_its_columns_and_its_body_is_left_out(live: Live):
    with open_entries(live.path) as recording, closing(Selection(recording, query_of("kind:request"))) as one:
        whole = one.whole()
        next(whole)
        live.write(4000)
        assert live.writer.gone > 4000
        assert list(whole) == []


def test_entries_have_their_own_numbers_if_some_are_dropped_while_the_columns_are_read(
    live: Live, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.commands.traffic_selection.PAGE", 100)
    with open_entries(live.path) as recording:
        read, pages = recording.reader.column_rows, iter((0, 0, 3000, 0))

        def read_beside_the_writer(after: int, limit: int) -> list[tuple[object, ...]]:
            live.write(next(pages, 0))
            return read(after, limit)

        monkeypatch.setattr(recording.reader, "column_rows", read_beside_the_writer)
        with closing(Selection(recording, query_of("kind:request"))) as selection:
            columns = selection.columns
            assert len(columns) == 200 + live.last - live.writer.gone + 1
            found = list(selection.entries())
            assert [entry.seq for entry in found] == list(range(live.writer.gone + 1, live.last + 1))
            assert [columns.wall_ns(columns.index(entry.seq)) for entry in found] == [
                entry.wall_ns for entry in found
            ]


def test_a_filter_finds_a_marker_of_dropped_entries_that_was_there_before(live: Live):
    with open_entries(live.path) as recording, closing(Selection(recording, query_of("kind:event"))) as one:
        (marker,) = one.whole()
        assert marker.kind is Kind.EVENT and marker.method == DROPPED


@pytest.mark.parametrize(("judged", "is_stored"), [(10, True), (9, False)])
def test_stored_findings_are_used_only_if_all_entries_were_linted(
    tmp_path: Path, judged: int, is_stored: bool
):
    path = tmp_path / "r.mcptrace"
    noise = request(3)._replace(kind=Kind.NOT_JSON, body=b"noise", size=5)
    with closing(RecordingWriter(path)) as writer:
        finding = Finding(2, "not-json", Severity.ERROR, "Not JSON.", "basic", "weather")
        writer.write([*requests(1, 2), noise, *requests(4, 7)])
        writer.write([], [finding], judged)
    assert (passing(path, "lint:any") == [2]) is is_stored
    assert (3 in passing(path, "lint:any")) is not is_stored


@pytest.mark.parametrize(("expression", "lost"), [("body:zzz", True), ("method:x", False)])
def test_a_filter_for_bodies_reports_that_it_could_not_search_some(
    tmp_path: Path, expression: str, lost: bool
):
    path = recorded(tmp_path / "r.mcptrace", *requests(1, 2000, 200))
    overwrite(path, leaves(path, "bodies")[3])
    with open_entries(path) as recording, closing(Selection(recording, query_of(expression))) as selection:
        assert list(selection.entries()) == []
        assert bool(selection.damage) is lost


def test_an_option_of_replay_names_the_filter_for_the_same_server(capsys: pytest.CaptureFixture[str]):
    assert dispatch(build_parser().parse_args(["traffic", "--server", "time"])) == 2
    assert "To filter by server: --filter server:time." in capsys.readouterr().err


@pytest.mark.parametrize(("text", "last"), [("statu:ok", "  ^^^^^^"), ("/a/x", '  Use: "/a/x"')])
def test_an_invalid_filter_is_reported_with_one_correction(text: str, last: str):
    with pytest.raises(UsageError) as raised:
        query_of(text)
    assert str(raised.value).splitlines()[-1] == last


@pytest.mark.parametrize("text", ["yesterday", "5", "25:99"])
def test_an_invalid_time_is_reported_with_examples(text: str):
    with pytest.raises(UsageError) as refused:
        beginning(text, 0)
    assert str(refused.value) == f"--since: “{text}” is not a time. Use 30d, 1h, 14:05 or 2026-11-20."
