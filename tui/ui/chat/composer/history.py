"""The input history: recall with up and down, and search."""

from collections.abc import Callable, Iterable, Sequence

from textual.geometry import Offset

from tui.core.language.translate import _
from tui.core.matching import has_words
from tui.core.text import clean_line
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.bar import CARET, Box
from tui.ui.widgets.rows import Row, with_words

MOST = 1_000
"""Maximum messages."""


def is_remembered(text: str) -> bool:
    """Return whether the history may keep a message: not if it is an API key typed after its command."""
    return not (text.startswith("/key") and text[4:5].isspace())


class InputHistory:
    """Messages in the order in which they were written, and a position between them."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._place = 0
        self._draft = ""

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def at_end(self) -> bool:
        """Whether the composer shows a new message, not one of the history."""
        return self._place == len(self._texts)

    def add(self, text: str) -> None:
        """Append a message, unless it repeats the last one, or has an API key."""
        if self._texts[-1:] != [text] and is_remembered(text):
            self._texts.append(text)
            del self._texts[:-MOST]
        self._place = len(self._texts)
        self._draft = ""

    def begin_with(self, texts: Iterable[str]) -> None:
        from_end = len(self._texts) - self._place
        self._texts = [*texts, *self._texts][-MOST:]
        self._place = max(0, len(self._texts) - from_end)

    def older(self, draft: str) -> str | None:
        """Return the previous message, or None; `draft` is what the composer shows."""
        if self._place == 0:
            return None
        if self.at_end:
            self._draft = draft
        self._place -= 1
        return self._texts[self._place]

    def newer(self) -> str | None:
        if self.at_end:
            return None
        self._place += 1
        return self._draft if self.at_end else self._texts[self._place]

    def find(self, query: str, most: int = 100) -> list[str]:
        """Return the messages that contain the words of `query`, newest first, without duplicates."""
        found = dict.fromkeys(text for text in reversed(self._texts) if has_words(text, query))
        return list(found)[:most]


class HistorySearch:
    """A search of the history, like ctrl+r in a shell, with the matches in a list."""

    def __init__(
        self, box: Box, history: InputHistory, show: Callable[[str], None], keys: KeyOverrides
    ) -> None:
        self._box = box
        self._history = history
        self._put = show
        self._keys = keys
        self._query = ""
        self._draft = ""
        self._found: Sequence[str] = ()
        self._marked = 0
        self.is_open = False

    @property
    def caret(self) -> Offset | None:
        """The place on the screen of the caret of an open search."""
        return self._box.caret if self.is_open else None

    def begin(self, draft: str) -> None:
        self._draft, self._query, self.is_open = draft, "", True
        self._find()

    def write(self, letters: str) -> None:
        self._query += clean_line(letters) if letters != " " else " "
        self._find()

    def erase(self) -> None:
        self._query = self._query[:-1]
        self._find()

    def step(self, direction: int) -> None:
        """Select an older message (1) or a newer one (-1)."""
        if self._found:
            self._marked = max(0, min(len(self._found) - 1, self._marked + direction))
            self._show()

    def take(self, index: int | None = None) -> None:
        """End the search and put the selected message, or the one at `index`, into the composer."""
        if index is not None and 0 <= index < len(self._found):
            self._marked = index
        found = self._found[self._marked] if self._found else self._draft
        self._end()
        self._put(found)

    def leave(self) -> bool:
        """Cancel the search and restore the draft; return whether a search was open."""
        if not self.is_open:
            return False
        self._end()
        self._put(self._draft)
        return True

    def _end(self) -> None:
        self.is_open = False
        self._box.show(())

    def _find(self) -> None:
        self._found = self._history.find(self._query)
        self._marked = 0
        self._show()

    def _show(self) -> None:
        if self._found:
            place = _("{n} of {all}", n=self._marked + 1, all=len(self._found))
            self._put(self._found[self._marked])
        else:
            place = _("no matches") if self._query else _("no history yet")
        older, take, leave = map(self._keys.first_of, ("composer.history", "composer.send", "chat.cancel"))
        heading = (
            (f" {_('history')} › ", "dim"),
            (self._query, "text bold"),
            (CARET, "accent"),
            (f"  {place}   {older} {_('older')}   {take} {_('select')}   {leave} {_('cancel')}", "dim"),
        )
        self._box.show(earlier_rows(self._found, self._query), self._marked if self._found else -1, heading)


def earlier_rows(texts: Sequence[str], query: str) -> list[Row]:
    """Return messages as rows, one row per message, with the matches highlighted."""
    return [with_words(((f"   {clean_line(text, 300)}", "text"),), query) for text in texts]
