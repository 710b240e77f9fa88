"""What a case expects when its call is kept again: its placeholders stay where they fit. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from tui.addons.tests.keep.draft import Draft, part, response_of
from tui.addons.tests.keep.variation import Variation
from tui.addons.tests.review.expectations import accepted
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.suite.case import UNSET, Expectation
from tui.addons.tests.suite.references import NotSaved, expected_with_saved, filled_expectation
from tui.core.comparison.placeholders import (
    Placeholder,
    fits,
    fits_text,
    has_placeholder,
    parts_of,
    written,
)
from tui.core.comparison.values import Path
from tui.core.comparison.varied import renewed_text

_MISSING = object()


def kept_again(before: Expectation, draft: Draft) -> Expectation:
    """Return what a case expects that expected `before`, whose call is kept again.

    What the user switched in the draft is as in the draft.
    """
    made = draft.case().expected
    if before.is_empty or before.error != made.error:
        return made
    exchange = draft.exchange
    responses = [response_of(exchange), *(response_of(exchange, one) for one in exchange.others)]
    try:
        found = accepted(before, responses[0], lambda value: expected_with_saved(value, {}))
    except NotSaved:  # what depends on the calls before it is kept as new
        return made
    heads = {one.path[0] for one in draft.switched}
    if found.text is not None and (made.text is not None or "text" in heads):
        texts = [one.text for one in responses]
        is_as_made = "text" in heads or not has_placeholder(before.text)
        text = made.text if is_as_made else _with_proposals(found.text, draft, ("text",))
        found = replace(found, text=text if text is not None and _fit_all(text, texts) else made.text)
    if made.result is not UNSET and (before.result is not UNSET or before.text is None):
        values = [part(one, "result") for one in responses]
        merged = _merged(("result",), before.result, made.result, values, draft)
        found = replace(found, result=merged)
    if "content" in heads:
        found = replace(found, content=made.content)
    slowest = max(exchange.ms, *exchange.other_ms, 0.0)
    is_slow = before.within_ms is None or slowest > before.within_ms or not draft.timed
    found = replace(found, within_ms=made.within_ms if is_slow else before.within_ms, findings=made.findings)
    for one in responses:
        if _differs(found, one) and not _differs(made, one):
            return made
    return found


def _differs(expected: Expectation, response: Response) -> bool:
    return bool(judge(filled_expectation(expected, {}), response).mismatches)


def _merged(path: Path, before: Any, made: Any, values: Sequence[Any], draft: Draft) -> Any:
    """Return `made`, with the placeholders of `before` that fit all values there.

    Members that `before` has not are not expected, unless the object has lost one: it may be renamed.
    """
    if any(one.path == path for one in draft.switched):
        return made
    if isinstance(before, dict) and isinstance(made, dict):
        has_lost = bool(before.keys() - made.keys())
        return {
            name: _merged((*path, name), before[name], one, _inside(values, name), draft)
            if name in before
            else one
            for name, one in made.items()
            if name in before or has_lost
        }
    if isinstance(before, list) and isinstance(made, list) and len(before) == len(made):
        pairs = enumerate(zip(before, made, strict=True))
        return [_merged((*path, at), one, new, _inside(values, at), draft) for at, (one, new) in pairs]
    if not isinstance(before, str) or not has_placeholder(before):
        return made
    there = [one for one in values if one is not _MISSING]
    if all(fits(before, one) for one in there):
        return before
    if there and all(isinstance(one, str) for one in there):
        text = _with_proposals(renewed_text(before, there[0]), draft, path)
        return text if all(fits(text, one) for one in there) else made
    return made


def _inside(values: Sequence[Any], step: str | int) -> list[Any]:
    """Return the values at a member or an item of each of these."""
    found = []
    for value in values:
        is_there = step in value if isinstance(value, dict) else isinstance(step, int) and _has(value, step)
        found.append(value[step] if is_there else _MISSING)
    return found


def _has(value: Any, at: int) -> bool:
    return isinstance(value, list) and at < len(value)


def _fit_all(text: str, others: Collection[str]) -> bool:
    return all(fits_text(text, one) for one in others)


def _with_proposals(text: str, draft: Draft, path: Path) -> str:
    """Return a text in which new times and ids are placeholders, as the draft proposes."""
    for one in draft.chosen:
        if one.path == path and one.start >= 0 and not one.is_seen:
            text = _replaced(text, one)
    return text


def _replaced(text: str, one: Variation) -> str:
    found = list[Any]()
    for each in parts_of(text):
        if type(each) is not str or one.value not in each:
            found.append(each)
            continue
        first, *rest = each.split(one.value)
        found.append(first)
        for other in rest:
            found += [Placeholder(one.placeholder[1:-1]), other]
    return written(part for part in found if part != "")
