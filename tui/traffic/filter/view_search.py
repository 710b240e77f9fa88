"""Bodies of a view are sought in a thread of their own: blocks in, what was found out, in order."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue

from tui.core.traffic import BodyTerm, TrafficReader


@dataclass(frozen=True, slots=True)
class Block:
    """Entries from index `start` to before `stop`; the bodies with seq `first` to `last` are to be read."""

    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found in a block: for each term its seqs; `problem` is why reading failed, or ""."""

    start: int
    stop: int
    seqs: Sequence[frozenset[int]]
    problem: str = ""


class BodySearch:
    """Seeks the same terms in one block after the other. The thread starts with the first block."""

    def __init__(self, open_reader: Callable[[], TrafficReader], terms: Sequence[BodyTerm]) -> None:
        self._open_reader, self._terms = open_reader, terms
        self._asked: SimpleQueue[tuple[int, Block] | None] = SimpleQueue()
        self._answers: deque[tuple[int, Answer]] = deque()
        self._blocks: deque[Block] = deque()
        self._round = 0
        self._closed = False
        self._reader: TrafficReader | None = None
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """How many entries wait for their answer."""
        return sum(block.stop - block.start for block in self._blocks)

    def is_full(self, limit: int) -> bool:
        """Whether `limit` blocks are under way."""
        return len(self._blocks) >= limit

    def ask(self, start: int, stop: int, first: int, last: int) -> None:
        """Have a block read."""
        if self._closed:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mcptui-body-search", daemon=True)
            self._thread.start()
        block = Block(start, stop, first, last)
        self._blocks.append(block)
        self._asked.put((self._round, block))

    def answer(self) -> Answer | None:
        """Return the next answer, in the order of asking, or None if there is none yet."""
        while self._answers:
            its_round, answer = self._answers.popleft()
            if its_round == self._round:
                self._blocks.popleft()
                return answer
        return None

    def cancel(self) -> list[tuple[int, int]]:
        """Give up what is under way; return those blocks."""
        self._round += 1
        left = [(block.start, block.stop) for block in self._blocks]
        self._blocks.clear()
        self._interrupt()
        return left

    def close(self, wait: bool = False) -> None:
        """End the thread; with `wait` it has ended on return."""
        self._closed = True
        self.cancel()
        self._asked.put(None)
        if wait and self._thread is not None:
            self._thread.join()

    def _interrupt(self) -> None:
        reader = self._reader
        if reader is not None:
            reader.interrupt()

    # ---- the thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            reader = self._open_reader()
        # Whatever keeps a recording from being opened is said to the person; the rows of columns stay.
        except Exception as error:
            self._refuse(str(error) or type(error).__name__)
            return
        self._reader = reader
        try:
            while (asked := self._asked.get()) is not None:
                self._read(reader, *asked)
        finally:
            self._reader = None
            reader.close()

    def _read(self, reader: TrafficReader, its_round: int, block: Block) -> None:
        # In this order: who gives up a round counts it on before it interrupts.
        reader.rearm()
        if its_round != self._round:
            return
        try:
            seqs = reader.search(self._terms, block.first, block.last)
            problem = reader.search_problem
        # A recording that cannot be read here may be readable elsewhere: this block has nothing.
        except Exception as error:
            seqs, problem = self._nothing(), str(error) or type(error).__name__
        self._answers.append((its_round, Answer(block.start, block.stop, seqs, problem)))

    def _refuse(self, problem: str) -> None:
        """Answer every block with nothing."""
        while (asked := self._asked.get()) is not None:
            its_round, block = asked
            self._answers.append((its_round, Answer(block.start, block.stop, self._nothing(), problem)))

    def _nothing(self) -> list[frozenset[int]]:
        return [frozenset()] * len(self._terms)
