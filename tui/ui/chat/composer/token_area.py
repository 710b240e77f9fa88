"""A text area that grows with its text, and in which big pastes and attachments are tokens."""

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.core.text import clean
from tui.ui.chat.composer.pastes import Pastes
from tui.ui.chat.composer.references import Reference

MAX_ROWS = 8


class TokenArea(TextArea):
    """A text area as high as its text, up to `MAX_ROWS` lines.

    Attributes:
        pastes: what stands behind the tokens.
    """

    pastes: Pastes
    _most_rows = MAX_ROWS

    def limit_rows(self, rows: int) -> None:
        """Take at most so many rows, but one at least: a low terminal has other lines to show."""
        self._most_rows = max(1, min(MAX_ROWS, rows))
        self.fit()

    def show(self, text: str) -> None:
        """Replace what is written and go to its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def put_back(self, text: str) -> None:
        """Put a message that was not sent before what is written now."""
        if Pastes.is_big(text) and not any(self.pastes.spans(text)):
            text = self.pastes.keep(text)
        rest = self.text
        self.show(f"{text}\n{rest}" if rest.strip() else text)

    def put_foreign(self, text: str, *references: Reference) -> None:
        """Put text of a server before what is written: it is neither a command nor has it tokens.

        Args:
            text: to be read before it is sent.
            references: what goes with it.
        """
        tokens = "".join(f"{self.pastes.refer(reference)} " for reference in references)
        text = self.pastes.keep(text) if Pastes.is_big(text) else Pastes.plain(text)
        self.put_back(f"{tokens}{text}")

    def attach(self, *references: Reference) -> None:
        """Write the tokens of what is to be attached, where the cursor stands."""
        self.insert("".join(f"{self.pastes.refer(reference)} " for reference in references))

    @property
    def is_blank(self) -> bool:
        """Whether nothing is written."""
        return self.document.line_count == 1 and not self.document.get_line(0)

    @property
    def rows_wanted(self) -> int:
        """How many rows it needs to show its text."""
        return max(1, min(self._most_rows, self.wrapped_document.height))

    # ---- pastes ----

    async def _on_paste(self, event: events.Paste) -> None:
        """Insert what was pasted; a token if it is too large to be edited here."""
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self.pastes.keep(text) if Pastes.is_big(text) else clean(text)
        if result := self._replace_via_keyboard(shown, *self.selection):
            self.move_cursor(result.end_location)
            self.focus()

    def edit(self, edit: Edit) -> EditResult:
        """Edit the text; a token is deleted as a whole and never written into."""
        if self.pastes:
            (top, left), (bottom, right) = edit.top, edit.bottom
            empty = edit.top == edit.bottom
            left = self.pastes.widen(self._line(top), left, to_end=empty)
            right = self.pastes.widen(self._line(bottom), right, to_end=True)
            if ((top, left), (bottom, right)) != (edit.top, edit.bottom):
                edit = Edit(edit.text, (top, left), (bottom, right), edit.maintain_selection_offset)
        return super().edit(edit)

    def _line(self, row: int) -> str:
        """Return a line; "" behind the last one, where an edit that deletes the last line ends."""
        return self.document.get_line(row) if row < self.document.line_count else ""

    def on_resize(self) -> None:
        """Another width wraps the text into another number of rows."""
        self.fit()

    def fit(self) -> None:
        """Take as many rows as the text needs; a layout happens only when that number changes."""
        rows = self.rows_wanted
        height = self.styles.height
        if height is None or height.value != rows:
            self.styles.height = rows
