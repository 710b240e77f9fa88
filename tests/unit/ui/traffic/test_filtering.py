"""The active filter, without the screen."""

from tests.conftest import wait_until
from tests.ui.traffic_stage import WALL_NS, some
from tui.traffic.filter.query import parse
from tui.traffic.record.entry_columns import Recording
from tui.ui.traffic.filtering import Filtering


def passing(recording: Recording, expression: str) -> int:
    filtering = Filtering(recording)
    view = filtering.filter(parse(expression))
    wait_until(view.advance)
    filtering.close()
    return len(view)


def test_since_counts_from_the_end_of_a_recording():
    recorded = some()
    ended = WALL_NS + recorded.now_ns
    assert passing(recorded.recording(live=False, ended_ns=ended), "since:5m") == len(recorded.entries)
    assert passing(recorded.recording(live=False, ended_ns=ended), "since:2ms") < len(recorded.entries)


def test_since_counts_from_now_in_live_traffic():
    assert passing(some().recording(), "since:5m") == 0
