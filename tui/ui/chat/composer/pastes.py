"""Large pastes and attachments, which are shown as tokens in a message."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count as count_from
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core import units
from tui.core.language.translate import _, n_
from tui.core.text import clean_line

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.conversation.conversation import Attachment

BEHIND = ".,;:!?)\"'"
"""Punctuation that may follow a name in a sentence."""

MOST_NAME = 200
MAX_CHARS = 4_000
MAX_LINES = 40
_TOKEN = re.compile(r"\[(?:pasted |粘贴 |@)[^\[\]\n]{1,260}\]")
_NAMED = re.compile(r"""(?:^|(?<=[\s("']))@(?:"([^"\n]+)"|(\S+))""")
_RESOURCE = re.compile(r"([^:/\s]+):([A-Za-z][\w+.-]*:.*)")


@dataclass(frozen=True, slots=True)
class Reference:
    """An attachment: a file by its path, a resource by server and URI, or one that has already been read.

    `is_skill`: it was offered as a skill, so it is never read as a resource that nothing is compared with.
    """

    name: str
    path: str = ""
    server: str = ""
    uri: str = ""
    attachment: "Attachment | None" = None
    is_skill: bool = False

    @classmethod
    def to_file(cls, path: str) -> "Reference":
        return cls(_name(path), path=path)

    @classmethod
    def to_resource(cls, server: str, uri: str, *, is_skill: bool = False) -> "Reference":
        return cls(_name(f"{server}:{uri}"), server=server, uri=uri, is_skill=is_skill)

    @classmethod
    def to_known(cls, attachment: "Attachment") -> "Reference":
        return cls(_name(attachment.name), attachment=attachment)


def _name(text: str) -> str:
    return clean_line(text, MOST_NAME).replace("[", "(").replace("]", ")") or _("attachment")


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
        lines = n_("{lines} line", "{lines} lines", count, lines=units.exact(count))
        what = _(", ").join((units.size(len(text.encode("utf-8", "surrogatepass"))), lines))
        numbered = ("" if number == 1 else f"#{number} " for number in count_from(1))
        tokens = (_("[pasted {what}]", what=f"{one}{what}") for one in numbered)
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


def not_attached(text: str, folder: Path, servers: Collection[str] = ()) -> str:
    """Return a warning about names that look like attachments but are not, or "".

    Only existing or possible paths and resources of `servers` count, not `@person` and `@app.route("/")`.
    """
    found: dict[str, str] = {}
    for match in _NAMED.finditer(text):
        name = match.group(1) or match.group(2).rstrip(BEHIND)
        server, _colon, uri = name.partition(":")
        why = ""
        if uri and server in servers:
            why = _("press tab after the name to attach it")
        else:
            with suppress(OSError, ValueError, RuntimeError):  # not a path
                path = folder / os.path.expanduser(name)
                if os.path.lexists(path):
                    unread = _("press tab after the name to attach it")
                    why = _("a directory") if path.is_dir() else unread
                elif "/" in name and path.parent.is_dir():
                    why = _("file not found")
        if why:
            found[name] = why
    named = [(clean_line(name, 80), why) for name, why in list(found.items())[:3]]
    told = _(", ").join(f"@{name} ({why})" for name, why in named)
    return _("Not attached: {names}.", names=told) if told else ""
