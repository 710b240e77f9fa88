"""The columns of the list share its width by what is in them."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.ui.traffic.columns import MARKS, Contents, layout_for
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.widgets.rows import PREVIEW_FROM
from tui.ui.widgets.times import TimeMode

NAMES = ("time", "delta", "server", "kind", "what", "ident", "size", "bar", "latency", "outcome")
CONTENTS = st.builds(Contents, *[st.integers(0, 120)] * 5)


@given(st.integers(68, 260), st.sampled_from(list(TimeMode)), CONTENTS)
def test_the_columns_fill_the_width_and_none_is_cut_while_another_has_room(
    width: int, mode: TimeMode, contents: Contents
) -> None:
    layout = layout_for(width, mode, contents)
    cells = [getattr(layout, name) for name in NAMES]
    used = MARKS + sum(cells) + layout.gap * (sum(map(bool, cells)) - 1)
    assert used == width
    is_cut = layout.server < min(contents.server, 32) or 0 < layout.ident < min(contents.ident, 36)
    assert not is_cut or layout.what <= max(contents.what, 8)
    assert layout.what >= 8 and layout.server >= min(contents.server, 6)


@pytest.mark.parametrize("width", [120, 160, 200])
def test_usual_names_are_whole(width: int) -> None:
    contents = Contents(server=14, method=19, alone=25, tool=20, ident=3)
    layout = layout_for(width, TimeMode.CLOCK, contents)
    assert layout.server == 14 and layout.what >= contents.what and layout.method == 19
    assert dataclasses.asdict(layout)["outcome"] == (1 if width == 120 else 16)


def test_the_list_beside_a_preview_keeps_time_differences_bars_and_ids() -> None:
    least = int(TrafficScreen.DEFAULT_CSS.partition("#listed { width: 64%; min-width: ")[2].partition(";")[0])
    contents = Contents(server=10, method=14, alone=25, tool=20, ident=5)
    layout = layout_for(least, TimeMode.CLOCK, contents)
    assert least <= PREVIEW_FROM - 30 and layout.delta and layout.bar and layout.ident == 5


def test_beside_a_preview_long_names_cost_bars_before_ids() -> None:
    layout = layout_for(128, TimeMode.CLOCK, Contents(server=16, method=10, alone=19, tool=28, ident=9))
    assert (layout.bar, layout.what) == (0, 39) and layout.ident >= 5
