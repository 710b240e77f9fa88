"""The blocks of a conversation, and short descriptions of what is not text in them."""

from collections.abc import Iterable, Iterator, Sequence

from tui.core import units
from tui.core.attachments import described
from tui.core.conversation.conversation import Attachment, ToolMessage
from tui.core.events import call_end, call_word
from tui.core.language.restored import restored, restored_lines
from tui.core.language.translate import N_, Message, _, localized, n_
from tui.core.text import clean, clean_line, preview, truncated
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult
from tui.runtime.example_questions import Example
from tui.ui.chat.transcript.flow import Block
from tui.ui.widgets import code, times
from tui.ui.widgets.bar import key_hints
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, spread, width_of, wrap
from tui.ui.widgets.symbols import symbols_for

TEXT_COLUMNS = 100
WELCOME_COLUMNS = 72
USER_LINES = 40  # a longer user message is collapsed
USER_HEAD = 12
BAR = ("▌ ", "accent aside on panel")  # bar at the left of a user message
NOTE_CHARS = 4000  # a longer note of mcptui is truncated
PIECE = 8 * 1024  # maximum characters to parse or wrap at once


_KINDS = {"image": N_("image"), "audio": N_("audio"), "blob": N_("blob")}


def listed(*texts: str) -> str:
    """Return short texts as one, except empty ones: "text/plain, 3 kB"."""
    return _(", ").join(filter(None, texts))


def more_characters(number: int) -> str:
    """Return how much of a text is not shown."""
    characters = units.count(number)
    return n_(
        "… {characters} more character", "… {characters} more characters", number, characters=characters
    )


def in_words(text: str) -> str:
    """Return a text of mcptui in the user's language: a message, a text of a table, or one that was saved."""
    if isinstance(text, Message):
        return localized(text)
    return said if (said := _(text)) != text else restored(text)


def outcome_words(text: str, state: str, *, brief: bool = False) -> str:
    """Return the result of a call that did not run, or did not end, which is mcptui's own.

    `state` is the word with which it may begin. `brief`: without it.
    """
    reason = text.removeprefix(f"{state}: ")
    if brief or reason == text:
        return in_words(reason)
    return _("{where}: {problem}", where=_(state), problem=in_words(reason))


def end_text(text: str, why: str, state: str) -> str:
    """Return the result of a call with this `state` of `outcome`. A failure with a `why` is mcptui's text."""
    return restored_lines(text) if why and state == "failed" else text


def measure(width: int) -> int:
    """Return how many columns of a width the text uses; lines longer than 100 are hard to read."""
    return min(width, TEXT_COLUMNS)


def fold_sign(*, open: bool) -> str:
    """Return the sign of what can be expanded, or collapsed if it is `open`."""
    return symbols_for().unfolded if open else symbols_for().folded


def guess(text: str) -> int:
    """Estimate the number of rows of a text."""
    return text.count("\n") + len(text) // TEXT_COLUMNS + 1


def pieces(text: str) -> list[str]:
    """Cut a text into pieces of at most `PIECE` characters, at line ends if possible."""
    found = []
    start = 0
    while len(text) - start > PIECE:
        end = text.rfind("\n", start, start + PIECE)
        if end <= start:
            found.append(text[start : start + PIECE])
            start += PIECE
        else:
            found.append(text[start:end])
            start = end + 1
    found.append(text[start:])
    return found


def user_blocks(text: str, attached: Sequence[str], at: str = "") -> list[Block]:
    """Return the blocks of a user message and its attachments; the rest of a long text is collapsed."""
    shown = text.replace("\r\n", "\n").strip("\n")
    rest = ""
    if shown.count("\n") >= USER_LINES or len(shown) > USER_LINES * TEXT_COLUMNS:
        head = "\n".join(shown.split("\n", USER_HEAD)[:USER_HEAD])[: USER_HEAD * TEXT_COLUMNS]
        shown, rest = head, shown[len(head) :].removeprefix("\n")
    blocks: list[Block] = [Question(text, shown, at, attached=() if rest else attached)]
    if rest:
        blocks.append(Fold(rest))
        blocks += [Plain(f"@ {words}", style="dim", barred=True) for words in attached]
    return blocks


def barred(rows: Iterable[Row], width: int) -> list[Row]:
    """Return the rows of a user message: with a bar and a background, as wide as the pane.

    `rows` are narrower by 2.
    """
    shaded = (((text, f"{style} on panel") if text else (text, style) for text, style in row) for row in rows)
    return [pad((BAR, *row), width, "on panel") for row in shaded]


class Question(Block):
    """A user message: the uncleaned text `said`, its visible part `shown`, and the time at the right end.

    Selecting it selects the whole message.
    """

    targets = (0,)

    def __init__(self, said: str, shown: str, at: str = "", *, attached: Sequence[str] = ()) -> None:
        super().__init__()
        self.said = said
        self._shown = shown
        self._attached = attached
        self._at = at
        self.height = 1 + guess(shown) + len(attached)

    def wrap(self, width: int) -> Sequence[Row]:
        columns = measure(width) - width_of((BAR,)) - 1
        time: Row = ((self._at, "dim aside"),) if self._at else EMPTY
        room = columns - width_of(time) - 2 if time else columns
        lines = [line for line in clean(self._shown).expandtabs(4).split("\n") if line or self._shown]
        rows = [row for line in lines for row in wrap(((line, "text"),), max(1, room))]
        rows += [crop(((f"@ {words}", "dim"),), max(1, room)) for words in self._attached]
        first = spread(rows[0] if rows else EMPTY, time, columns) if time else (rows or [EMPTY])[0]
        return barred([first, *rows[1:]], width)


class Signature(Block):
    """The end of a reply: the model's label and the duration. Selecting it selects the whole reply."""

    targets = (0,)

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(gap=0)
        self._name = name
        self._seconds = seconds

    def wrap(self, width: int) -> Sequence[Row]:
        time = f"   {times.duration(self._seconds * 1000)}" if self._seconds else ""
        return [spread(EMPTY, ((f"{self._name}{time}", "dim"),), measure(width))]


Label = Question | Signature
"""The block by which a message is selected."""


class Plain(Block):
    """Literal, uncleaned text of at most `PIECE` characters, wrapped. `barred`: a part of a user message."""

    def __init__(self, text: str, *, style: str = "text", gap: int = 0, barred: bool = False) -> None:
        super().__init__(gap)
        self._text = text
        self._style = style
        self._barred = barred
        self.height = gap + guess(text)

    def wrap(self, width: int) -> Sequence[Row]:
        """Return the wrapped lines. Cleans the text only now, because most of a large text is never shown."""
        lines = clean(self._text).expandtabs(4).split("\n")
        columns = measure(width) - width_of((BAR,)) * self._barred
        rows = [row for line in lines for row in wrap(((line, self._style),), max(1, columns))]
        return barred(rows, width) if self._barred else rows


class Fold(Block):
    """The rest of a long user message, not cleaned, collapsed to one row."""

    targets = (0,)

    def __init__(self, rest: str) -> None:
        super().__init__(gap=0)
        self._rest = rest

    def wrap(self, width: int) -> Sequence[Row]:
        lines = self._rest.count("\n") + 1
        amount = n_("{lines} more line", "{lines} more lines", lines, lines=units.exact(lines))
        if lines == 1:
            amount = _("{characters} more characters", characters=units.count(len(self._rest)))
        return barred([((f"{symbols_for().folded} ", "accent"), (amount, "dim"))], width)

    def unfolded(self) -> list[Block]:
        return [Plain(piece, barred=True) for piece in pieces(self._rest)]


class Summary(Block):
    """The summary that replaces the oldest messages for the model: one row, and its text if `open`."""

    targets = (0,)

    def __init__(self, words: str, text: str) -> None:
        super().__init__()
        self.words = words
        self._text = text
        self.open = False

    def wrap(self, width: int) -> Sequence[Row]:
        columns = measure(width)
        marker = fold_sign(open=self.open)
        head: Row = ((f"{marker} ", "accent aside"),)
        rows = wrap(((self.words, "dim"),), columns, first=head)
        if not self.open:
            return rows
        return rows + _quoted(preview(self._text).text or _("(nothing)"), columns)


class Note(Block):
    """A line by mcptui: a limit, an error with its next step, a notice.

    The text need not be clean. A message is shown in the user's language.
    """

    def __init__(self, text: str, kind: str) -> None:
        super().__init__()
        self._text = truncated(clean(localized(text)).strip("\n"), NOTE_CHARS)
        self._kind = kind

    def wrap(self, width: int) -> Sequence[Row]:
        symbols = symbols_for()
        signs = {"warn": symbols.warning, "bad": symbols.failed}
        style = self._kind if self._kind in signs else "dim"
        other = symbols.waiting if self._kind == "wait" else symbols.separator
        sign = signs.get(self._kind, other)
        rows: list[Row] = []
        for line in self._text.expandtabs(4).split("\n"):
            first: Row = ((f"{sign} ", style),) if not rows else (("  ", ""),)
            body = "text" if self._kind in signs else "dim"
            rows += wrap(((line, body),), measure(width), first=first, rest=(("  ", ""),))
        return rows


class Welcome(Block):
    """Content of an empty conversation, centered: a few lines, example questions, a few keys."""

    def __init__(
        self,
        lines: Sequence[str],
        examples: Sequence[Example],
        keys: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(gap=0)
        self._lines = lines
        self._keys = keys
        self.targets: Sequence[int] = ()
        self.examples = examples
        self.notes: list[Block] = []  # mcptui's notes before the first message
        self.room = 0  # available rows, so that the text is a little above the middle

    def wrap(self, width: int) -> Sequence[Row]:
        columns = min(measure(width), WELCOME_COLUMNS)
        indent: Row = ((" " * ((width - columns) // 2), ""),)
        rows: list[Row] = []
        for number, line in enumerate(self._lines):
            style = "text bold" if number == 0 else "dim"
            rows += [(*indent, *row) for row in wrap(((line, style),), columns)]
        if self.examples:
            rows.append(EMPTY)
        starts = []
        for example in self.examples:
            starts.append(len(rows))
            rows += [(*indent, *row) for row in self._example(example, columns)]
        if self._keys:
            hints = key_hints(self._keys)
            rows += [EMPTY, *((*indent, *row) for row in wrap(hints, columns))]
        for note in self.notes:
            rows += [EMPTY, *((*indent, *row) for row in note.wrap(columns))]
        above = max(0, (self.room - len(rows)) * 2 // 5)
        self.targets = [above + start for start in starts]
        return [EMPTY] * above + rows

    def _example(self, example: Example, columns: int) -> Sequence[Row]:
        question: Row = ((f"{symbols_for().within} ", "dim"), (example.question, "text"))
        tool: Row = ((example.tool, "tool"),)
        if width_of(question) + 3 + width_of(tool) <= columns:
            return [spread(question, tool, columns)]
        return wrap(question, columns, rest=(("  ", ""),))


class Prose(Block):
    """Markdown of a reply: a finished block, or the growing tail. It is cleaned when it becomes visible.

    A `headless` block is the rest of a table, rendered with a copy of its head that is not shown.
    """

    def __init__(self, markdown: Markdown, text: str, *, gap: int = 1, headless: bool = False) -> None:
        super().__init__(gap)
        self._markdown = markdown
        self._head_rows = 2 if headless else 0
        self.text = text
        self.height = gap + guess(text)

    def wrap(self, width: int) -> Sequence[Row]:
        self.text = clean(self.text)
        rows = self._markdown.rows(self.text, measure(width)) if self.text.strip() else []
        return rows[self._head_rows :]


class Code(Block):
    """A fenced code block of a reply, or a slice of a long one.

    While it grows, only its last lines are highlighted again. Once closed, it is highlighted as a whole.
    `lines` are complete, `partial` is the incomplete last line.
    """

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
        """Whether the block is full, so that the next line starts another one."""
        return len(self.lines) >= self.MAX_LINES or sum(map(len, self.lines)) > PIECE

    def close(self) -> None:
        self.closed = True
        self.partial = ""
        self._kept = []
        self.width = 0

    def wrap(self, width: int) -> Sequence[Row]:
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
    """The reasoning of a model: one row, followed by its text if `open`. `seconds` is None if unknown."""

    targets = (0,)

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._partial = ""
        self._kept: list[Row] = []
        self._kept_width = self._done = 0
        self.seconds: float | None = 0.0
        self.running = True
        self.open = False

    def add(self, text: str) -> None:
        *complete, self._partial = (self._partial + text).split("\n")
        self._lines += [clean(line) for line in complete]
        while len(self._partial) > PIECE:
            self._lines.append(clean(self._partial[:PIECE]))
            self._partial = self._partial[PIECE:]

    def wrap(self, width: int) -> Sequence[Row]:
        columns = measure(width)
        marker = fold_sign(open=self.open)
        word = _("thinking") if self.running else _("thought")
        time = ""
        if self.seconds is not None:
            time = " " + _("for {time}", time=times.duration(self.seconds * 1000))
        head: Row = ((word, "dim italic"), (time, "dim"), (f"  {marker}", "dim aside"))
        return [head, *self._text_rows(columns)] if self.open else [head]

    def _text_rows(self, width: int) -> list[Row]:
        if self._kept_width != width:
            self._kept, self._kept_width, self._done = [], width, 0
        for line in self._lines[self._done :]:
            self._kept += _quoted(line, width)
        self._done = len(self._lines)
        return self._kept + (_quoted(clean(self._partial), width) if self._partial else [])


def _quoted(text: str, width: int) -> list[Row]:
    bar: Row = (("▎ ", "rule aside"),)
    lines = text.expandtabs(4).split("\n")
    return [row for line in lines for row in wrap(((line, "dim"),), width, first=bar, rest=bar)]


def pieces_of(result: ToolResult) -> Iterator[str]:
    """Yield descriptions of a result's parts besides text: "PNG image, 640 × 480, 34 kB"."""
    for item in result.content:
        match item:
            case BinaryContent(kind, mime, size, data, uri):
                yield _binary(kind, mime, size, data, uri)
            case LinkContent(uri, name, _):
                shown = "  ".join(filter(None, (clean_line(name, 60), clean_line(uri, 200))))
                yield f"{_('link')}   {shown}"
            case ResourceContent(uri, mime, text):
                said = clean_line(mime, 60) or _("text")
                about = listed(said, units.size(len(text)))
                yield f"{_('resource')}   {clean_line(uri, 200)}  {about}"


def attachment_words(attachment: Attachment) -> str:
    """Return a description of an attachment: its name, type and size."""
    name = clean_line(attachment.name, 120)
    if attachment.kind == "text":
        kind = clean_line(attachment.mime, 60) or _("text")
        what = listed(kind, units.size(attachment.size))
    else:
        what = _binary(attachment.kind, attachment.mime, attachment.size, attachment.data, "")
    return f"{name}   {what}" if name else what


def _binary(kind: str, mime: str, size: int, data: str, name: str) -> str:
    """Describe a binary part. Its first bytes take precedence over its declared type."""
    what = localized(described(data)) or listed(_(_KINDS.get(kind, kind)), clean_line(mime, 60))
    words = listed(what, units.size(size))
    return f"{words}   {clean_line(name, 120)}" if name else words


def outcome(why: str, is_error: bool, warning: str = "") -> tuple[str, str]:
    """Return the state of a call that has ended, and the note next to it.

    `why` is as in `ToolCallEnded`; `warning` is what the user should know about its result.
    """
    end = call_end(why, is_error)
    return "unsent" if end == "not run" else end, in_words(call_word(why, end)) or localized(warning)


def result_of(message: ToolMessage, whole: str = "") -> ToolResult:
    """Return the result in a message, as far as it is stored; `whole` is its complete text.

    What mcptui writes about a call that was cancelled, denied or not run is not an error of the tool.
    """
    state, _note = outcome(message.why, message.is_error)
    text = whole or message.text
    attached = tuple(
        BinaryContent("image" if one.kind == "image" else "audio", one.mime, one.size, one.data, one.name)
        for one in message.attachments
        if one.kind in ("image", "audio")
    )
    return ToolResult(
        (TextContent(text), *attached) if text else attached, is_error=message.is_error and state == "failed"
    )
