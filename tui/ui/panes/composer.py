"""The composer: where a message is written. Several lines, a history, and pastes of any size."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.core.text import clean
from tui.ui.actions import Context, KeysOf, of_context
from tui.ui.bindings import bindings_of
from tui.ui.keys_in_order import act_at_once
from tui.ui.panes.pastes import Pastes

MAX_ROWS = 8
MAX_HISTORY = 500


class Composer(TextArea):
    """A text area that grows with its text up to `MAX_ROWS` lines."""

    DEFAULT_CSS = "Composer { height: 1; border: none; padding: 0; }"

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.COMPOSER)

    class Sent(Message):
        """The person sent the message.

        Attributes:
            text: the message, every paste in full.
        """

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, keys: KeysOf | None = None) -> None:
        super().__init__(id="composer", compact=True, highlight_cursor_line=False, placeholder="Ask anything")
        self.set_reactive(TextArea.cursor_blink, False)
        self._doing = _actions_of_keys(keys)
        self.pastes = Pastes()
        self._history: list[str] = []
        self._place = 0
        self._draft = ""

    # ---- what the app asks ----

    def take(self) -> str:
        """Return the message with every paste in full, empty the composer and remember the message."""
        written = self.text
        if not written.strip():
            return ""
        if not self._history or self._history[-1] != written:
            self._history.append(written)
            del self._history[:-MAX_HISTORY]
        self._place = len(self._history)
        self._draft = ""
        self.load_text("")
        return self.pastes.expand(written).strip("\n")

    def put_back(self, text: str) -> None:
        """Put a message that was not sent before what is written now."""
        text = self.pastes.keep(text) if Pastes.is_big(text) else text
        rest = self.text
        self.show(f"{text}\n{rest}" if rest.strip() else text)

    def show(self, text: str) -> None:
        """Replace what is written and go to its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    @property
    def is_blank(self) -> bool:
        """Whether nothing is written."""
        return self.document.line_count == 1 and not self.document.get_line(0)

    @property
    def rows_wanted(self) -> int:
        """How many rows it needs to show its text."""
        return max(1, min(MAX_ROWS, self.wrapped_document.height))

    # ---- keys ----

    async def _on_key(self, event: events.Key) -> None:
        """Act on a key at once: Textual's editing keys and ours."""
        await act_at_once(self, event, self._doing, super()._on_key)

    def action_send(self) -> None:
        """Send the message."""
        if text := self.take():
            self.post_message(self.Sent(text))

    # ---- history ----

    def action_older(self) -> None:
        """Go up a row; in the first one, bring back the message before."""
        if not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif self._place > 0:
            if self._place == len(self._history):
                self._draft = self.text
            self._place -= 1
            self.show(self._history[self._place])

    def action_newer(self) -> None:
        """Go down a row; in the last one, go towards the newest message and what was being written."""
        if not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif self._place < len(self._history):
            self._place += 1
            at_end = self._place == len(self._history)
            self.show(self._draft if at_end else self._history[self._place])

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

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
            lines = self.document
            (top, left), (bottom, right) = edit.top, edit.bottom
            empty = edit.top == edit.bottom
            left = self.pastes.widen(lines.get_line(top), left, to_end=empty)
            right = self.pastes.widen(lines.get_line(bottom), right, to_end=True)
            if ((top, left), (bottom, right)) != (edit.top, edit.bottom):
                edit = Edit(edit.text, (top, left), (bottom, right), edit.maintain_selection_offset)
        return super().edit(edit)

    def on_text_area_changed(self) -> None:
        """Grow or shrink with the text."""
        self.fit()

    def on_resize(self) -> None:
        """Another width wraps the text into another number of rows."""
        self.fit()

    def fit(self) -> None:
        """Take as many rows as the text needs; a layout happens only when that number changes."""
        rows = self.rows_wanted
        height = self.styles.height
        if height is None or height.value != rows:
            self.styles.height = rows


def _actions_of_keys(keys: KeysOf | None) -> dict[str, str]:
    """Return what each key does in the composer: Textual's editing keys, ours over them."""
    doing = {
        binding.key: binding.action
        for binding in Binding.make_bindings(TextArea.BINDINGS)
        if len(binding.key) > 1
    }
    for found in of_context(Context.COMPOSER):
        chosen = keys.keys_of(found) if keys is not None else found.keys
        for key in found.keys.split(","):
            doing.pop(key, None)
        doing.update(dict.fromkeys(chosen.split(","), found.method))
    return doing
