"""Scans texts and definitions of servers for hidden text and orders to the model. Pure, linear.

Honest descriptions say what a tool does and when to use it. The scan finds only what they have no reason to
contain: invisible characters, text placed out of view, comments, tags that imitate a prompt, and instructions
about secrecy, other tools, earlier instructions or private files.

Of what a server says about itself (its instructions, tools with their schemas, resources and prompts), all
strings and keys are scanned, at any depth and under any keyword, known or not, because a model gets the whole
schema. A text that is too long to scan is a finding of its own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.hidden_text.injected_instructions import Sign as Sign
from tui.core.hidden_text.injected_instructions import orders_in
from tui.core.hidden_text.readable import TAGS, gaps, hidden_runs, mixed_word, readable_line, tags_in
from tui.core.language.translate import as_message, listed, message, together
from tui.core.text import FLAG, RIGHT_TO_LEFT

LONG_RUN = 4
"""Invisible characters in a row that are not a typing mistake."""

MANY = 8
"""Invisible characters in a text that can encode something: one letter in bits."""

_CONCEAL = re.compile("(?:\x1b\\[|\x9b)(?:[0-9;:]{0,32}[;:])?0?8m")
"""The escape sequence that makes a terminal hide what follows."""

_HONEST = re.compile(
    "(?<=\\w)\u00ad(?=\\w)"  # where a word may be hyphenated
    "|(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b(?=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])"
    "|(?<=[\u1820-\u1878\u1880-\u18aa])[\u180b-\u180f]"
    "|(?<=[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])\ufe0e"
    "|(?<=[\u3001-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff])"
    "[\ufe00-\ufe02\U000e0100-\U000e0103]"
)
"""Matches single invisible characters that a script or a font uses."""


def is_text(text: str) -> bool:
    """Return whether a text has enough invisible characters to encode something."""
    runs = [end - start for start, end in hidden_runs(_HONEST.sub("", text))]
    return max(runs, default=0) >= LONG_RUN or sum(runs) >= MANY


MAX_CHARS = 64 * 1024
"""Maximum characters of a text that are scanned; a model reads fewer."""

EXCERPT_CHARS = 80
_NEAR = 24


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
    places: dict[str, dict[str, None]] = {}
    for one in found:
        tag = f" [tag: {one.excerpt}]" if one.sign is Sign.TAGS else ""
        places.setdefault(one.place, {})[together(as_message(one.sign.value), tag)] = None
    return listed(
        message("{problem} ({place})", problem=as_message(place), place=listed(signs))
        for place, signs in places.items()
    )


def is_doubtful(found: Iterable[HiddenText]) -> bool:
    """Return whether the user must read the text before a model does."""
    return any(one.sign in DOUBTFUL for one in found)


_ODD = re.compile("[^\n\t -~]")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_OVERRIDE = re.compile("[\u202d\u202e]")
_MARKED_LETTERS = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
"""Direction marks, which Hebrew or Arabic text may need."""

_RIGHT_TO_LEFT = re.compile(RIGHT_TO_LEFT)
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
    if _ENTITY.search(head):  # `&lt;!--` is a comment to a model
        from html import unescape  # loads a large table, which few texts need

        head = unescape(head)
    folded = head.lower()
    if (
        gap is None
        and any(hint in folded for hint in _UNSHOWN_HINTS)
        and (found := _UNSHOWN.search(head)) is not None
    ):
        yield HiddenText(Sign.FAR, place, _after(head, found.start()))
    if any(hint in head for hint in _COMMENT_HINTS) and (found := _COMMENT.search(head)):
        yield HiddenText(Sign.COMMENT, place, _after(head, found.start()))
    for sign, start, end in orders_in(head):
        yield HiddenText(sign, place, _around(head, start, end))


def _unseen(text: str, place: str) -> Iterator[HiddenText]:
    rest = re.sub(FLAG, "", text.replace("\r\n", "\n"))
    if TAGS.search(rest):
        written = tags_in(rest) or rest[:EXCERPT_CHARS]
        yield HiddenText(Sign.TAGS, place, readable_line(written, EXCERPT_CHARS))
        rest = TAGS.sub("", rest)
    if found := _ESCAPES.search(rest):
        sign = Sign.TERMINAL if _CONCEAL.search(rest) else Sign.ESCAPES
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


MAX_FOUND = 20
"""Maximum findings per definition; more add no information."""

MAX_NODES = 50_000
"""Maximum values of a definition that are scanned. A schema that can be offered has fewer."""

PLACE_CHARS = 4 * MAX_CHARS
"""Characters of one place, such as an argument, that are scanned."""

ALL_CHARS = 16 * MAX_CHARS
"""Characters of one definition that are scanned."""

_OVERLAP = 1_000
"""Overlap of the parts of a long text, so that an instruction across a boundary is found."""

_CUT = frozenset({"title", "description"})
"""Texts of a definition, outside its schemas, that are truncated everywhere."""

_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_UNUSED = frozenset({"_meta", "icons"})
"""Parts that reach neither the user nor a model."""

_PARTS = {"inputSchema": "argument", "outputSchema": "result"}
"""The schemas of a definition, and the word for the values that each describes."""

_WORD = re.compile("[A-Za-z0-9_$-]{0,64}")
"""Matches texts that can neither hide nor say anything."""


def in_instructions(text: str) -> tuple[HiddenText, ...]:
    """Return the findings in a server's instructions."""
    return tuple(scan(text, "instructions"))


def in_definition(raw: Mapping[str, Any]) -> tuple[HiddenText, ...]:
    """Return the findings in the raw texts of a tool, resource, template or prompt."""
    texts = _Texts()
    for key, value in raw.items():
        if key in _UNUSED:
            continue
        if key in _CUT and isinstance(value, str):
            texts.add(key, value[:MAX_CHARS])
        elif key == "annotations" and isinstance(value, Mapping) and isinstance(value.get("title"), str):
            texts.add("title", value["title"][:MAX_CHARS])
            texts.add_all(key, {name: inner for name, inner in value.items() if name != "title"})
        elif key == "arguments" and isinstance(value, list):
            for item in value:
                name = item.get("name") if isinstance(item, Mapping) else None
                texts.add_all(_called("argument", name) if isinstance(name, str) else "argument", item)
        else:
            texts.add_all(_PARTS.get(key) or readable_line(str(key), 40), value)
    found = list(texts.findings())
    if len(found) > MAX_FOUND:
        found.sort(key=lambda one: one.sign not in DOUBTFUL)
    return tuple(found[:MAX_FOUND])


class _Texts:
    """The texts of a definition by place, in the user's words, within the limits of what is scanned."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._unread: dict[str, None] = {}
        self._nodes = 0

    def add(self, place: str, text: str) -> None:
        if not _WORD.fullmatch(text) and not text.isspace():
            self._places.setdefault(place, []).append(text.rstrip())

    def add_all(self, part: str, value: Any) -> None:
        """Add every string and key in a value, however deep."""
        waiting = [(part, value)]
        while waiting:
            place, node = waiting.pop()
            self._nodes += 1 + (len(node) if isinstance(node, Mapping | list) else 0)
            if self._nodes > MAX_NODES:
                self._unread[place] = None
                return
            below: list[tuple[str, Any]] = []
            if isinstance(node, str):
                self.add(place, node)
            elif isinstance(node, Mapping):
                for key, inner in node.items():
                    if key in _NAMED and isinstance(inner, Mapping):
                        self._nodes += len(inner)
                        for name, one in inner.items():
                            below.append((_called(part, str(name)), one))
                            self.add(below[-1][0], str(name))
                    else:
                        self.add(place, str(key))
                        below.append((place, inner))
            elif isinstance(node, list):
                below += ((place, one) for one in node)
            waiting += reversed(below)

    def findings(self) -> Iterator[HiddenText]:
        """Yield each sign of a place once, and the places that are too long."""
        left = ALL_CHARS
        for place, texts in self._places.items():
            text = "\n".join(texts)
            room = min(left, PLACE_CHARS)
            if len(text) > room:
                self._unread[place] = None
            left -= min(len(text), room)
            seen = set()
            for start in range(0, min(len(text), room), MAX_CHARS - _OVERLAP):
                for one in scan(text[start : min(start + MAX_CHARS, room)], place):
                    if one.sign not in seen:
                        seen.add(one.sign)
                        yield one
        yield from (HiddenText(Sign.UNREAD, place, "") for place in self._unread)


def _called(part: str, name: str) -> str:
    return f"{part} {readable_line(name, 40)}"
