"""ReplyWriter: a reply on its way into the flow. Pure but for the clock it is given."""

from collections.abc import Callable

from tui.core import units
from tui.ui.chat.transcript.blocks import Label
from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.chat.transcript.markdown import Markdown
from tui.ui.chat.transcript.prose import Thinking
from tui.ui.chat.transcript.stream import MarkdownStream
from tui.ui.widgets.symbols import Symbols


class ReplyWriter:
    """Buffers what a model says and puts it at the end of a flow when told to draw.

    Attributes:
        source: the deltas of the last reply, as they came.
    """

    def __init__(
        self, flow: Flow, append: Callable[[Block], None], symbols: Symbols, clock: Callable[[], float]
    ) -> None:
        self.source: list[str] = []
        self._flow = flow
        self._append = append
        self._symbols = symbols
        self._clock = clock
        self._markdown: Markdown | None = None
        self._pending: list[str] = []
        self._stream: MarkdownStream | None = None
        self._tail: Block | None = None
        self._thinking: Thinking | None = None
        self._since = 0.0
        self._text_at: tuple[int, int] | None = None  # blocks and deltas before the text of this step
        self._label: Label | None = None
        self._name = ""
        self._seconds = 0.0

    def begin(self, name: str) -> None:
        """Begin a reply, or the next step of one that has the same name."""
        self.close()
        self._text_at = None
        if self._label is None or name != self._name:
            self._label, self._name = Label(name, "model"), name
            self._seconds = 0.0
            self.source = []
            self._append(self._label)

    def text(self, delta: str) -> None:
        """Take text; it is drawn later."""
        self._end_thinking()
        if self._text_at is None:
            self._text_at = (len(self._flow.blocks), len(self.source))
        self.source.append(delta)
        self._pending.append(delta)

    def reasoning(self, delta: str) -> None:
        """Take thinking; it is drawn later."""
        if self._thinking is None:
            self._finish_text()
            self._thinking = Thinking(self._symbols)
            self._since = self._clock()
            self._append(self._thinking)
        self._thinking.add(delta)

    def text_was_thinking(self) -> None:
        """Take back the text of this step: it turns out to be thinking, and comes again as such."""
        self._pending.clear()
        self._stream = self._tail = None
        if self._text_at is not None:
            blocks, said = self._text_at
            self._flow.truncate(blocks)
            del self.source[said:]
            self._text_at = None

    def took(self, seconds: float) -> None:
        """Add the time of a step to the reply's label."""
        self._seconds += seconds
        if self._label is not None:
            self._label.right = units.duration(self._seconds * 1000)
            self._label.width = 0

    def draw(self) -> None:
        """Put what has come since the last time into the flow."""
        if self._thinking is not None:
            self._thinking.seconds = self._clock() - self._since
            self._thinking.width = 0
        if self._pending:
            text = "".join(self._pending)
            self._pending.clear()
            if self._stream is None:
                self._markdown = self._markdown or Markdown()
                self._stream = MarkdownStream(self._markdown)
            self._stream.feed(text)
            self._place(self._stream)

    def close(self) -> None:
        """End the text and the thinking that are being written."""
        self._end_thinking()
        self._finish_text()

    def forget(self) -> None:
        """End the reply: the next one gets a label of its own."""
        self.close()
        self._label = None

    def reset(self) -> None:
        """Drop everything, for a flow that was emptied."""
        self._pending.clear()
        self._stream = self._tail = self._thinking = self._label = self._text_at = None
        self.source = []

    def _end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.running = False
            self._thinking.seconds = self._clock() - self._since
            self._thinking.width = 0
            self._thinking = None

    def _finish_text(self) -> None:
        self.draw()
        if self._stream is not None:
            self._stream.end()
            self._place(self._stream)
            self._stream = self._tail = None

    def _place(self, stream: MarkdownStream) -> None:
        """Put finished blocks and the tail of the stream at the end of the flow."""
        flow = self._flow
        finished, tail = stream.take(), stream.tail
        if self._tail is not None and flow.blocks and flow.blocks[-1] is self._tail:
            flow.truncate(len(flow.blocks) - 1)
        for block in finished:
            self._append(block)
        if tail is not None:
            self._append(tail)
        self._tail = tail
