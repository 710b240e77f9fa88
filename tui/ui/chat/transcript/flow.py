"""Flow: a vertical list of blocks, the mapping of rows to blocks, and FlowPane, which shows a flow.

A conversation is a flow of small blocks (a label, a paragraph, a tool card). A block is wrapped when it
becomes visible; until then it has its previous height, or an estimate. So a thousand messages are available
at once, and a change of width only wraps visible blocks. Only rows of recently visible blocks are cached: all
rows would be tens of thousands of objects that every garbage collection visits (measured: pauses of 50 ms at
a thousand messages).

In the pane, the visible rows stay in place: blocks above may grow, shrink or be wrapped again at another
width without moving them.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from textual.selection import Selection

from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row

HELD_BLOCKS = 512


class Block:
    """A part of the conversation that is wrapped as a whole.

    Attributes:
        gap: empty rows above it.
        rows: its rows at `width`, without the gap; None if they are not cached.
        width: the width at which it was wrapped; 0 if it must be wrapped again.
        height: number of its rows, including the gap; an estimate before the first wrap.
        targets: indexes of the selectable rows, without the gap; valid once wrapped.
    """

    targets: Sequence[int] = ()

    def __init__(self, gap: int = 1) -> None:
        self.gap = gap
        self.rows: Sequence[Row] | None = None
        self.width = 0
        self.height = gap + 1

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the rows of the block at a width."""
        return ()


class Flow:
    """Blocks in order, with the first row of each. Change `blocks` only with the methods."""

    def __init__(self, width: int = 80) -> None:
        self.blocks: list[Block] = []
        self.width = width
        self._tops = [0]
        self._held: dict[Block, None] = {}  # blocks with cached rows, in the order of wrapping
        self._moved = -1  # first row that changed since `settle`, or -1

    @property
    def height(self) -> int:
        return self._tops[-1]

    def top(self, index: int) -> int:
        """Return the first row of a block, including its gap."""
        return self._tops[index]

    def append(self, block: Block) -> None:
        self.blocks.append(block)
        self._tops.append(self._tops[-1] + block.height)

    def extend(self, blocks: Sequence[Block]) -> None:
        start = len(self.blocks)
        self.blocks += blocks
        self._rebuild(start)

    def truncate(self, index: int) -> None:
        del self.blocks[index:]
        del self._tops[index + 1 :]
        if not index:
            self._held.clear()

    def replace(self, index: int, blocks: Iterable[Block]) -> None:
        self.blocks[index : index + 1] = blocks
        self._rebuild(index)
        top = self._tops[index]
        self._moved = min(self._moved, top) if self._moved >= 0 else top

    def index_of(self, block: Block) -> int:
        """Return the index of a block, searching from the end. Raises `ValueError` if it is missing."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        raise ValueError("the block is not part of the flow")

    def find(self, row: int) -> int:
        """Return the block at a row; for rows after the end, the last one."""
        return max(0, min(bisect_right(self._tops, row) - 1, len(self.blocks) - 1))

    def row(self, row: int) -> Row:
        """Return a row; an empty one in a gap or after the end."""
        if not self.blocks or not 0 <= row < self.height:
            return EMPTY
        index = self.find(row)
        block = self.blocks[index]
        rows = block.rows if block.rows is not None else self._wrapped(block)
        local = row - self._tops[index] - block.gap
        return rows[local] if 0 <= local < len(rows) else EMPTY

    def stale(self, index: int) -> bool:
        return self.blocks[index].width != self.width

    def settle(self, indexes: Iterable[int]) -> int:
        """Wrap the stale ones of these blocks; return the first changed row, or the height.

        Removing a block also changes rows, since the rows below it move up.
        """
        first = len(self.blocks)
        for index in indexes:
            if self.stale(index):
                block = self.blocks[index]
                rows, block.width = self._wrapped(block), self.width
                block.height = len(rows) + (block.gap if rows else 0)
                first = min(first, index)
        row = self.height
        if first < len(self.blocks):
            self._rebuild(first)
            row = self._tops[first]
        moved, self._moved = self._moved, -1
        return min(row, moved) if moved >= 0 else row

    def _wrapped(self, block: Block) -> Sequence[Row]:
        rows = block.rows = block.wrap(self.width)
        self._held.pop(block, None)
        self._held[block] = None
        if len(self._held) > HELD_BLOCKS:
            oldest = next(iter(self._held))
            del self._held[oldest]
            oldest.rows = None
        return rows

    def _rebuild(self, index: int) -> None:
        heights = [block.height for block in self.blocks[index:]]
        self._tops[index:] = accumulate(heights, initial=self._tops[index])


class FlowPane(LinePane):
    """Shows `self.flow`; a subclass changes it and calls `flow_changed`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.flow = Flow()
        self._target: tuple[Block, int] | None = None
        self._hidden: tuple[Block, int] | None = None  # the selection that a smaller size has hidden
        self._settling = False
        self._planned = False

    def row_count(self) -> int:
        return self.flow.height

    def row(self, index: int) -> Row:
        row = self.flow.row(index)
        if row and row[-1][1].endswith("on panel") and self.row_ground(index):  # the selection stays visible
            return tuple((text, style.removesuffix("on panel")) for text, style in row)
        return row

    def flow_changed(self) -> None:
        """Show added or changed blocks before the next frame. May be called often."""
        if not self._planned and self.is_mounted:
            self._planned = True
            self.call_later(self.settle)

    def settle(self) -> None:
        """Wrap the visible blocks without moving them; the others are wrapped when they become visible."""
        self._planned = False
        flow = self.flow
        if not flow.blocks or not self.scrollable_content_region.height:
            self.rows_changed()
            return
        first = self._settle_end(len(flow.blocks) - 1) if self.following else self._settle_view()
        self.rows_changed(min(first, flow.height))
        self._keep_target()

    def show_block(self, block: Block) -> None:
        if block in self.flow.blocks:
            index = self.flow.index_of(block)
            self.rows_changed(self._settle_end(index))
            self.show_row(self.flow.top(index), block.height)

    def _settle_end(self, index: int) -> int:
        """Wrap the blocks that fill the view from `index` up; return the first changed row."""
        return self._settle_room(index, -1, self.scrollable_content_region.height)

    def _settle_view(self) -> int:
        """Wrap the visible blocks, top down, without moving the top; return like `_settle_end`."""
        top = round(self.scroll_y)
        anchor = self.flow.find(top)
        inside = top - self.flow.top(anchor)
        return self._settle_room(anchor, 1, self.scrollable_content_region.height + inside)

    def _settle_room(self, index: int, direction: int, room: int) -> int:
        flow, first = self.flow, self.flow.height
        while 0 <= index < len(flow.blocks) and room > 0:
            first = min(first, flow.settle((index,)))
            room -= flow.blocks[index].height
            index += direction
        return min(first, self.virtual_size.height)

    def _keep_view(self, changed: list[int]) -> None:
        """Apply new heights of blocks without moving the row at the top of the view."""
        flow = self.flow
        top = round(self.scroll_y)
        anchor = flow.find(top)
        inside = top - flow.top(anchor)
        first = flow.settle(changed)
        self.rows_changed(first)
        if not self.following:
            self._place(flow.top(anchor) + min(inside, max(0, flow.blocks[anchor].height - 1)))

    def rewrap(self) -> None:
        wanted = self._hidden or self._target
        self.flow.width = self.columns
        self.settle()
        if wanted in self._targets_in_view():
            self._aim(wanted)
        else:
            self._hidden = wanted

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._settling or round(old_value) == round(new_value):
            return
        self._settling = True
        try:
            flow, top = self.flow, round(self.scroll_y)
            last = flow.find(top + self.scrollable_content_region.height)
            seen = range(flow.find(top), last + 1) if flow.blocks else ()
            if stale := [index for index in seen if flow.stale(index)]:
                self._keep_view(stale)
        finally:
            self._settling = False
        self._keep_target()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text; wraps selected blocks that were never visible."""
        if selection.start is None or selection.end is None:
            self._keep_view(list(range(len(self.flow.blocks))))
        return super().get_selection(selection)

    def target_chosen(self, block: Block, row: int) -> None:
        """Called when the user acts on a row of a block."""

    def row_ground(self, index: int) -> str:
        if not self.has_focus or self._target is None:
            return ""
        return "cursor" if index == self._row_of(*self._target) else ""

    def _row_of(self, block: Block, row: int) -> int:
        try:
            return self.flow.top(self.flow.index_of(block)) + block.gap + row
        except ValueError:
            return -1

    def _targets_in_view(self) -> list[tuple[Block, int]]:
        flow = self.flow
        if not flow.blocks:
            return []
        top = round(self.scroll_y)
        bottom = top + self.scrollable_content_region.height
        found = []
        for index in range(flow.find(top), flow.find(bottom) + 1):
            block = flow.blocks[index]
            start = flow.top(index) + block.gap
            found += [(block, row) for row in block.targets if top <= start + row < bottom]
        return found

    def _keep_target(self) -> None:
        """Keep the selection visible: if it was scrolled away, select the first target of the last block."""
        if not self.has_focus:
            return
        seen = self._targets_in_view()
        if self._target not in seen:
            hidden = self._hidden
            self._aim(next((target for target in seen if target[0] is seen[-1][0]), None))
            self._hidden = hidden

    def _aim(self, target: tuple[Block, int] | None) -> None:
        for aimed in (self._target, target):
            if aimed is not None:
                self.refresh_line(self._row_of(*aimed))
        self._target, self._hidden = target, None

    def _step(self, direction: int) -> bool:
        """Select the next visible target; return False if there is none and the view must scroll."""
        seen = self._targets_in_view()
        if self._target in seen:
            index = seen.index(self._target) + direction
            if not 0 <= index < len(seen):
                return False
            self._aim(seen[index])
            return True
        if seen:
            self._aim(seen[0] if direction > 0 else seen[-1])
        return bool(seen)

    def action_pane_home(self) -> None:
        """Scroll to the start, and select its first target."""
        self.scroll_to(y=0, animate=False, immediate=True)
        if seen := self._targets_in_view():
            self._aim(seen[0])

    def action_choose(self) -> None:
        if self._target is not None and self._row_of(*self._target) >= 0:
            self.target_chosen(*self._target)

    def row_clicked(self, index: int, x: int) -> None:
        if (target := self._target_at(index)) is not None:
            self._aim(target)

    def row_opens(self, index: int) -> bool:
        return self._target is not None and self._target_at(index) == self._target

    def _target_at(self, index: int) -> tuple[Block, int] | None:
        if not self.flow.blocks:
            return None
        position = self.flow.find(index)
        block = self.flow.blocks[position]
        row = index - self.flow.top(position) - block.gap
        return (block, row) if row in block.targets else None

    def on_focus(self) -> None:
        """Show the selection, but later: the pane only has the focus after this handler."""
        self.flow_changed()
        self.call_later(self.refresh)

    def on_blur(self) -> None:
        if self._target is not None:
            self.refresh_line(self._row_of(*self._target))
