"""The expectation after a decision: the result accepted, or a part of it varies. Pure.

What stays as expected stays as written: placeholders that fit, and references to saved values.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from tui.addons.tests.keep.draft import Draft, within
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.text_parts import parts_that_vary
from tui.addons.tests.keep.variation import expected as without_placeholders
from tui.addons.tests.keep.variation import literal, variations
from tui.addons.tests.review.compared import Part, aligned, as_expected
from tui.addons.tests.run.judge import Response
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import UNSET, Expectation, Request
from tui.core.comparison.placeholders import has_placeholder
from tui.core.comparison.values import MAX_DEPTH, Path
from tui.core.errors import UsageError

MOST_TOKENS = 2_000
"""Maximum words of a line to compare; with more, the line as a whole differs."""

Fill = Callable[[Any], Any]
"""Fills saved values into an expected text."""


def recorded(request: Request, response: Response, at: float) -> Expectation:
    """Return what to expect of a response that nothing was expected of yet.

    `at` is when it came, in seconds since the epoch: a time near it is expected to vary.
    """
    result = response.result if isinstance(response.result, Mapping) else None
    error = response.error if result is None else None
    exchange = Exchange(server="", request=request, result=result, error=error, ms=response.ms, at=at)
    return Draft(exchange, "").case().expected


def accepted(
    expected: Expectation, response: Response, fill: Fill, findings: Sequence[str] = (), *, slow: bool = False
) -> Expectation:
    """Return the expectation that a response fulfills.

    `findings` are the codes that it fails by. `slow`: it took too long, which is accepted as well.
    """
    found = replace(expected, findings=(*expected.findings, *dict.fromkeys(findings)))
    if slow:
        found = replace(found, within_ms=within(response.ms))
    if response.is_error != expected.error:
        text = literal(response.text)
        if response.is_error:
            return replace(found, error=True, text=text, result=UNSET, content=None)
        value = response.value
        result = UNSET if value is ABSENT else without_placeholders("result", value, ())
        return replace(found, error=False, text=text if result is UNSET else None, result=result)
    if found.text is not None:
        found = replace(found, text=_text(found.text, response.text, fill))
    if found.result is not UNSET:
        if (value := response.value) is ABSENT:
            found = replace(found, result=UNSET, text=literal(response.text))
        else:
            found = replace(found, result=_merged(found.result, value, fill, 0))
    if found.content is not None:
        found = replace(found, content=_content(found.content, response.content, fill))
    return found


def varied(expected: Expectation, response: Response, part: Part, fill: Fill) -> Expectation:
    """Return the expectation in which a part is a placeholder of its type.

    A member that the response does not have is not expected any more. Raises UsageError if the part is none
    that can vary.
    """
    head, *steps = part.steps or ("",)
    match head:
        case "text" if expected.text is not None:
            text = _varied(expected.text, response.text, steps, part.line, fill)
            return replace(expected, text=text)
        case "result" if expected.result is not UNSET:
            value = response.value
            return replace(expected, result=_varied(expected.result, value, steps, part.line, fill))
        case "content" if expected.content is not None:
            content = [dict(one) for one in expected.content]
            return replace(expected, content=_varied(content, [*response.content], steps, part.line, fill))
    raise UsageError("Select a value that differs.")


# ---- accepted ----------------------------------------------------------------------------------------------


def _merged(expected: Any, got: Any, fill: Fill, depth: int) -> Any:
    """Return a value as it is, with what is expected where it fits. Further members are not added."""
    if depth < MAX_DEPTH and isinstance(expected, Mapping) and isinstance(got, Mapping):
        return {key: _merged(one, got[key], fill, depth + 1) for key, one in expected.items() if key in got}
    if depth < MAX_DEPTH and isinstance(expected, list) and isinstance(got, list):
        places = {new: old for old, new in aligned(expected, got) if old is not None}
        return [
            _merged(expected[places[at]], item, fill, depth + 1) if at in places else _literal(item)
            for at, item in enumerate(got)
        ]
    if isinstance(expected, str) and isinstance(got, str):
        return _text(expected, got, fill)
    return expected if as_expected(fill(expected), got) else _literal(got)


def _literal(value: Any) -> Any:
    return without_placeholders("result", value, ())


def _text(expected: str, got: str, fill: Fill) -> str:
    """Return a text as it is, with the placeholders that fit."""
    if as_expected(fill(expected), got):
        return expected
    old, new = expected.split("\n"), got.split("\n")
    places = {after: before for before, after in aligned(old, new) if before is not None}
    lines = [
        _line(old[places[at]], line, fill) if at in places else literal(line) for at, line in enumerate(new)
    ]
    made = "\n".join(lines)
    return made if as_expected(fill(made), got) else literal(got)


def _line(expected: str, got: str, fill: Fill) -> str:
    if as_expected(fill(expected), got):
        return expected
    made = _replaced(expected, got, lambda before, after: literal(after))
    return made if as_expected(fill(made), got) else literal(got)


_TOKEN = re.compile(
    r"<(?:text|number|time|id|any)>|\d{4}-\d{2}-\d{2}[T ]?[\d:.,]*(?:Z|[+-]\d{2}:?\d{2})?|\d{1,2}:\d{2}:\d{2}[.,\d]*"
    r"|(?<![\w.])-?\d+(?:\.\d+)?|\w[\w-]*|\s+|."
)
_SAME_TEXT = re.compile(r"<text>(?:\W*?<text>)+")


def _replaced(expected: str, got: str, replacement: Callable[[str, str], str]) -> str:
    """Return an expected line with each part that differs replaced, unless a placeholder there fits.

    `replacement` gets the expected part and that of the other line.
    """
    old, new = _TOKEN.findall(expected), _TOKEN.findall(got)
    if max(len(old), len(new)) > MOST_TOKENS:
        return replacement(expected, got)
    made = ""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        before, after = "".join(old[a:b]), "".join(new[c:d])
        # Within a text: alone, `<number>` fits no text.
        is_kept = kind == "equal" or (has_placeholder(before) and as_expected(f" {before}", f" {after}"))
        made += before if is_kept else replacement(before, after)
    return made


def _kind(before: str, after: str) -> str:
    """Return the placeholder that two texts fit."""
    parts = parts_that_vary(before, [after], lambda text: True)
    is_whole = len(parts) == 1 and (parts[0].start, parts[0].end) == (0, len(before)) and bool(before)
    return f"<{parts[0].kind}>" if is_whole and after else "<text>"


def _content(
    expected: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]], fill: Fill
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, item in enumerate(got):
        wanted = expected[number] if number < len(expected) else {}
        is_same = wanted.get("type") == item.get("type")
        found.append(_merged(dict(wanted), dict(item), fill, 0) if is_same else _literal(dict(item)))
    return found


# ---- varied ------------------------------------------------------------------------------------------------

_GONE = object()
"""In place of a member that is not expected any more."""


def _varied(expected: Any, got: Any, steps: Sequence[str | int], line: int, fill: Fill) -> Any:
    """Return a value whose part at `steps` varies."""
    if not steps:
        return _leaf("", expected, got, line, fill)
    step, *rest = steps
    inside = _at(got, step)
    if isinstance(expected, Mapping) and isinstance(step, str) and step in expected:
        if inside is ABSENT and not rest:
            return {key: one for key, one in expected.items() if key != step}
        whole = expected[step]
        made = _varied(whole, inside, rest, line, fill) if rest else _leaf(step, whole, inside, line, fill)
        return {**expected, step: made}
    if isinstance(expected, list) and isinstance(step, int) and step < len(expected):
        inside = _at(got, dict(aligned(expected, got)).get(step)) if isinstance(got, list) else ABSENT
        if inside is ABSENT:
            return "<any>"  # the number of items varies
        return [
            _varied(one, inside, rest, line, fill) if at == step else one for at, one in enumerate(expected)
        ]
    raise UsageError("Select a value that differs.")


def _at(value: Any, step: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(step, str):
        return value.get(step, ABSENT)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return ABSENT


def _leaf(name: str, expected: Any, got: Any, line: int, fill: Fill) -> Any:
    if isinstance(expected, str) and isinstance(got, str):
        return _varied_text(name, expected, got, line, fill)
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        raise UsageError("Select one of its values.")
    found = variations("result", {name: expected}, [{name: got}])
    return found[0].placeholder if found and found[0].placeholder else "<any>"


def _varied_text(name: str, expected: str, got: str, line: int, fill: Fill) -> str:
    """Return a text whose parts that differ are placeholders; of several lines, only those of one line."""
    old, new = expected.split("\n"), got.split("\n")
    other = dict(aligned(old, new)).get(line) if len(old) + len(new) > 2 else 0
    if other is None or line >= len(old):
        return "<text>"
    if len(old) + len(new) == 2:
        found = variations("result", {name: expected}, [{name: got}])
        whole = [one for one in found if one.start < 0]
        if whole and as_expected(whole[0].placeholder, got):
            return whole[0].placeholder
    made = _SAME_TEXT.sub("<text>", _replaced(old[line], new[other], _kind))
    if made == old[line] or not as_expected(fill(made), new[other]):
        made = "<text>"
    return "\n".join([*old[:line], made, *old[line + 1 :]])
