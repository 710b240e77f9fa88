"""Sessions, which are saved conversations: their data and titles.

A session is written as it happens: a message when it is complete, a call before it is sent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tui.core.conversation.conversation import Conversation, SessionMeta
from tui.core.errors import UsageError
from tui.core.language.translate import message
from tui.core.matching import by_name
from tui.core.text import cells_of, clean, fold, head_of

ExportKind = Literal["markdown", "json", "html"]
EXPORT_ENDINGS: dict[str, ExportKind] = {".html": "html", ".htm": "html", ".json": "json"}

UNKNOWN_OUTCOME = "outcome unknown: " + message(
    "mcptui exited during this call. It may or may not have taken effect. It was not sent again."
)
"""The result of a call that was sent and whose result was never recorded."""

NEVER_SENT = "not run: " + message("mcptui exited before this call was sent")
"""The result of a call that the model wrote and that was never sent."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One row of a list of sessions. Times are seconds since the epoch.

    Attributes:
        id: permanent; also the stem of its file.
        title: from the first question, or set by the user.
        messages: number of messages, results of tools included; `turns` counts user messages.
        tokens: of all requests; some may be an estimate (`estimated`).
        cost: by the prices of the profiles, or None if there are none.
        parent: the session that it branched from, or ""; `branched_at` is the index of its first own message.
        in_use: another process has it open.
        problem: why it cannot be opened, or not completely, in words; or "".
    """

    id: str
    title: str = ""
    created: float = 0.0
    changed: float = 0.0
    messages: int = 0
    turns: int = 0
    model: str = ""
    tokens: int = 0
    cost: float | None = None
    parent: str = ""
    branched_at: int = 0
    in_use: bool = False
    problem: str = ""
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Reopened:
    """A session that was read; `results` are complete results by name, for `read_result`.

    The conversation is valid for any model: calls without a result have `UNKNOWN_OUTCOME` (`unknown` has
    their ids) or `NEVER_SENT`.
    """

    info: SessionInfo
    meta: SessionMeta
    conversation: Conversation
    unknown: frozenset[str] = frozenset()
    results: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A session that was imported, and the system text of the export, raw, or ""."""

    info: SessionInfo
    system: str = ""


@dataclass(frozen=True, slots=True)
class SessionMatch:
    """A match of a search: the session, the message's index, and a cleaned excerpt."""

    session: SessionInfo
    index: int
    excerpt: str


LAST = "last"
"""The name of the session that was changed last."""

LIST_STEP = "List them with `mcptui sessions`."


def named(sessions: Sequence[SessionInfo], name: str) -> SessionInfo | None:
    """Return the session whose id or title is `name`, or whose id starts or ends with it; or None.

    Raises:
        UsageError: several sessions match.
    """
    if name == LAST:  # one that cannot be opened is skipped
        return next((one for one in sessions if not one.problem), None)
    known = {one.id: one for one in sessions}
    found = by_name(known, name)
    if name not in known:  # a title counts more than a part of an id
        found = [one.id for one in sessions if fold(one.title) == fold(name)] or found
    if len(found) > 1:
        raise UsageError(f"{len(found)} sessions match: {', '.join(found[:5])}", where=name)
    return known[found[0]] if found else None


CELLS = 60
"""Maximum width of a title in cells."""

READ = 2000
"""Characters of the question that are read."""

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_START = re.compile(r"^[\s>#*+•–—-]+")
_EMPHASIS = re.compile(r"\*\*|(?<!\w)__|__(?!\w)|`|~~")
# A full stop ends a sentence only before a space: 3.11, example.com. The marks of other scripts always do.
_END = re.compile(r"[.!?…]+(?=[\s\"'”’»)\]]|$)|[。！？｡।॥؟۔።፧]+")
_TRAILING = " \t.,;:。，、；：،؛-–—"


def title_of(text: str) -> str:
    """Return a title for a conversation that starts with `text`: one line of at most 60 cells, or "".

    It is the first sentence of the first line with text, in any language and without formatting; code blocks
    count only if there is nothing else.
    """
    head = clean(text[:READ])
    for candidate in (_FENCE.sub("\n", head), head):
        for line in candidate.splitlines():
            if said := _sentence(line):
                return said
    return ""


def _shortened(text: str) -> str:
    """Return a line cut to `CELLS` cells, between words if possible, with an ellipsis."""
    if cells_of(text) <= CELLS:
        return text
    head = head_of(text, CELLS - 1)
    word = head.rfind(" ")
    if text[len(head)] != " " and word > len(head) * 2 // 3:
        head = head[:word]
    return head.rstrip(_TRAILING) + "…"


def _sentence(line: str) -> str:
    bare = _EMPHASIS.sub("", _LINK.sub(r"\1", _LINE_START.sub("", line)))
    bare = " ".join(bare.split())
    if not any(map(str.isalnum, bare)):
        return ""
    for end in _END.finditer(bare):
        if sum(map(str.isalnum, bare[: end.start()])) > 3:  # "1. Do this": a number is not a sentence
            bare = bare[: end.end()]
            break
    return _shortened(bare.rstrip(_TRAILING) or bare)
