"""Flow: a vertical list of blocks, and the mapping of rows to blocks.

A conversation is a flow of small blocks (a label, a paragraph, a tool card). A block is wrapped when it
becomes visible; until then it has its previous height, or an estimate. So a thousand messages are available
at once, and a change of width only wraps visible blocks. Only rows of recently visible blocks are cached: all
rows would be tens of thousands of objects that every garbage collection visits (measured: pauses of 50 ms at
a thousand messages).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from tui.ui.widgets.rows import EMPTY, Row

HELD_BLOCKS = 512


class Block:
    """A part of the conversation that is wrapped as a whole.

    Attributes:
        gap: empty rows above it.
        rows: its rows at `width`, without the gap; None if they are not cached.
        width: the width at which it was wrapped; 0 if it must be wrapped again.
        height: number of its rows, including the gap; an estimate before the first wrap.
        pending: its real height while the flow still uses another one, otherwise -1.
        targets: indexes of the selectable rows, without the gap; valid once wrapped.
        wanted: the width for which to call `lay_out` in a thread, and `laid_out` with its result; otherwise
            0.
    """

    __slots__ = ("gap", "height", "pending", "rows", "width")
    targets: Sequence[int] = ()
    wanted: int = 0

    def __init__(self, gap: int = 1) -> None:
        self.gap = gap
        self.rows: Sequence[Row] | None = None
        self.width = 0
        self.height = gap + 1
        self.pending = -1

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the rows of the block at a width."""
        return ()

    def lay_out(self, width: int) -> Sequence[Row]:
        """Compute and return rows that take long, without changing anything."""
        return ()

    def laid_out(self, width: int, rows: Sequence[Row]) -> None:
        """Take the result of `lay_out`."""


class Flow:
    """Blocks in order, with the first row of each. Change `blocks` only with the methods.

    `wrapped` is the number of blocks, from the first, that have been wrapped at this width. A few may be
    stale again, because a block can change without telling its flow.
    """

    def __init__(self, width: int = 80) -> None:
        self.blocks: list[Block] = []
        self.width = width
        self.wrapped = 0
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
        self.wrapped = min(self.wrapped, index)
        if not index:
            self._held.clear()

    def replace(self, index: int, blocks: Iterable[Block]) -> None:
        self.blocks[index : index + 1] = blocks
        self.wrapped = min(self.wrapped, index)
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
        """Return whether a block must be wrapped before it is shown."""
        block = self.blocks[index]
        return block.pending >= 0 or block.width != self.width

    def prepare(self, index: int) -> None:
        """Wrap a block if it is stale; `settle` then moves the blocks below."""
        block = self.blocks[index]
        if block.width != self.width:
            rows = self._wrapped(block)
            block.width = self.width
            block.pending = len(rows) + (block.gap if rows else 0)

    def settle(self, indexes: Iterable[int]) -> int:
        """Wrap the stale ones of these blocks; return the first changed row, or the height.

        Removing a block also changes rows, since the rows below it move up.
        """
        first = len(self.blocks)
        for index in indexes:
            self.prepare(index)
            block = self.blocks[index]
            if block.pending >= 0:
                block.height, block.pending = block.pending, -1
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
