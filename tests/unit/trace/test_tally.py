"""The tally counts frames, and only frames."""

from tui.core.ports import FrameDirection
from tui.trace.tally import FrameTally


def test_frames_of_both_directions_are_counted_and_other_lines_are_not():
    tally = FrameTally()
    for direction in FrameDirection:
        tally("weather", direction, 0, b"{}")
    assert (tally.frames, tally.octets, tally.by_server) == (2, 4, {"weather": 2})
