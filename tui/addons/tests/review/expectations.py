"""The expectation after a decision: the result accepted, or a part of it varies. Pure.

What stays as expected stays as written: placeholders that fit, and references to saved values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.addons.tests.keep.draft import Draft, names_of, within
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.review.compared import Part, aligned
from tui.addons.tests.run.judge import Response, says_more
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import UNSET, Expectation, Request, RequestKind
from tui.addons.tests.suite.references import without_references
from tui.core.comparison.placeholders import Placeholder, escaped_value, fits_text, same
from tui.core.comparison.values import MAX_DEPTH
from tui.core.comparison.varied import renewed, renewed_text, widened, widened_text
from tui.core.errors import UsageError
from tui.core.language.translate import message

Fill = Callable[[Any], Any]
"""Fills saved values into an expected value."""

SELECT = message("Select a value that differs.")


def recorded(request: Request, response: Response, at: float) -> Expectation:
    """Return what to expect of a response that nothing was expected of yet.

    `at` is when it came, in seconds since the epoch: a time near it is expected to vary.
    """
    result = response.result if isinstance(response.result, Mapping) else None
    error = response.error if result is None else None
    exchange = Exchange(server="", request=request, result=result, error=error, ms=response.ms, at=at)
    return Draft.of(exchange, "").case().expected


def accepted(
    expected: Expectation, response: Response, fill: Fill, findings: Sequence[str] = (), *, slow: bool = False
) -> Expectation:
    """Return the expectation that a response fulfills.

    `findings` are the codes that it fails by. `slow`: it took too long, which is accepted as well.
    """
    found = replace(expected, findings=(*expected.findings, *dict.fromkeys(findings)))
    if slow:
        found = replace(found, within_ms=within(response.ms))
    value = UNSET if response.value is ABSENT else response.value
    has_names = found.result is UNSET or same(names_of(found.result), found.result)
    if response.kind is RequestKind.LIST and value is not UNSET and has_names:
        value = names_of(value)
    if response.is_error != expected.error:
        text = None if value is not UNSET and not response.is_error else _new(response.text)
        result = UNSET if response.is_error else _new(value)
        return replace(found, error=response.is_error, text=text, result=result, content=None)
    if found.text is not None:
        found = replace(found, text=_renewed(found.text, response.text, fill))
    if found.result is not UNSET and value is UNSET:
        found = replace(found, result=UNSET, text=_new(response.text))
    elif found.result is not UNSET:
        result = fill(found.result)
        more = found.text is None and says_more(response, value)
        text = _new(response.text) if more else found.text
        found = replace(found, text=text, result=_as_written(found.result, result, renewed(result, value)))
    if found.content is not None:
        found = replace(found, content=_content(found.content, response.content))
    return found


def _new(value: Any) -> Any:
    """Return what to write to expect exactly a value."""
    return value if value is UNSET else without_references(escaped_value(value))


def _as_written(before: Any, filled: Any, after: Any, depth: int = 0) -> Any:
    """Return `after`, with what is still the same as it was written: `filled` is `before` with its values."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and depth < MAX_DEPTH:
        return {
            name: _as_written(before[name], filled[name], member, depth + 1)
            if name in before
            else without_references(member)
            for name, member in after.items()
        }
    if isinstance(before, list) and isinstance(after, list) and depth < MAX_DEPTH:
        both = min(len(before), len(after))
        kept = [_as_written(before[at], filled[at], after[at], depth + 1) for at in range(both)]
        return [*kept, *map(without_references, after[both:])]
    return before if same(filled, after) else without_references(after)


def _renewed(expected: str, got: str, fill: Fill) -> str:
    """Return a text of any number of lines as it is, with what is as expected as it was written."""
    old, new, written = fill(expected).split("\n"), got.split("\n"), expected.split("\n")
    if len(old) == len(written):
        places = {after: before for before, after in aligned(old, new) if before is not None}
        lines = [
            _as_written(written[places[at]], old[places[at]], renewed_text(old[places[at]], line))
            if at in places
            else _new(line)
            for at, line in enumerate(new)
        ]
        if fits_text(fill("\n".join(lines)), got):
            return "\n".join(lines)
    filled = fill(expected)
    return str(_as_written(expected, filled, renewed_text(filled, got)))


def _content(
    expected: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for number, item in enumerate(got):
        wanted = expected[number] if number < len(expected) else {}
        is_same = wanted.get("type") == item.get("type")
        found.append(renewed(dict(wanted), dict(item)) if is_same else escaped_value(dict(item)))
    return found


# ---- a part varies -----------------------------------------------------------------------------------------


def loosened(expected: Expectation, response: Response, part: Part, fill: Fill) -> Expectation:
    """Return the expectation in which a part is a placeholder of its type.

    A member that the response does not have is not expected any more. Raises UsageError if the part is none
    that can vary.
    """
    head, *steps = part.steps or ("",)
    match head:
        case "text" if expected.text is not None:
            text = _text(expected.text, response.text, part.line, fill)
            found = replace(expected, text=text)
        case "text" if expected.result is not UNSET:
            found = replace(expected, text=f"<{Placeholder.TEXT}>")
        case "result" if expected.result is not UNSET:
            found = replace(
                expected, result=_loosened(expected.result, response.value, steps, part.line, fill)
            )
        case "content" if expected.content is not None:
            content = [dict(one) for one in expected.content]
            made = _loosened(content, list(map(dict, response.content)), steps, part.line, fill)
            if not isinstance(made, list):
                raise UsageError(
                    message("The number of items cannot vary. Accept them, or remove `content`.")
                )
            found = replace(expected, content=made)
        case _:
            raise UsageError(SELECT)
    if found == expected:
        raise UsageError(SELECT)
    return found


def _loosened(expected: Any, got: Any, steps: Sequence[str | int], line: int, fill: Fill) -> Any:
    """Return a value whose part at `steps` varies."""
    if not steps:
        return _leaf("", expected, got, line, fill)
    step, *rest = steps
    if isinstance(expected, Mapping) and step in expected:
        if not isinstance(got, Mapping) or step not in got:
            return {name: member for name, member in expected.items() if name != step}
        inside, value = expected[step], got[step]
        made = (
            _loosened(inside, value, rest, line, fill)
            if rest
            else _leaf(str(step), inside, value, line, fill)
        )
        return {**expected, step: made}
    if isinstance(expected, list) and isinstance(step, int) and step < len(expected):
        place = dict(aligned(expected, got)).get(step) if isinstance(got, list) else None
        if place is None:
            return "<any>"  # the number of items varies
        return [
            _loosened(one, got[place], rest, line, fill) if at == step else one
            for at, one in enumerate(expected)
        ]
    raise UsageError(SELECT)


def _leaf(name: str, expected: Any, got: Any, line: int, fill: Fill) -> Any:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        raise UsageError(message("Select one of its values."))
    if isinstance(expected, str) and isinstance(got, str) and "\n" in expected + got:
        return _text(expected, got, line, fill)
    filled = fill(expected)
    return _as_written(expected, filled, widened(filled, got, name))


def _text(expected: str, got: str, line: int, fill: Fill) -> str:
    """Return a text whose words that differ are placeholders; of several lines, only those of one line."""
    old, new = fill(expected).split("\n"), got.split("\n")
    other = dict(aligned(old, new)).get(line)
    if other is None or len(old) != expected.count("\n") + 1:
        return str(_as_written(expected, fill(expected), widened_text(fill(expected), got)))
    lines = expected.split("\n")
    lines[line] = _as_written(lines[line], old[line], widened_text(old[line], new[other]))
    return "\n".join(lines)
