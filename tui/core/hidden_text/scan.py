"""Scans texts from servers for what the user does not see, and for instructions to the model. Pure, linear.

Honest descriptions say what a tool does and when to use it. The scan finds only what they have no reason to
contain: invisible characters, text placed out of view, comments, tags that imitate a prompt, and instructions
about secrecy, other tools, earlier instructions or private files.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tui.core.hidden_text.invisible import is_concealed, is_text
from tui.core.hidden_text.lookalikes import mixed_word
from tui.core.hidden_text.orders import orders_in
from tui.core.hidden_text.readable import FLAG, gaps, hidden_runs, readable_line, tags_in

MAX_CHARS = 64 * 1024
"""Maximum characters of a text that are scanned; a model reads fewer."""

EXCERPT_CHARS = 80
_NEAR = 24


class Sign(StrEnum):
    """The sign of hidden or suspicious text, in the words on screen."""

    TAGS = "hidden tag characters"
    TERMINAL = "text that a terminal would hide"
    ESCAPES = "control characters"
    DIRECTION = "text direction overrides"
    INVISIBLE_TEXT = "text in invisible characters"
    INVISIBLE = "invisible characters"
    MIXED = "words with look-alike letters"
    FAR = "text placed out of view"
    COMMENT = "HTML comment"
    PROMPT = "imitates a prompt"
    SECRECY = "asks to keep something from you"
    OVERRIDE = "overrides other instructions"
    OTHER_TOOLS = "instructions about other tools"
    PRIVATE_FILES = "asks for private files"
    UNREAD = "too long to scan"


DOUBTFUL = frozenset(Sign) - {Sign.TERMINAL, Sign.ESCAPES, Sign.INVISIBLE, Sign.MIXED, Sign.OTHER_TOOLS}
"""Signs that no honest definition has. A definition with one is not offered until the user has read it."""


@dataclass(frozen=True, slots=True)
class HiddenText:
    """A finding: its sign, the part of the definition, and an excerpt with hidden characters visible."""

    sign: Sign
    place: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.place}: {self.sign}"


def signs_of(found: Iterable[HiddenText]) -> str:
    """Return findings by place: "description (text placed out of view, HTML comment), title (…)"."""
    places: dict[str, list[str]] = {}
    for one in found:
        signs = places.setdefault(one.place, [])
        words = f"{one.sign} [tag: {one.excerpt}]" if one.sign is Sign.TAGS else one.sign.value
        if words not in signs:
            signs.append(words)
    return ", ".join(f"{place} ({', '.join(signs)})" for place, signs in places.items())


def is_doubtful(found: Iterable[HiddenText]) -> bool:
    """Return whether the user must read the text before a model does."""
    return any(one.sign in DOUBTFUL for one in found)


_ODD = re.compile("[^\n\t -~]")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_OVERRIDE = re.compile("[\u202d\u202e]")
_MARKED_LETTERS = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
"""Direction marks, which Hebrew or Arabic text may need."""

_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_ESCAPES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_COMMENT = re.compile(
    r"<!--(?=[^>]{0,400}?\w+\s+\w)"
    r"|\[(?://|#|comment|hidden)?\]:\s{0,4}(?:#|<>|//)\s{0,4}[(\"'](?=[^)\"'\n]{0,400}?\w+\s+\w)"
)
_COMMENT_HINTS = ("<!--", "]:")
_UNSHOWN = re.compile(
    r"<[a-z][^<>]{0,200}\bstyle\s{0,3}=[^<>]{0,200}"
    r"(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|color\s{0,3}:\s{0,3}transparent"
    r"|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d])|(?:left|top|indent)\s{0,3}:\s{0,3}-\d{3})"
    r"|<(?:a|b|big|code|div|em|font|h\d|i|label|li|p|pre|section|small|span|template|u|ul)"
    r"\b[^<>]{0,200}\shidden(?=[\s=>/])",
    re.IGNORECASE,
)
_UNSHOWN_HINTS = ("style", "hidden")
_ENTITY = re.compile("&(?:lt|#0{0,6}60|#x0{0,6}3c);", re.IGNORECASE)
"""A character reference to `<`, with which an element or a comment begins."""


def scan(text: str, place: str) -> Iterator[HiddenText]:
    """Yield each sign in a text once, at its first position; `place` is the name of the part on screen."""
    head = text[:MAX_CHARS]
    if _ODD.search(head):
        yield from _unseen(head, place)
        if word := mixed_word(head):
            yield HiddenText(Sign.MIXED, place, _around(head, *word))
    gap = next(gaps(head), None)
    if gap is not None:
        yield HiddenText(Sign.FAR, place, _after(head, gap[1]))
    if _ENTITY.search(head):
        head = _as_markup(head)
    folded = head.lower()
    if (
        gap is None
        and any(hint in folded for hint in _UNSHOWN_HINTS)
        and (found := _UNSHOWN.search(head)) is not None
    ):
        yield HiddenText(Sign.FAR, place, _after(head, found.start()))
    if any(hint in head for hint in _COMMENT_HINTS) and (found := _COMMENT.search(head)):
        yield HiddenText(Sign.COMMENT, place, _after(head, found.start()))
    for order, start, end in orders_in(head):
        yield HiddenText(Sign[order.name], place, _around(head, start, end))


def _as_markup(text: str) -> str:
    """Return a text with its character references replaced: `&lt;!--` is a comment to a model."""
    from html import unescape  # loads a large table, which few texts need

    return unescape(text)


def _unseen(text: str, place: str) -> Iterator[HiddenText]:
    rest = FLAG.sub("", text.replace("\r\n", "\n"))
    if _TAGS.search(rest):
        written = tags_in(rest) or rest[:EXCERPT_CHARS]
        yield HiddenText(Sign.TAGS, place, readable_line(written, EXCERPT_CHARS))
        rest = _TAGS.sub("", rest)
    if found := _ESCAPES.search(rest):
        sign = Sign.TERMINAL if is_concealed(rest) else Sign.ESCAPES
        yield HiddenText(sign, place, _around(rest, found.start(), found.end()))
        rest = _ESCAPES.sub("", rest)
    right_to_left = _RIGHT_TO_LEFT.search(rest)
    if found := (_OVERRIDE if right_to_left else _DIRECTION).search(rest):
        yield HiddenText(Sign.DIRECTION, place, _around(rest, found.start(), found.end()))
    rest = (_MARKED_LETTERS if right_to_left else _DIRECTION).sub("", rest)
    if run := next(hidden_runs(rest), None):
        sign = Sign.INVISIBLE_TEXT if is_text(rest) else Sign.INVISIBLE
        yield HiddenText(sign, place, _around(rest, *run))


def _around(text: str, start: int, end: int) -> str:
    return readable_line(text[max(0, start - _NEAR) : end + _NEAR], EXCERPT_CHARS)


def _after(text: str, start: int) -> str:
    return readable_line(text[start : start + 4 * EXCERPT_CHARS], EXCERPT_CHARS)
