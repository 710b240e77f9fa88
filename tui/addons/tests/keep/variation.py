"""What varies in a result, and what is expected of it: values with placeholders. Pure.

Several results of equal requests are compared leaf by leaf. What differs becomes a placeholder of its type.
Even in a single result, times, UUIDs and ids by name are proposed. Each part can be switched off.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Any

from tui.addons.tests.suite.json_path import leaves_of
from tui.addons.tests.suite.references import without_references
from tui.core.comparison.placeholders import (
    LONG_TEXT,
    RUN_TO_RUN,
    Part,
    Placeholder,
    fits,
    generalized,
    parts_of,
    same,
    written,
)
from tui.core.comparison.text_parts import ID, NUMBER, TIME
from tui.core.comparison.values import Path, path_text
from tui.core.comparison.varied import varied_text
from tui.core.language.translate import message
from tui.core.secrets.secret_names import MARK
from tui.core.text import compact

MOST_PARTS = 100
"""Texts with more parts that differ are one part."""

_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?"
_CLOCK = rf"\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d{{1,9}})?(?:\s?[AaPp][Mm]\b)?{_ZONE}"
_SHORT = rf"\d{{1,2}}:\d{{2}}\s?[AaPp][Mm]\b{_ZONE}"
_DATE = rf"\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}(?:[Tt ](?:{_CLOCK}|{_SHORT}|\d{{2}}:\d{{2}}{_ZONE}))?"
_IN_WORDS = rf"(?:[A-Z][a-z]{{2}}, )?\d{{1,2}} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}"
_LOOKS = re.compile(
    r"(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)"
    rf"|(?P<time>(?<![\w.:])(?:{_IN_WORDS}|{_DATE}|{_CLOCK}|{_SHORT})(?![\w:]))"
    r"|(?P<number>(?<![\w.])\d+(?:\.\d+)?(?=\s?(?:ns|us|µs|ms)\b))"
)
"""What varies even if it was seen only once. "3:16" may be a ratio, "5 s" may be written by hand."""

_REGEXES = {Placeholder.NUMBER: NUMBER.regex, Placeholder.TIME: TIME.regex, Placeholder.ID: ID.regex}
_WORDS = re.compile(r"[^\W\d_]{2,}")
_FEW_WORDS = 4
_MANY_IN_LINE = 4
"""Parts of a line, of which one is not a number, that are the whole line."""

_BETWEEN_RANKS = re.compile(r"[,;] *[^\d\s,;:][^,;:\n]*: *")
"""Between the numbers of `search: 9, read: 4, write: 1`, whose names change places sooner or later."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, from `start` to `end`, with the name of its placeholder, and what others have there.

    `others` is empty for a part that was not seen to vary, but looks as if it did. `steady`: others have the
    same there.
    """

    start: int
    end: int
    kind: str
    others: tuple[str, ...] = ()
    steady: bool = False


def parts_that_vary(text: str, others: Sequence[str], fixed: Callable[[str], bool]) -> list[TextPart]:
    """Return the parts of a text that vary, in order.

    `fixed` says whether a part that looks like a time or an id is given, such as by an argument.
    """
    differing = [other for other in dict.fromkeys(others) if other != text]
    found = _compared(text, differing) if differing else []
    if len(text) > LONG_TEXT:
        return found
    taken = [(part.start, part.end) for part in found]
    for looks in _LOOKS.finditer(text):
        start, end = looks.span()
        is_free = not any(start < there[1] and there[0] < end for there in taken)
        if is_free and not fixed(looks.group()):
            found.append(TextPart(start, end, str(looks.lastgroup), steady=bool(others)))
    return sorted(found, key=lambda part: part.start)


def _compared(text: str, differing: Sequence[str]) -> list[TextPart]:
    """Return the parts in which a text differs from others."""
    whole = [TextPart(0, len(text), "text", tuple(differing))]
    parts = parts_of(varied_text([text, *differing])) if len(text) <= LONG_TEXT else ()
    kinds = [str(part) for part in parts if isinstance(part, Placeholder)]
    if not 0 < len(kinds) <= MOST_PARTS or _is_other_text(text, parts):
        return whole
    pattern = re.compile("".join(_steps(parts)), re.DOTALL)
    found = [pattern.fullmatch(one) for one in (text, *differing)]
    if not all(found):
        return whole
    first, *rest = [one for one in found if one is not None]
    compared = [
        TextPart(*first.span(number), kind, tuple(one[number] for one in rest))
        for number, kind in enumerate(kinds, 1)
    ]
    lines = groupby(compared, lambda part: text.rfind("\n", 0, part.start) + 1)
    return [part for start, line in lines for part in _of_line(text, start, list(line))]


def _of_line(text: str, start: int, parts: list[TextPart]) -> Sequence[TextPart]:
    """Return the parts of a line that vary; they are one, the line, if little stays or their order varies."""
    end = text.find("\n", parts[-1].end)
    end = len(text) if end < 0 else end
    between = [text[one.end : other.start] for one, other in pairwise(parts)]
    before, after = text[start : parts[0].start], text[parts[-1].end : end]
    columns = [[text[one.start : one.end] for one in parts]]
    columns += map(list, zip(*(one.others for one in parts), strict=True))
    lines = [before + "".join(chain(*zip(column, [*between, after], strict=True))) for column in columns]
    if end - start == len(text) or any("\n" in line for line in lines):
        return parts
    kinds = {part.kind for part in parts}
    are_many = len(parts) >= _MANY_IN_LINE and "text" in kinds
    are_moved = len({tuple(sorted(_WORDS.findall(line))) for line in lines}) == 1 and "text" in kinds
    are_ranked = (
        kinds == {"number"}
        and len(parts) > 2
        and all(map(_BETWEEN_RANKS.fullmatch, between))
        and all(column == sorted(column, key=_size, reverse=True) for column in columns)
    )
    is_one = are_many or are_moved or are_ranked
    return [TextPart(start, end, "text", tuple(lines[1:]))] if is_one else parts


def _size(number: str) -> float:
    return float(number.replace(",", "").replace("\u2212", "-"))


def _steps(parts: Sequence[Part]) -> Iterator[str]:
    """Yield regular expressions for the parts. Once the text behind a part is found, none is tried again."""
    held = ""
    for part in parts:
        if isinstance(part, Placeholder):
            if held:
                yield held
            held = f"({_REGEXES.get(part, '.*?')})"
        elif held:
            yield (
                f"(?>{held}{re.escape(str(part))})" if part is not parts[-1] else held + re.escape(str(part))
            )
            held = ""
        else:
            yield re.escape(str(part))
    yield held


def _is_other_text(text: str, parts: Sequence[Part]) -> bool:
    """Return whether so little is the same that the text as a whole differs."""
    same = len(_WORDS.findall(" ".join(part for part in parts if type(part) is str)))
    words = len(_WORDS.findall(text))
    return words > _FEW_WORDS and same * 3 < words


MOST_VARIATIONS = 500
"""Maximum parts of one result; more are not looked for."""

MAX_DEPTH = 60
IN_OTHER_ITEMS = message("differs in other items")
LEFT_OUT = ""
"""The placeholder of a member that is not expected. Only some results have it; the user switches it on."""

VALUE_CHARS = 60
_FIRST_TIME = 1e8
_MEASURED = re.compile(r"elapsed|latency|took|uptime", re.IGNORECASE)
"""Names of durations that are measured in each call."""

_FIXED_FROM = 3
"""Minimum characters of a value that counts as given if an argument contains it."""


@dataclass(frozen=True, slots=True)
class Variation:
    """A part of an expectation that may vary, and what replaces it.

    Attributes:
        path: of the value, beginning with the key of the file: `text`, `result`, `content`.
        start, end: of the part in a text, or -1 for the whole value.
        placeholder: what is expected instead, such as "<number>"; "" if nothing is.
        value, others: the kept value, and those of other results, as short texts.
        why: a few words.
        proposed: whether it is switched on at first.
        required: whether it cannot be switched off: a secret is there.
    """

    path: Path
    placeholder: str
    value: str
    others: tuple[str, ...] = ()
    why: str = ""
    start: int = -1
    end: int = -1
    proposed: bool = True
    required: bool = False

    @property
    def is_seen(self) -> bool:
        """Whether it differs between the results, rather than looking like something that varies."""
        return bool(self.others) or self.placeholder == LEFT_OUT or self.why == IN_OTHER_ITEMS

    @property
    def where(self) -> str:
        return path_text(self.path)


def variations(
    head: str,
    value: Any,
    others: Sequence[Any],
    given: Sequence[Any] = (),
    near: Callable[[Any], bool] = bool,
) -> list[Variation]:
    """Return the parts of a value that vary.

    `head` is its key in the file, `others` are the values of equal requests. `given` are the arguments: a
    time or an id that is one of them does not vary. `near` says whether a time is that of the call.
    """
    finder = _Finder(
        frozenset(str(one) for one in leaves_of(given) if isinstance(one, str) or _is_number(one)), near
    )
    finder.look((head,), value, list(others))
    return finder.found


def expected(head: str, value: Any, chosen: Collection[Variation]) -> Any:
    """Return the value with the placeholders of the chosen parts; other texts are literal."""
    by_path: dict[Path, list[Variation]] = {}
    for one in chosen:
        by_path.setdefault(one.path, []).append(one)
    return _filled((head,), value, by_path)


class _Finder:
    def __init__(self, given: frozenset[str], near: Callable[[Any], bool]) -> None:
        self._given = given
        self._near = near
        self.found: list[Variation] = []

    def look(self, path: Path, value: Any, others: Sequence[Any]) -> None:
        """Find what varies in a value; `others` are those at the same place."""
        if len(self.found) >= MOST_VARIATIONS or len(path) > MAX_DEPTH:
            return
        if isinstance(value, Mapping) and all(isinstance(one, Mapping) for one in others):
            self._look_at_object(path, value, others)
        elif isinstance(value, list) and all(isinstance(one, list) for one in others):
            self._look_at_list(path, value, others)
        elif isinstance(value, str) and all(isinstance(one, str) for one in others):
            self._look_at_text(path, value, others)
        elif (differing := [one for one in others if not same(one, value)]) or isinstance(value, int | float):
            self._look_at_scalar(path, value, others, differing)

    def _look_at_object(self, path: Path, value: Mapping[str, Any], others: Sequence[Any]) -> None:
        for name, member in value.items():
            there = [one[name] for one in others if name in one]
            if len(there) < len(others):
                without = message("missing in {n} of {all}", n=len(others) - len(there), all=len(others))
                self._add((*path, name), LEFT_OUT, member, (), without, proposed=False)
            self.look((*path, name), member, there)

    def _look_at_list(self, path: Path, value: Sequence[Any], others: Sequence[Sequence[Any]]) -> None:
        if lengths := [one for one in others if len(one) != len(value)]:
            seen = tuple(f"{len(one)} items" for one in lengths)
            self._add(path, "<any>", f"{len(value)} items", seen, message("its length varies"))
        elif moved := [one for one in others if not same(one, value) and _same_items(one, value)]:
            self._add(path, "<any>", value, tuple(moved), message("its order varies"))
        else:
            before = len(self.found)
            for at, item in enumerate(value):
                self.look((*path, at), item, [one[at] for one in others])
            self._look_alike(path, value, self.found[before:])
            self.found[before:] = sorted(self.found[before:], key=lambda one: one.path[len(path)])

    def _look_alike(self, path: Path, value: Sequence[Any], found: Sequence[Variation]) -> None:
        """Propose what differs in one item of a list for the other items, where it was the same by chance."""
        depth = len(path) + 1
        taken = {one.path for one in found}
        differing = {one.path[depth:]: one for one in found if one.others and one.start < 0}
        texts = {one.path[depth:]: one for one in found if one.others and one.start >= 0}
        for at in range(len(value)):
            for rest, one in (*differing.items(), *texts.items()):
                here = (*path, at, *rest)
                there = _value_at(value[at], rest)
                if not rest or here in taken or not _is_scalar(there) or not fits(one.placeholder, there):
                    continue
                if one.start < 0 or one.value == _value_at(value[int(one.path[depth - 1])], rest):
                    self._add(here, one.placeholder, there, (), IN_OTHER_ITEMS)

    def _look_at_scalar(
        self, path: Path, value: Any, others: Sequence[Any], differing: Sequence[Any]
    ) -> None:
        name = _name_of(path)
        by_name = generalized(name, value, RUN_TO_RUN) if _is_number(value) else value
        if differing:
            is_numbers = all(_is_number(one) for one in (value, *differing))
            is_time = by_name == "<time>" and all(one > _FIRST_TIME for one in differing if is_numbers)
            kind = "time" if is_numbers and is_time else "number" if is_numbers else "any"
            if is_numbers and by_name == "<id>":
                kind = "id"
            self._add(path, f"<{kind}>", value, tuple(differing), _differs(differing, others))
        elif by_name is not value and not self._is_given(value):
            kind = {"<duration>": "number"}.get(by_name, str(by_name)[1:-1])
            self._propose(path, kind, value, steady=bool(others))

    def _look_at_text(self, path: Path, value: str, others: Sequence[str]) -> None:
        for mark in MARK.finditer(value):
            name = mark.group()[len("[redacted:") : -1]
            self._add(
                path,
                "<text>",
                mark.group(),
                (),
                message("secret {name}", name=name),
                *mark.span(),
                required=True,
            )
        secret = [(one.start, one.end) for one in self.found if one.path == path]
        name, differing = _name_of(path), [one for one in others if one != value]
        if name == "sha256" and path[0] == "content" and differing:
            self._add(path, LEFT_OUT, value, tuple(differing), _differs(differing, others))
            return
        if generalized(name, "x", RUN_TO_RUN) == "<id>" and not secret and value:
            self._look_at_id(path, value, others, differing)
            return
        for part in parts_that_vary(value, others, self._is_given):
            if not any(part.start < end and start < part.end for start, end in secret):
                self._add_part(path, value, part, others, differing)

    def _look_at_id(self, path: Path, value: str, others: Sequence[str], differing: Sequence[str]) -> None:
        if differing:
            kind = "id" if all(fits("<id>", one) for one in (value, *differing)) else "text"
            self._add(path, f"<{kind}>", value, tuple(differing), _differs(differing, others))
        elif not self._is_given(value) and fits("<id>", value):
            self._propose(path, "id", value, steady=bool(others))

    def _add_part(
        self, path: Path, value: str, part: TextPart, others: Sequence[str], differing: Sequence[str]
    ) -> None:
        text, is_whole = value[part.start : part.end], part.end - part.start == len(value)
        placeholder = f"<{part.kind}>"
        if is_whole and part.kind == "number" and len(path) > 1:
            placeholder = "<id>"  # alone, <number> does not fit a text of a value
        if part.others:
            there = tuple(dict.fromkeys(one for one in part.others if one != text))
            self._add(path, placeholder, text, there, _differs(differing, others), part.start, part.end)
        else:
            self._propose(path, part.kind, text, part.start, part.end, steady=part.steady)

    def _propose(
        self, path: Path, kind: str, value: Any, start: int = -1, end: int = -1, *, steady: bool
    ) -> None:
        """Add a part that was not seen to vary. It is switched on unless others have the same."""
        words = {"time": message("a time"), "id": message("an id"), "number": message("a duration")}[kind]
        is_measured = kind == "number" and (start >= 0 or _MEASURED.search(_name_of(path)) is not None)
        is_on = not steady or is_measured or (kind == "time" and self._near(value))
        why = message("{what}, the same in other results", what=words) if steady else words
        self._add(path, f"<{kind}>", value, (), why, start, end, proposed=is_on)

    def _add(
        self,
        path: Path,
        placeholder: str,
        value: Any,
        others: Sequence[Any],
        why: str,
        start: int = -1,
        end: int = -1,
        **more: bool,
    ) -> None:
        if len(self.found) < MOST_VARIATIONS:
            seen = tuple(dict.fromkeys(_short(one) for one in others))
            self.found.append(Variation(path, placeholder, _short(value), seen, why, start, end, **more))

    def _is_given(self, value: Any) -> bool:
        text = value if isinstance(value, str) else str(value)
        return text in self._given or (len(text) >= _FIXED_FROM and any(text in one for one in self._given))


def _short(value: Any) -> str:
    return value[: 4 * VALUE_CHARS] if isinstance(value, str) else compact(value, VALUE_CHARS)


def _differs(differing: Sequence[Any], others: Sequence[Any]) -> str:
    return message("differs in {n} of {all}", n=len(differing), all=len(others))


def _value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, None if there is none."""
    for step in path:
        is_there = isinstance(value, Mapping) if isinstance(step, str) else isinstance(value, list)
        if not is_there or (isinstance(step, str) and step not in value):
            return None
        if isinstance(step, int) and step >= len(value):
            return None
        value = value[step]
    return value


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_items(one: Sequence[Any], other: Sequence[Any]) -> bool:
    left = [*other]
    for item in one:
        at = next((at for at, candidate in enumerate(left) if same(item, candidate)), -1)
        if at < 0:
            return False
        del left[at]
    return not left


def _name_of(path: Path) -> str:
    return next((step for step in reversed(path[1:]) if isinstance(step, str)), "")


def _filled(path: Path, value: Any, chosen: Mapping[Path, Sequence[Variation]]) -> Any:
    here = chosen.get(path, ())
    if here and here[0].start < 0:
        return here[0].placeholder
    if isinstance(value, str):
        return _filled_text(value, here)
    if isinstance(value, Mapping):
        kept = {name: one for name, one in value.items() if not _is_left_out((*path, name), chosen)}
        return {name: _filled((*path, name), one, chosen) for name, one in kept.items()}
    if isinstance(value, list):
        return [_filled((*path, at), item, chosen) for at, item in enumerate(value)]
    return value


def _is_left_out(path: Path, chosen: Mapping[Path, Sequence[Variation]]) -> bool:
    return any(one.placeholder == LEFT_OUT for one in chosen.get(path, ()))


def _filled_text(text: str, chosen: Sequence[Variation]) -> str:
    parts: list[Part] = []
    place = 0
    for one in sorted(chosen, key=lambda each: each.start):
        if one.start >= place:
            parts += [without_references(text[place : one.start]), Placeholder(one.placeholder[1:-1])]
            place = one.end
    return written([*parts, without_references(text[place:])])
