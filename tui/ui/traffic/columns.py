"""The columns of the list of entries: how they share its width, by what is in them. Pure."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tui.ui.widgets.times import TimeMode

ROOMY = 96
"""Cells from which two blanks separate columns."""

IDS_FIRST = 128
"""Cells from which ids come before the bars of latencies, as beside a preview."""

MARKS = 4
"""Cells of the signs at the left end."""

LEAST_WHAT = 22
"""Cells of a method and a tool; there is no size if they have fewer."""

MOST_SERVER, MOST_METHOD, MOST_TOOL, MOST_IDENT = 32, 36, 48, 36
"""Maximum cells that names get before other columns have theirs."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The widest value of each column of names, in cells: `method` next to a tool, `alone` without one."""

    server: int = 6
    method: int = 10
    alone: int = 10
    tool: int = 0
    ident: int = 1

    @property
    def what(self) -> int:
        """The cells of a method and a tool."""
        both = min(self.method, MOST_METHOD) + 1 + min(self.tool, MOST_TOOL)
        return max(both, min(self.alone, MOST_METHOD))


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of the columns in cells, 0 if omitted; `what` (method, tool, note) gets the remaining width.

    `method` is the width of the method if a tool is shown next to it.
    """

    time: int
    delta: int
    server: int
    kind: int
    what: int
    ident: int
    size: int
    bar: int
    latency: int
    outcome: int
    gap: int
    method: int = 10
    has_note: bool = False


def layout_for(width: int, mode: TimeMode, contents: Contents, heads: Mapping[str, int] = {}) -> Layout:
    """Return the columns for a width. No name is cut while another column has more than it needs.

    `heads` are the cells that headings need, by column; "short_kind" is that of a kind with abbreviations.
    """
    head = defaultdict(int, heads)
    gap, least = 2 if width >= ROOMY else 1, max(6, head["server"])
    server, ident = max(least, min(contents.server, MOST_SERVER)), min(contents.ident, MOST_IDENT)
    time, kind = max((12, 11, 9)[mode], head["time"]), max(10, head["short_kind"])
    size, latency = max(6, head["size"]), max(8, head["latency"])
    layout = Layout(time, 0, least, kind, 8, 0, size, 0, latency, 1, gap)
    used = (layout.time, layout.server, layout.kind, layout.what, layout.size, layout.latency, layout.outcome)
    room = width - MARKS - sum(used) - gap * (len(used) - 1)
    if layout.what + room < LEAST_WHAT:
        layout, room = replace(layout, size=0), room + size + gap
    delta, what = max(8, head["delta"]), max(contents.what, head["what"])
    ident_and_bar = ("ident", min(ident, 5), True), ("bar", max(5, head["bar"]), True)
    # By importance: what each column gets, as far as there is room. A column in parts comes several times.
    for name, cells, is_whole in (
        ("server", min(server, 8), False),
        ("what", min(what, 26), False),
        ("server", min(server, 12), False),
        ("what", what, False),
        ("size", max(8, size) if layout.size else 0, True),
        ("kind", max(14, head["kind"]), True),
        ("delta", 0 if mode is TimeMode.PREVIOUS else delta, True),
        *(ident_and_bar if width >= IDS_FIRST else ident_and_bar[::-1]),
        ("server", server, False),
        ("ident", ident, False),
        ("latency", max(9, latency), True),
        ("outcome", max(16, head["outcome"]), True),
        ("bar", max(10, head["bar"]), True),
    ):
        has = getattr(layout, name)
        more = min(cells - has, room if has else room - gap)
        if more <= 0 or has + more < (cells if is_whole else min(cells, 5)):
            continue
        layout = replace(layout, **{name: has + more})
        room -= more if has else more + gap
    layout = replace(layout, what=layout.what + max(0, room))
    is_whole = layout.what >= contents.what
    method = MOST_METHOD if is_whole else max(10, layout.what * 2 // 5, layout.what - contents.tool - 1)
    return replace(layout, method=min(contents.method, method))
