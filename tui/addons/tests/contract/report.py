"""Changed definitions in words: for the terminal, grouped by verdict, as JSON, and as Markdown. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from tui.addons.tests.contract.verdicts import DefinitionDifference, ListingComparison
from tui.addons.tests.reports.markdown import cell
from tui.core.permission.change_effects import ABSENT, ORDER
from tui.core.text import clean_line, compact
from tui.core.units import plural
from tui.storage.exports.markdown import escaped

MAX_SHOWN = 500
"""Maximum changes of one verdict that are shown."""

VALUE_CHARS = 300
PLACE_CHARS = 300
NOTHING = "No differences."


def change_lines(found: ListingComparison) -> Iterator[str]:
    """Yield the changes as clean lines, the worst verdict first, each with both values."""
    for effect in reversed(ORDER):
        mine = found.of(effect)
        if not mine:
            continue
        yield f"{effect} ({len(mine)})"
        for one in mine[:MAX_SHOWN]:
            why = f"  {clean_line(one.why, 200)}" if one.why else ""
            yield f"  {clean_line(one.place, PLACE_CHARS)}{why}"
            yield from _values(one)
        if (more := len(mine) - MAX_SHOWN) > 0:
            yield f"  and {plural(more, 'more change')}"
    for note in found.notes:
        yield f"note: {clean_line(note, 300)}"


def summary_line(found: ListingComparison) -> str:
    """Return the number of changes by verdict, in a line."""
    if not found.differences:
        return NOTHING
    counts = [f"{len(mine)} {effect}" for effect in reversed(ORDER) if (mine := found.of(effect))]
    return f"{plural(len(found.differences), 'change')}: {', '.join(counts)}"


def _values(one: DefinitionDifference) -> Iterator[str]:
    for sign, value in (("-", one.difference.before), ("+", one.difference.after)):
        if value is not ABSENT:
            yield f"    {sign} {compact(value, VALUE_CHARS)}"


def json_of(found: ListingComparison) -> Mapping[str, Any]:
    """Return the changes as a JSON object. Names and values are raw; `before` or `after` may be missing."""
    return {
        "changes": [_change(one) for one in found.differences],
        "verdicts": {str(effect): len(found.of(effect)) for effect in reversed(ORDER)},
        "notes": list(found.notes),
    }


def _change(one: DefinitionDifference) -> Mapping[str, Any]:
    values = (("before", one.difference.before), ("after", one.difference.after))
    return {
        "verdict": str(one.effect),
        "kind": str(one.kind),
        "name": one.name,
        "path": one.difference.path,
        "why": one.why,
        **{key: value for key, value in values if value is not ABSENT},
    }


def markdown_of(found: ListingComparison, before: str, after: str) -> Iterator[str]:
    """Yield the changes as Markdown: a table, the worst verdict first."""
    names = (escaped(clean_line(name, 100)) for name in (before, after))
    yield f"## mcptui diff: {' → '.join(names)}\n\n{escaped(summary_line(found))}\n"
    if found.differences:
        yield "\n| verdict | place | why | before | after |\n|---|---|---|---|---|\n"
    for one in found.differences[:MAX_SHOWN]:
        values = (one.difference.before, one.difference.after)
        shown = ("" if value is ABSENT else compact(value, VALUE_CHARS) for value in values)
        cells = (str(one.effect), clean_line(one.place, PLACE_CHARS), clean_line(one.why, 200), *shown)
        yield f"| {' | '.join(map(cell, cells))} |\n"
    if (more := len(found.differences) - MAX_SHOWN) > 0:
        yield f"\n{plural(more, 'more change')}\n"
    for note in found.notes:
        yield f"\n{escaped(clean_line(note, 300))}\n"
