"""A text area that grows with its text. Large pastes and attachments are shown as tokens."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count as count_from
from typing import TYPE_CHECKING

from textual import events
from textual.widgets.text_area import Edit, EditResult

from tui.core import units
from tui.core.text import clean, clean_line
from tui.ui.widgets.inputs import LinesField

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.conversation.conversation import Attachment

BEHIND = ".,;:!?)\"'"
"""Punctuation that may follow a name in a sentence."""

MOST_NAME = 200
MAX_CHARS = 4_000
MAX_LINES = 40
_TOKEN = re.compile(r"\[(?:pasted |@)[^\[\]\n]{1,260}\]")
_RESOURCE = re.compile(r"([^:/\s]+):([A-Za-z][\w+.-]*:.*)")
MAX_ROWS = 8


@dataclass(frozen=True, slots=True)
class Reference:
    """An attachment: a file by its path, a resource by server and URI, or one that has already been read."""

    name: str
    path: str = ""
    server: str = ""
    uri: str = ""
    attachment: "Attachment | None" = None

    @classmethod
    def to_file(cls, path: str) -> "Reference":
        return cls(_name(path), path=path)

    @classmethod
    def to_resource(cls, server: str, uri: str) -> "Reference":
        return cls(_name(f"{server}:{uri}"), server=server, uri=uri)

    @classmethod
    def to_known(cls, attachment: "Attachment") -> "Reference":
        return cls(_name(attachment.name), attachment=attachment)


def _name(text: str) -> str:
    return clean_line(text, MOST_NAME).replace("[", "(").replace("]", ")") or "attachment"


@dataclass(frozen=True, slots=True)
class Written:
    """A message: `text`, with all pastes in full, is for the model; `shown` contains tokens."""

    text: str
    shown: str
    references: tuple[Reference, ...] = ()


class Pastes:
    """The contents of the tokens. All are kept, because undo or history may restore a token."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._references: dict[str, Reference] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    @staticmethod
    def is_big(text: str) -> bool:
        """Return whether a text is too large to edit in the composer."""
        return len(text) > MAX_CHARS or text.count("\n") >= MAX_LINES

    def keep(self, text: str) -> str:
        """Store a text and return its token, one line."""
        count = max(1, text.count("\n") + (not text.endswith("\n")))
        lines = f"{count:,} line{'' if count == 1 else 's'}".replace(",", " ")
        what = f"{units.size(len(text.encode('utf-8', 'surrogatepass')))}, {lines}"
        tokens = (f"[pasted {f'#{number} ' if number > 1 else ''}{what}]" for number in count_from(1))
        token = next(one for one in tokens if self._texts.get(one, text) == text)
        self._texts[token] = text
        return token

    def refer(self, reference: Reference) -> str:
        """Return the token of an attachment; the model reads its name in this place."""
        tokens = (f"[@{reference.name}{f' #{number}' if number > 1 else ''}]" for number in count_from(1))
        token = next(one for one in tokens if self._references.get(one, reference) == reference)
        self._references[token] = reference
        self._texts[token] = f"@{reference.name}"
        return token

    def references(self, text: str) -> tuple[Reference, ...]:
        return tuple(dict.fromkeys(self._references[token] for token in self.attached(text)))

    @staticmethod
    def plain(text: str) -> str:
        """Return text of a server with everything escaped that looks like a token or command."""
        text = _TOKEN.sub(lambda found: f"[ {found.group()[1:]}", text)
        return f" {text}" if text.startswith("/") else text

    def attached(self, text: str) -> tuple[str, ...]:
        tokens = (text[start:end] for start, end in self.spans(text))
        return tuple(dict.fromkeys(token for token in tokens if token in self._references))

    def recognise(self, tokens: Iterable[str]) -> None:
        """Restore attachments of an earlier run from their tokens."""
        for token in tokens:
            name = token[2:-1]
            if _TOKEN.fullmatch(token) and token.startswith("[@") and token not in self._texts:
                resource = _RESOURCE.fullmatch(name)
                self.refer(Reference.to_resource(*resource.groups()) if resource else Reference.to_file(name))

    def expand(self, text: str, *, attached: bool = True) -> str:
        """Return `text` with the contents of its tokens, those of attachments only if `attached`."""
        parts: list[str] = []
        position = 0
        for start, end in self.spans(text):
            if attached or text[start:end] not in self._references:
                parts += [text[position:start], self._texts[text[start:end]]]
                position = end
        return "".join([*parts, text[position:]])

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        for found in _TOKEN.finditer(text):
            if found.group() in self._texts:
                yield found.span()

    def widen(self, line: str, column: int, *, to_end: bool) -> int:
        """Return the nearest column outside a token of `line`."""
        for start, end in self.spans(line):
            if start < column < end:
                return end if to_end else start
        return column


class TokenArea(LinesField):
    """A text area as high as its text, up to `MAX_ROWS` lines."""

    pastes: Pastes
    most_rows = MAX_ROWS

    def show(self, text: str) -> None:
        self.load_text(text)
        self.move_cursor(self.document.end)

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

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self.pastes.keep(text) if Pastes.is_big(text) else clean(text)
        if not self.read_only:
            result = self.replace(shown, *self.selection, maintain_selection_offset=False)
            self.move_cursor(result.end_location)
            self.focus()

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
        self.fit()

    def fit(self) -> None:
        """Set the height for the text; requests a layout only if the height changes."""
        rows = self.rows_wanted
        height = self.styles.height
        if height is None or height.value != rows:
            self.styles.height = rows
