"""Flow: blocks below each other, and which row belongs to which. Pure.

A conversation is a flow of small blocks (a label, a paragraph, a tool card). Each is wrapped when it is
looked at; until then it counts with the height it had, or with a guess. So a thousand messages are
there at once, and a change of width costs what is visible.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from tui.ui.widgets.rows import EMPTY, Row


class Block:
    """A piece of the conversation that is wrapped as one.

    Attributes:
        gap: empty rows above it.
        rows: its rows at `width`, without the gap.
        width: the width it was wrapped at; 0 if it must be wrapped again.
        height: its rows and its gap; a guess before the first wrap.
        changed: it was wrapped, and its height has not been told yet.
    """

    __slots__ = ("changed", "gap", "height", "rows", "width")

    def __init__(self, gap: int = 1) -> None:
        self.gap = gap
        self.rows: Sequence[Row] = ()
        self.width = 0
        self.height = gap + 1
        self.changed = False

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the rows of the block at a width."""
        raise NotImplementedError

    def targets(self) -> Sequence[int]:
        """Return the rows, counted without the gap, that a person can act on; valid once wrapped."""
        return ()


class Flow:
    """Blocks in order, with the row at which each starts.

    Attributes:
        blocks: the blocks; change them through the methods.
        width: the width that blocks are wrapped at, in cells.
    """

    def __init__(self, width: int = 80) -> None:
        self.blocks: list[Block] = []
        self.width = width
        self._tops = [0]

    @property
    def height(self) -> int:
        """The number of rows."""
        return self._tops[-1]

    def top(self, index: int) -> int:
        """Return the row at which a block starts, its gap included."""
        return self._tops[index]

    def append(self, block: Block) -> None:
        """Put a block at the end."""
        self.blocks.append(block)
        self._tops.append(self._tops[-1] + block.height)

    def truncate(self, index: int) -> None:
        """Remove the blocks from `index` on."""
        del self.blocks[index:]
        del self._tops[index + 1 :]

    def replace(self, index: int, blocks: Iterable[Block]) -> None:
        """Put other blocks in the place of one."""
        self.blocks[index : index + 1] = blocks
        self._rebuild(index)

    def index_of(self, block: Block) -> int:
        """Return where a block is; the newest are found first.

        Raises:
            ValueError: the block is not part of the flow.
        """
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        raise ValueError("the block is not part of the flow")

    def find(self, row: int) -> int:
        """Return the block that a row belongs to; the last one for rows behind the end."""
        return max(0, min(bisect_right(self._tops, row) - 1, len(self.blocks) - 1))

    def row(self, row: int) -> Row:
        """Return a row; an empty one where a gap or nothing is."""
        if not self.blocks or not 0 <= row < self.height:
            return EMPTY
        index = self.find(row)
        block = self.blocks[index]
        local = row - self._tops[index] - block.gap
        return block.rows[local] if 0 <= local < len(block.rows) else EMPTY

    def stale(self, index: int) -> bool:
        """Say whether a block must be wrapped before it is shown."""
        block = self.blocks[index]
        return block.changed or block.width != self.width

    def prepare(self, index: int) -> None:
        """Wrap a block if it is stale; where the blocks behind it start is told by `settle`."""
        block = self.blocks[index]
        if block.width != self.width:
            block.rows = block.wrap(self.width)
            block.width = self.width
            block.changed = True

    def settle(self, indexes: Iterable[int]) -> int:
        """Wrap those of the blocks that are stale; return the first row that changed, or the height."""
        first = len(self.blocks)
        for index in indexes:
            self.prepare(index)
            block = self.blocks[index]
            if block.changed:
                block.changed = False
                block.height = len(block.rows) + (block.gap if block.rows else 0)
                first = min(first, index)
        if first == len(self.blocks):
            return self.height
        self._rebuild(first)
        return self._tops[first]

    def _rebuild(self, index: int) -> None:
        heights = [block.height for block in self.blocks[index:]]
        self._tops[index:] = accumulate(heights, initial=self._tops[index])
