"""English sentences that were stored, such as the findings in a recording, in the user's language."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from string import Formatter

from tui.core.language.translate import Message, localized, message, sentences, texts_of_catalog, verbatim

LEAST_LITERAL = 8
"""Minimum characters outside of places, so that a text is only taken for one that was made from it."""

MOST_CHARS, MOST_DEPTH, MOST_LINES = 2_000, 3, 8


def restored(sentence: str) -> str:
    """Return a sentence that `message` made, maybe long ago, in the user's language; otherwise unchanged.

    A recording stores what its reader saw, and may be opened in any language. The text of the catalog is
    found from which the sentence was made. Values that are such sentences are translated, too.
    """
    texts = texts_of_catalog()
    return sentence if texts is None or len(sentence) > MOST_CHARS else _restored(sentence, texts)


@lru_cache(500)  # a screen asks again at each repaint
def _restored(sentence: str, texts: Callable[[], Iterable[str]]) -> str:
    templates = _templates(texts)
    for end in re.finditer(r"\. ", sentence):  # first: a value of one sentence may be another sentence
        first, rest = sentence[: end.start() + 1], sentence[end.end() :]
        one, two = (_found(part, templates, MOST_DEPTH) for part in (first, rest))
        if one is not None and two is not None:
            return sentences(localized(one), localized(two))
    found = _found(sentence, templates, MOST_DEPTH)
    return localized(found) if found is not None else sentence


def stored(sentence: str) -> Message:
    """Return such a sentence as a message, which is restored when it is shown."""
    said = verbatim(sentence)
    said.change = restored
    return said


def restored_lines(text: str) -> str:
    """Return a text of mcptui about a failed call, whose first lines are such sentences, in that language."""
    lines = text.split("\n", MOST_LINES)
    return "\n".join([*map(restored, lines[:MOST_LINES]), *lines[MOST_LINES:]])


def _found(sentence: str, templates: "list[_Template]", depth: int) -> Message | None:
    """Return the message with the most literal text that is this sentence."""
    if not sentence or depth == 0:
        return None
    is_closed = sentence.endswith(".")
    for text, literals, pattern in templates:
        if is_closed and not literals[-1]:  # the stop belongs to the sentence, not to the value at its end
            continue
        if not (sentence.startswith(literals[0]) and sentence.endswith(literals[-1])):
            continue
        if all(one in sentence for one in literals) and (match := re.fullmatch(pattern, sentence, re.DOTALL)):
            values = match.groupdict().items()
            return message(text, **{name: _value(one, templates, depth - 1) for name, one in values})
    if is_closed and (clause := _found(sentence[:-1], templates, depth)) is not None:
        return message("{text}.", text=clause)
    return None


def _value(said: str, templates: "list[_Template]", depth: int) -> str:
    if re.fullmatch(r"[\d.]+ s", said):
        return message("{n} s", n=said[:-2])
    place, _, rest = said.partition(" ")
    if (problem := _found(rest, templates, depth)) is not None and not problem.values:
        return message("{place} {problem}", place=place, problem=problem)
    return _found(said, templates, depth) or _Formatted(said)


class _Formatted(str):
    """A value as it was formatted: "1,200" in the place of `{n:,}`."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return str(self)


_Template = tuple[str, tuple[str, ...], str]
"""A text, its literal parts, and a pattern of what is made from it."""


@lru_cache(1)
def _templates(texts: Callable[[], Iterable[str]]) -> list[_Template]:
    """Return the texts of a catalog without a plural, the one with the most literal text first."""
    found: list[tuple[int, _Template]] = []
    for text in texts():
        if " " in text and "\x00" not in text and "\x04" not in text:  # between the forms, after a context
            parts = _parts(text)
            literals = tuple(literal for literal, *_ in parts)
            if (count := sum(map(len, literals))) >= LEAST_LITERAL:
                found.append((count, (text, literals, _pattern(parts))))
    found.sort(reverse=True)
    return [template for _, template in found]


_Part = tuple[str, str | None, str | None]


def _parts(text: str) -> list[_Part]:
    """Return the literal parts of a text, each with the place after it and its format; one after the last."""
    try:
        parts: list[_Part] = [(literal, name, spec) for literal, name, spec, _ in Formatter().parse(text)]
    except ValueError:  # braces that are no places
        return [(text, None, None)]
    return parts if parts and parts[-1][1] is None else [*parts, ("", None, None)]


def _pattern(parts: list[_Part]) -> str:
    """Return a pattern whose groups are the values."""
    pattern, seen = "", set[str]()
    for literal, name, spec in parts:
        pattern += re.escape(literal)
        if name is not None:
            # A quoted value has blanks, which are also in the text. A formatted one is a number.
            value = r"[\w.,+-]+?" if spec else """"[^"]*"|'[^']*'|.*?"""
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{value})"
            seen.add(name)
    return pattern
