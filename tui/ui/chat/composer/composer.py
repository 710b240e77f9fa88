"""The composer: the user's message, with history, completion, attachments and pastes of any size."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.core.language.translate import N_, _
from tui.core.text import clean
from tui.ui.chat.composer.completion import MOST, Completion, CompletionKind, completion_at
from tui.ui.chat.composer.history import HistorySearch, InputHistory
from tui.ui.chat.composer.pastes import BEHIND, Pastes, Reference, Written
from tui.ui.keys.action_table import Context, action, of_context
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.platform.key_order import actions_of
from tui.ui.platform.textual_internals import paint_first
from tui.ui.widgets.bar import Box
from tui.ui.widgets.inputs import LinesField

if TYPE_CHECKING:  # not needed for the first frame
    from tui.ui.chat.composer.suggestions import Suggestion

PLACEHOLDER = N_("Ask anything   / commands   @ attach")
MAX_ROWS = 8


class Composer(LinesField):
    """A text area that grows with its text, up to `MAX_ROWS` lines, with suggestions in a box above it."""

    DEFAULT_CSS = "Composer { height: 1; border: none; padding: 0; }"

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.COMPOSER)

    WRITES_FIRST = True
    """Keys for other widgets wait until earlier keys are written here."""

    class Sent(Message):
        """A message was sent; `now` means to steer with it instead of sending it after the turn."""

        def __init__(self, written: Written, *, now: bool = False) -> None:
            super().__init__()
            self.written = written
            self.now = now

    def __init__(self, keys: KeyOverrides, box: Box) -> None:
        super().__init__(id="composer", compact=True, highlight_cursor_line=False, placeholder=_(PLACEHOLDER))
        self.doing = _actions_of_keys(keys)
        self.pastes = Pastes()
        self.most_rows = MAX_ROWS
        self.earlier = InputHistory()
        self.holding = False  # whether messages are queued
        self._typed = ""
        self.completing = Completion(box)
        self.searching = HistorySearch(box, self.earlier, self.show, keys)

    @property
    def caret(self) -> Offset | None:
        """The place on the screen of the caret of an open search; None for the composer's own."""
        return self.searching.caret

    def take_written(self) -> Written | None:
        """Return the message, clear the composer and add the message to the history; None if it is blank."""
        self._attach_typed()
        shown = self.text
        if not shown.strip():
            return None
        self.earlier.add(shown)
        self.load_text("")
        self.completing.close()
        return Written(self.pastes.expand(shown).strip("\n").rstrip(), shown, self.pastes.references(shown))

    def send_foreign(self, text: str, *references: Reference) -> None:
        """Send text of a server as a message, never parsed as a command or token; the draft stays."""
        shown = self.foreign(text, references)
        self.post_message(self.Sent(Written(self.pastes.expand(shown), shown, self.pastes.references(shown))))

    def show(self, text: str) -> None:
        """Replace the text and go to its end, without suggestions."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._not_typed()

    def put_back(self, text: str) -> None:
        """Insert a message that was not sent before the text."""
        if Pastes.is_big(text) and not any(self.pastes.spans(text)):
            text = self.pastes.keep(text)
        rest = self.text
        self.show(f"{text}\n{rest}" if rest.strip() else text)

    def put_foreign(self, text: str, *references: Reference) -> None:
        """Insert text of a server before the text, never parsed as command or token, for the user to read."""
        self.put_back(self.foreign(text, references))

    def foreign(self, text: str, references: Iterable[Reference]) -> str:
        """Return text of a server with its attachments, never parsed as command or token."""
        tokens = "".join(f"{self.pastes.refer(reference)} " for reference in references)
        return tokens + (self.pastes.keep(text) if Pastes.is_big(text) else Pastes.plain(text))

    def attach(self, *references: Reference) -> None:
        self.insert("".join(f"{self.pastes.refer(reference)} " for reference in references))

    @property
    def is_blank(self) -> bool:
        return self.document.line_count == 1 and not self.document.get_line(0)

    @property
    def rows_wanted(self) -> int:
        return max(1, min(self.most_rows, MAX_ROWS, self.wrapped_document.height))

    def edit(self, edit: Edit) -> EditResult:
        """Edit the text. A token is deleted as a whole and never changed."""
        if self.pastes:
            (top, left), (bottom, right) = edit.top, edit.bottom
            empty = edit.top == edit.bottom
            left = self.pastes.widen(self._line(top), left, to_end=empty)
            right = self.pastes.widen(self._line(bottom), right, to_end=True)
            if ((top, left), (bottom, right)) != (edit.top, edit.bottom):
                edit = Edit(edit.text, (top, left), (bottom, right), edit.maintain_selection_offset)
        return super().edit(edit)

    def _line(self, row: int) -> str:
        """Return a line; "" after the last one, where deleting the last line ends."""
        return self.document.get_line(row) if row < self.document.line_count else ""

    def on_resize(self) -> None:
        self.call_next(self.fit)  # once Textual has wrapped the text for the new width

    def fit(self) -> None:
        """Set the height for the text; requests a layout only if the height changes."""
        rows = self.rows_wanted
        height = self.styles.height
        if height is None or height.value != rows:
            self.styles.height = rows

    async def _on_key(self, event: events.Key) -> None:
        if self.searching.is_open and self._search_key(event):
            event.stop()
            event.prevent_default()
            return
        if event.key == "space":
            self._attach_typed()
        await super()._on_key(event)
        if self.rows_wanted == self.size.height:
            paint_first(self)
        letter = event.character if event.is_printable else None
        self._typed = f"{self._typed}{letter}"[-MOST:] if letter else ""
        self._look()

    async def action_send(self) -> None:
        self._look()
        target = self.completing.target
        is_reference = target is not None and target.what is CompletionKind.REFERENCE
        if is_reference and not await self.completing.settled():  # a suggestion that was not selected counts
            return
        one = self.completing.marked
        if one is None or self._complete(one):
            self._send(now=False)

    def action_steer(self) -> None:
        self._send(now=True)

    def _send(self, *, now: bool) -> None:
        if (written := self.take_written()) is not None:
            self.post_message(self.Sent(written, now=now))
        elif now and self.holding:
            self.post_message(self.Sent(Written("", ""), now=True))

    async def action_complete(self) -> None:
        """Accept the selected or first suggestion, or complete the name of a tool, or focus the next pane.

        Later keys also wait while the suggestions are loading, except the key that cancels.
        """
        self._look()
        if not await self.completing.settled():
            return
        row, column = self.selection.end
        if (one := self.completing.best) is not None:
            self._complete(one)
        elif tools := self.completing.offer_tools(self.document.get_line(row), column):
            if len(tools) == 1:
                self._complete(tools[0])
        elif not self.completing.is_awaited:
            self.screen.focus_next()

    async def action_drop(self) -> None:
        """Drop the last queued message if the composer is blank, otherwise cut."""
        if self.is_blank and self.holding:
            await self.app.run_action("app.act('composer.drop')")
        else:
            self.action_cut()

    def leave(self) -> bool:
        """Close the search or the list; return whether one was open."""
        return self.searching.leave() or self.completing.leave()

    def _look(self) -> None:
        if self.searching.is_open:
            return
        (row, column) = self.selection.end
        line = self.document.get_line(row)
        if self.selection.is_empty and self.pastes.widen(line, column, to_end=True) == column:
            self.completing.look(line, column, is_first=row == 0)

    def _complete(self, one: "Suggestion") -> bool:
        """Replace the word with a suggestion; return whether that completes the message."""
        if (place := self.completing.target) is None:
            return False
        row, column = self.selection.end
        text = f"{self.pastes.refer(one.reference)} " if one.reference is not None else one.text
        self.replace(text, (row, place.start), (row, column), maintain_selection_offset=False)
        self.move_cursor((row, place.start + len(text)))
        self._look()
        return one.runs or (one.reference is not None and one.name == place.query)

    def choose(self, index: int) -> None:
        if self.searching.is_open:
            self.searching.take(index)
        elif (one := self.completing.at(index)) is not None:
            self._complete(one)
        self.focus()

    def _attach_typed(self) -> None:
        """Convert a completely typed file name to a token; pasted names attach nothing."""
        row, column = self.selection.end
        line = self.document.get_line(row)
        place = completion_at(line, column, is_first=row == 0) if self.selection.is_empty else None
        if (
            place is None
            or place.what is not CompletionKind.REFERENCE
            or not self._typed.endswith(f"@{place.query}")
        ):
            return
        names = place.query, place.query.rstrip(BEHIND)
        if name := next(filter(self.completing.sources.names_file, names), ""):
            text = self.pastes.refer(Reference.to_file(name)) + place.query[len(name) :]
            self.replace(text, (row, place.start), (row, column), maintain_selection_offset=False)
            self.move_cursor((row, place.start + len(text)))

    def search(self) -> None:
        self.completing.close()
        self.searching.begin(self.text)

    def _search_key(self, event: events.Key) -> bool:
        """Handle a key of the search; return False if the key ends the search, and then acts as usual."""
        doing = self.doing.get(event.key, "")
        match doing or event.key:
            case "app.act('composer.history')" | "older":
                self.searching.step(1)
            case "newer":
                self.searching.step(-1)
            case "send" | "complete":
                self.searching.take()
            case "delete_left" | "backspace":
                self.searching.erase()
            case _ if event.is_printable and event.character and not doing:
                self.searching.write(event.character)
            case _:
                self.searching.take()
                return False
        return True

    async def action_older(self) -> None:
        """Go up a row or a suggestion; in the first row, recall the previous message."""
        if self.completing.is_open:
            await self.completing.step(-1)
        elif not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif self.holding and self.is_blank and self.earlier.at_end:
            await self.app.run_action(action("composer.take_back").method)
        elif (text := self.earlier.older(self.text)) is not None:
            self.show(text)

    async def action_newer(self) -> None:
        """Go down a row or a suggestion; in the last row, recall the next message."""
        if self.completing.is_open:
            await self.completing.step(1)
        elif not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif (text := self.earlier.newer()) is not None:
            self.show(text)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if self.searching.is_open:
            self.searching.write(event.text)
            return
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self.pastes.keep(text) if Pastes.is_big(text) else clean(text)
        if not self.read_only:
            result = self.replace(shown, *self.selection, maintain_selection_offset=False)
            self.move_cursor(result.end_location)
            self.focus()
        self._not_typed()

    def _not_typed(self) -> None:
        self._typed = ""
        self._look()
        self.completing.leave()

    def on_blur(self) -> None:
        self.leave()

    def on_text_area_changed(self) -> None:
        self.fit()
        self._look()


def _actions_of_keys(keys: KeyOverrides) -> dict[str, str]:
    doing = actions_of(TextArea.BINDINGS)
    for found in of_context(Context.COMPOSER):
        chosen = keys.keys_of(found)
        for key in found.keys.split(","):
            doing.pop(key, None)
        doing.update(dict.fromkeys(chosen.split(","), found.method))
    return doing
