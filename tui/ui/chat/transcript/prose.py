"""The blocks of a reply: Markdown, code, thinking."""

from collections.abc import Sequence

from tui.core import units
from tui.core.text import clean
from tui.ui.chat.transcript import code
from tui.ui.chat.transcript.blocks import PIECE, guess, measure
from tui.ui.chat.transcript.flow import Block
from tui.ui.chat.transcript.markdown import Markdown
from tui.ui.widgets.rows import Row, wrap
from tui.ui.widgets.symbols import Symbols


class Prose(Block):
    """Markdown of a reply: one finished block, or the tail that still grows.

    Attributes:
        text: the source, cleaned.
    """

    __slots__ = ("_head_rows", "_markdown", "text")

    def __init__(self, markdown: Markdown, text: str, *, gap: int = 1, headless: bool = False) -> None:
        """Make a block of a reply.

        Args:
            markdown: the parser.
            text: the source, cleaned.
            gap: empty rows above; 0 for the rest of a block that was cut.
            headless: the source is the rest of a table, under a copy of its head that is not shown.
        """
        super().__init__(gap)
        self._markdown = markdown
        self._head_rows = 2 if headless else 0
        self.text = text
        self.height = gap + guess(text)

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the rows of the source."""
        rows = self._markdown.rows(self.text, measure(width)) if self.text.strip() else []
        return rows[self._head_rows :]


class Code(Block):
    """A fenced block of a reply, or a slice of a long one.

    While it grows only the last lines are coloured again; closed, it is coloured as a whole.

    Attributes:
        language: the name on the fence, cleaned.
        lines: the complete lines.
        partial: the line that is still being written.
        closed: no more lines come.
    """

    __slots__ = ("_continued", "_kept", "closed", "language", "lines", "partial")
    SLICE = 30
    MAX_LINES = 120

    def __init__(self, language: str, *, continued: bool = False) -> None:
        super().__init__(gap=0 if continued else 1)
        self.language = language
        self.lines: list[str] = []
        self.partial = ""
        self.closed = False
        self._continued = continued
        self._kept: list[Row] = []

    @property
    def full(self) -> bool:
        """Whether the next line belongs to another block."""
        return len(self.lines) >= self.MAX_LINES or sum(map(len, self.lines)) > PIECE

    def close(self) -> None:
        """No more lines come."""
        self.closed = True
        self.partial = ""
        self._kept = []
        self.width = 0

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the coloured lines under the name of the language."""
        columns = measure(width)
        head = [] if self._continued else code.title(self.language, columns)
        return head + code.panel(self._coloured(), columns)

    def _coloured(self) -> list[Row]:
        if self.closed:
            return code.highlighted(self.lines, self.language)
        while len(self.lines) - len(self._kept) >= self.SLICE:
            start = len(self._kept)
            self._kept += code.highlighted(self.lines[start : start + self.SLICE], self.language)
        rows = self._kept + code.highlighted(self.lines[len(self._kept) :], self.language)
        return rows + code.highlighted([self.partial], self.language) if self.partial else rows


class Thinking(Block):
    """The reasoning of a model: one row, the text under it on request.

    Attributes:
        seconds: how long the model has thought; None if nobody knows any more.
        running: it still does.
    """

    __slots__ = (
        "_done",
        "_kept",
        "_kept_width",
        "_lines",
        "_partial",
        "_symbols",
        "open",
        "running",
        "seconds",
    )

    def __init__(self, symbols: Symbols) -> None:
        super().__init__()
        self._symbols = symbols
        self._lines: list[str] = []
        self._partial = ""
        self._kept: list[Row] = []
        self._kept_width = self._done = 0
        self.seconds: float | None = 0.0
        self.running = True
        self.open = False

    def add(self, text: str) -> None:
        """Add raw text."""
        *complete, self._partial = (self._partial + text).split("\n")
        self._lines += [clean(line) for line in complete]
        while len(self._partial) > PIECE:
            self._lines.append(clean(self._partial[:PIECE]))
            self._partial = self._partial[PIECE:]

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the row, and if it is open the text."""
        columns = measure(width)
        marker = self._symbols.unfolded if self.open else self._symbols.folded
        word = "thinking" if self.running else "thought"
        time = "" if self.seconds is None else f" for {units.duration(self.seconds * 1000)}"
        head: Row = ((word, "dim italic"), (time, "dim"), (f"  {marker}", "dim"))
        return [head, *self._text_rows(columns)] if self.open else [head]

    def _text_rows(self, width: int) -> list[Row]:
        if self._kept_width != width:
            self._kept, self._kept_width, self._done = [], width, 0
        for line in self._lines[self._done :]:
            self._kept += self._quoted(line, width)
        self._done = len(self._lines)
        return self._kept + (self._quoted(clean(self._partial), width) if self._partial else [])

    @staticmethod
    def _quoted(text: str, width: int) -> list[Row]:
        bar: Row = (("▎ ", "rule aside"),)
        lines = text.expandtabs(4).split("\n")
        return [row for line in lines for row in wrap(((line, "dim"),), width, first=bar, rest=bar)]

    def targets(self) -> Sequence[int]:
        """The first row opens and closes the text."""
        return (0,)
