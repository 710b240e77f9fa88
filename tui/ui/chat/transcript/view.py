"""FlowPane: a LinePane that shows a flow of blocks, which are wrapped when they become visible.

The visible rows stay in place: blocks above may grow, shrink or be wrapped again at another width without
moving them.
"""

import asyncio
from time import perf_counter

from textual.selection import Selection
from textual.timer import Timer

from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row
from tui.ui.widgets.tasks import Tasks

SLICE_SECONDS = 0.005
SLICE_PAUSE = 0.03
REST_SECONDS = 0.25
"""How long nothing must have changed before blocks outside the view are wrapped."""

PREPARED_AT_ONCE = 500
LOOKED_AT_AGAIN = 100
"""Blocks at the end that may have changed once all were wrapped; others are wrapped when seen."""


class FlowPane(LinePane):
    """Shows `self.flow`; a subclass changes it and calls `flow_changed`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.flow = Flow()
        self._target: tuple[Block, int] | None = None
        self._stale_below = -1  # blocks up to this one may need wrapping again
        self._slices: Timer | None = None
        self._prepared: list[int] = []
        self._settling = False
        self._planned = False
        self._changes = False
        self._tasks = Tasks()
        self._laying_out = False

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

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
        """Wrap the visible blocks without moving them; the others are wrapped while idle."""
        self._planned = False
        flow = self.flow
        if not flow.blocks or not self.scrollable_content_region.height:
            self.rows_changed()
            return
        first = self._settle_end(len(flow.blocks) - 1) if self.following else self._settle_view()
        self.rows_changed(min(first, flow.height))
        self._stale_below = len(flow.blocks) - 1
        self._changes = True
        self._plan_slice()
        self._keep_target()

    def lay_out(self, block: Block) -> None:
        """Lay out a block in a thread, if it needs that: keys would have to wait for a long block."""
        if block.wanted and not self._laying_out:
            self._laying_out = True
            self._tasks.start(self._lay_out(block), "lay out a part of the conversation")

    async def _lay_out(self, block: Block) -> None:
        width = block.wanted
        rows = await asyncio.to_thread(block.lay_out, width)
        self._laying_out = False
        block.laid_out(width, rows)
        block.width = 0
        self.flow_changed()
        self.call_later(self.show_block, block)

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

    def _plan_slice(self, pause: float = SLICE_PAUSE) -> None:
        if self._slices is None and self._stale_below >= 0:
            self._slices = self.set_timer(pause, self._slice)

    def _slice(self) -> None:
        """Once nothing changes, wrap blocks outside the view, last first, a few milliseconds at a time."""
        self._slices = None
        if self._changes:
            self._changes = False
            self._plan_slice(REST_SECONDS)
            return
        flow = self.flow
        deadline = perf_counter() + SLICE_SECONDS
        index = min(self._stale_below, len(flow.blocks) - 1)
        last = min(flow.wrapped, len(flow.blocks) - LOOKED_AT_AGAIN)
        while index >= max(0, last) and perf_counter() < deadline:
            if flow.stale(index):
                flow.prepare(index)
                self._prepared.append(index)
            index -= 1
        if index < max(0, last):
            index, flow.wrapped = -1, len(flow.blocks)
        self._stale_below = index
        # Applying heights requires a repaint, because the visible rows get other numbers.
        if self._prepared and (index < 0 or len(self._prepared) >= PREPARED_AT_ONCE):
            self._keep_view([index for index in self._prepared if index < len(flow.blocks)])
            self._prepared.clear()
        self._plan_slice()

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
        if self.flow.width != self.columns:
            self.flow.width, self.flow.wrapped = self.columns, 0
        self.settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._settling or round(old_value) == round(new_value):
            return
        self._settling = True
        try:
            self._wrap_view()
        finally:
            self._settling = False
        self._keep_target()

    def _wrap_view(self) -> None:
        flow = self.flow
        if not flow.blocks:
            return
        top = round(self.scroll_y)
        last = flow.find(top + self.scrollable_content_region.height)
        stale = [index for index in range(flow.find(top), last + 1) if flow.stale(index)]
        if stale:
            self._keep_view(stale)

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
            self._aim(next((target for target in seen if target[0] is seen[-1][0]), None))

    def _aim(self, target: tuple[Block, int] | None) -> None:
        for aimed in (self._target, target):
            if aimed is not None:
                self.refresh_line(self._row_of(*aimed))
        self._target = target

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

    def action_choose(self) -> None:
        if self._target is not None and self._row_of(*self._target) >= 0:
            self.target_chosen(*self._target)

    def row_clicked(self, index: int, x: int) -> None:
        if not self.flow.blocks:
            return
        position = self.flow.find(index)
        block = self.flow.blocks[position]
        row = index - self.flow.top(position) - block.gap
        if row in block.targets:
            self._aim((block, row))
            self.target_chosen(block, row)

    def on_focus(self) -> None:
        """Show the selection, but later: the pane only has the focus after this handler."""
        self.flow_changed()
        self.call_later(self.refresh)

    def on_blur(self) -> None:
        if self._target is not None:
            self.refresh_line(self._row_of(*self._target))
