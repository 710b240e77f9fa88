"""What there is to say about a failed case, as lines: outputs and reports only format them. Pure.

Lines are cleaned and bounded. Each report escapes them for its format.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from enum import Enum, auto
from itertools import groupby, zip_longest
from typing import Any, NamedTuple
from unicodedata import category

from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, SuiteOutcome
from tui.addons.tests.suite.case import ENDING
from tui.core.comparison.placeholders import fits_text, has_placeholder
from tui.core.language.translate import message
from tui.core.matching import composed
from tui.core.text import clean, clean_line, compact, equal_start, truncated, without_styling
from tui.core.units import plural

VALUE_CHARS = 200
MAX_TEXT = 256 * 1024
"""Maximum characters of a text that are compared line by line."""

LINES, LINE_CHARS = 12, 160
"""Lines of a difference between two texts, and characters of each."""

RUN_LINES = 4
"""Of a long difference, maximum lines in a row that only one text has, so that those of both are shown."""

MAX_LINES = 1_000
"""Maximum lines of the part that differs that are compared: the time is quadratic."""

NEAR = 50
"""Lines after it that a line with placeholders is looked for in."""

SENTENCE_CHARS, PROBLEM_CHARS, COMMAND_CHARS = 400, 4_000, 16_000
NAME_CHARS = 100
MISMATCHES = 3
CHANGES = 50
"""Maximum changed definitions of a contract, each of which is named."""


class Kind(Enum):
    """What a line is."""

    SENTENCE = auto()
    EXPECTED = auto()
    GOT = auto()
    SAME = auto()
    """A line of a value beside those that differ."""

    NOTE = auto()
    """Does not fail the case."""

    STDERR = auto()
    REPEAT = auto()

    @property
    def is_value(self) -> bool:
        """Whether a break would change the meaning of the line."""
        return self in (Kind.EXPECTED, Kind.GOT, Kind.SAME)


class Line(NamedTuple):
    """A line about a failed case."""

    text: str
    kind: Kind = Kind.SENTENCE


def failure_lines(outcome: Outcome, most: int = MISMATCHES) -> Iterator[Line]:
    """Yield why a case did not pass: its differences, the first ones with both values, and `other_lines`.

    At most `most` of them are named.
    """
    is_contract = outcome.case is None
    is_share = outcome.cell is not None and outcome.cell.wanted > 1
    first = with_values(outcome)
    if outcome.problem and (first is None or is_share or is_contract):
        yield from map(Line, indented(truncated(outcome.problem, PROBLEM_CHARS)).split("\n"))
    most = max(most, CHANGES) if is_contract else most
    shown = [one for one in outcome.mismatches if first is not None or one is not outcome.mismatches[0]]
    for number, one in enumerate(shown[:most]):
        if number < MISMATCHES or is_contract:
            yield from mismatch_lines(one)
        else:
            yield Line(mismatch_line(one))
    if (more := len(shown) - most) > 0:
        yield Line(f"and {plural(more, 'more difference')}")
    yield from other_lines(outcome)


def other_lines(outcome: Outcome) -> Iterator[Line]:
    """Yield what is known about a failed case besides its differences: notes, last words, the command."""
    yield from (Line(clean_line(note, SENTENCE_CHARS), Kind.NOTE) for note in notes_of(outcome))
    for line in map(without_styling, outcome.said):
        yield Line(f"stderr: {clean_line(line, SENTENCE_CHARS)}", Kind.STDERR)
    if outcome.repeat:
        command = " ".join(clean(truncated(outcome.repeat, COMMAND_CHARS)).splitlines())
        yield Line(message("repeat: {command}", command=command), Kind.REPEAT)


def notes_of(outcome: Outcome) -> list[str]:
    """Return the notes on a case, with its injected faults."""
    return [
        *outcome.notes,
        *([message("injected: {faults}", faults=faults_of(outcome))] if outcome.faults else []),
    ]


def faults_of(outcome: Outcome) -> str:
    """Return the injected faults of a case, and whether it fails without them."""
    words = ", ".join(_often(fault, number) for fault, number in Counter(outcome.faults).items())
    return words + (" (fails without faults, too)" if outcome.fails_anyway else "")


def start_faults(suites: Sequence[SuiteOutcome]) -> Iterator[str]:
    """Yield a line for each fault that was injected before the cases."""
    for (method, fault), number in Counter(one for suite in suites for one in suite.start_faults).items():
        where = clean_line(method, NAME_CHARS) or "a message"
        yield f"injected in {where}, before the cases: {_often(fault, number)}"


def _often(fault: str, number: int) -> str:
    shown = clean_line(fault, NAME_CHARS)
    return f"{number} × {shown}" if number > 1 else shown


def with_values(outcome: Outcome) -> Mismatch | None:
    """Return the first mismatch if it says more than the problem: it has values."""
    first = outcome.mismatches[0] if outcome.mismatches else None
    return None if first is None or first.expected is first.got is ABSENT else first


def mismatch_lines(one: Mismatch) -> Iterator[Line]:
    """Yield a difference: the path, and both values or a small diff."""
    if _key(one) == "findings":
        yield Line(mismatch_line(one))
        yield Line(f'  to accept it, add findings = ["{clean_line(str(one.got), 60)}"]')
        return
    why = f"  ({clean_line(one.why, SENTENCE_CHARS)})" if one.why else ""
    yield Line(f"{clean_line(one.path, VALUE_CHARS)}{why}")
    if one.expected is one.got is ABSENT:
        return
    is_long = _is_long(one.expected) or _is_long(one.got)
    if is_long and one.expected is not ABSENT and one.got is not ABSENT:
        yield Line("  - expected, + got", Kind.SAME)
        yield from _text_difference(*_around(_text(one.expected), _text(one.got)))
        return
    expected, got = _values(one.expected, one.got, "(nothing)")
    yield Line(f"  - expected {expected}", Kind.EXPECTED)
    yield Line(f"  + got      {got}", Kind.GOT)


def mismatch_line(one: Mismatch) -> str:
    """Return a difference on one line: "result.id: expected 3, got 4"."""
    path, why = clean_line(one.path, VALUE_CHARS), clean_line(one.why, SENTENCE_CHARS)
    head = path.rpartition(".")[0]
    where = f"{head}: " if head else ""
    if _key(one) == "findings":
        return message(
            "{where}finding {code}: {why}", where=where, code=clean_line(str(one.got), 60), why=why
        )
    if _key(one) == "error" and one.expected is False:
        return f"{where}{why}: {clean_line(str(one.got), VALUE_CHARS)}"
    if one.expected is one.got is ABSENT:
        return f"{path}: {why}" if why else message("{path}: differs", path=path)
    expected, got, line = _first_difference(one.expected, one.got)
    expected, got = _values(expected, got, "nothing")
    said = message("{path}: expected {expected}, got {got}", path=path, expected=expected, got=got)
    if not why and not line:
        return said
    return message("{said} ({why})", said=said, why=why or message("line {n}", n=line))


def _key(one: Mismatch) -> str:
    """Return the key of the case that a mismatch belongs to, also within `then`."""
    return one.path.rpartition(".")[2]


def _values(expected: Any, got: Any, nothing: str) -> Iterator[str]:
    """Yield both values on one line each; what they differ in is visible."""
    signs = _signs(expected, got) if isinstance(expected, str) and isinstance(got, str) else {}
    for value in (expected, got):
        text = nothing if value is ABSENT else compact(_signed(value, signs), VALUE_CHARS)
        yield text.replace("\\\\u", "\\u") if signs else text


def _signs(one: str, other: str) -> dict[int, str]:
    """Return escapes of the characters that two texts differ in, and that look like others or like nothing.

    Those are spaces and format characters; of texts that differ only in their composition, all.
    """
    if one.isascii() and other.isascii():
        return {}
    (first, second), alike = (Counter(one), Counter(other)), composed(one) == composed(other)
    return {
        ord(char): f"\\u{ord(char):04x}"
        for char in first.keys() | second.keys()
        if first[char] != second[char] and not char.isascii() and (alike or category(char)[0] in "ZC")
    }


def _signed(value: Any, signs: dict[int, str]) -> Any:
    return value.translate(signs) if signs else value


def _first_difference(expected: Any, got: Any) -> tuple[Any, Any, int]:
    """Return the two values; of two texts the first lines that differ, and their number, 0 if there is one.

    Of long lines, it is the part that differs.
    """
    if not isinstance(expected, str) or not isinstance(got, str):
        return expected, got, 0
    if "\n" in expected or "\n" in got:
        lines = enumerate(zip_longest(_lines(expected), _lines(got), fillvalue=ABSENT), 1)
        for line, (one, other) in lines:
            if not isinstance(one, str) or not isinstance(other, str) or not fits_text(one, other):
                return *_first_difference(one, other)[:2], line
    if max(len(expected), len(got)) > VALUE_CHARS // 2:
        expected, got = _around(expected, got)
    return expected, got, 0


def _lines(text: str) -> list[str]:
    return text[:MAX_TEXT].split("\n")


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return "\n" in value or len(value) > VALUE_CHARS
    return isinstance(value, dict | list) and len(compact(value, VALUE_CHARS + 1)) > VALUE_CHARS


def _text(value: Any) -> str:
    found = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return found[:MAX_TEXT]


def indented(text: str) -> str:
    """Return a cleaned text whose further lines are indented: none can look like a line of ours.

    Further problems of the same test file are not.
    """
    found = clean(text).replace("\r", "").replace("\n", "\n  ")
    name, ending, _ = found.partition("\n")[0].partition(f"{ENDING}:")
    return found.replace(f"\n  {name}{ending}", f"\n{name}{ending}") if ending else found


def _text_difference(before: str, after: str) -> Iterator[Line]:
    """Yield the lines of a small difference between two texts. A line that fits is not one."""
    signs = _signs(before, after)
    old, new = before.split("\n"), after.split("\n")
    start = max(0, _fitting(old, new) - 1)
    old, new = old[start:], new[start:]
    end = max(0, _fitting(old[:0:-1], new[:0:-1]) - 1)
    old, new = old[: len(old) - end][:MAX_LINES], new[: len(new) - end][:MAX_LINES]
    found = list(unified_diff(_with_fitting(old, new), new, n=1, lineterm=""))[2:]  # names of files
    shown = list[str]()
    for mark, run in groupby(found, lambda line: line[0]):
        lines = list(run)
        is_cut = mark in "-+" and len(found) > LINES and len(lines) > RUN_LINES + 1
        shown += [*lines[:RUN_LINES], "  …"] if is_cut else lines
    for line in shown[:LINES]:
        kind = {"-": Kind.EXPECTED, "+": Kind.GOT}.get(line[0], Kind.SAME)
        text = _shifted(line, start) if line.startswith("@@") else _shown(line, signs)
        yield Line(f"  {truncated(text, LINE_CHARS)}", kind)
    left = sum(line != "  …" for line in shown[:LINES])
    if (more := len(found) - left) > 0:
        yield Line(f"  and {plural(more, 'more line')}", Kind.SAME)


def _fitting(old: list[str], new: list[str]) -> int:
    """Return the number of lines at the start that fit."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, pair in pairs if not fits_text(*pair)), min(len(old), len(new)))


def _shifted(header: str, start: int) -> str:
    """Return the header of a difference of texts without their first lines, with the numbers of the whole."""
    return re.sub(r"(?<=[-+])\d+", lambda found: str(int(found[0]) + start), header)


def _shown(line: str, signs: dict[int, str]) -> str:
    """Return a line of a difference. Spaces at its end are visible if only one text has it."""
    text = clean(_signed(line[1:], signs)).replace("\n", " ")
    stem = text.rstrip(" ") if line[0] in "-+" else text
    return f"{line[0]} {stem}{'␠' * (len(text) - len(stem))}".rstrip()


def _with_fitting(old: list[str], new: list[str]) -> list[str]:
    """Return the expected lines, with the received one in place of each that it fits."""
    found = list[str]()
    for kind, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        at = c
        for number, line in enumerate(old[a:b], c):
            near = (*([number] if at <= number < d else ()), *range(at, min(at + NEAR, d)))
            fits = kind == "replace" and has_placeholder(line)
            place = next((one for one in near if fits_text(line, new[one])), -1) if fits else -1
            found.append(new[place] if place >= 0 else line)
            at = max(at, place + 1)
    return found


def _around(one: str, other: str) -> tuple[str, str]:
    """Return two texts, of single lines only the part from shortly before the place where they differ."""
    if "\n" in one or "\n" in other:
        return one, other
    start = max(0, equal_start(one, other) - LINE_CHARS // 4)
    mark = "…" if start else ""
    return mark + one[start:], mark + other[start:]
