"""What a server offers at one time, and how two offers differ. Pure.

A server may offer other things to a client that declares other extensions, or that has another name. Whatever
it sends is compared, also `_meta`, and stays raw: clean it before it is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.core.comparison.values import Change, compare, text_lines
from tui.core.language.translate import N_, as_message, listed, message, n_message
from tui.core.text import clean_line, mapping
from tui.core.units import and_more

MAX_ENTRIES = 2_000
"""Maximum entries of one list that are compared."""

MAX_WHERE, MAX_LINES = 3, 30
"""Maximum members that are named, and lines of differences, of one changed part."""

KINDS = {"tools": "name", "resources": "uri", "resourceTemplates": "uriTemplate", "prompts": "name"}
"""The lists of a server, each with the key that names its entries."""

_NOUNS = {
    "capabilities": N_("capability"),
    "extensions": N_("extension"),
    "tools": N_("tool"),
    "resources": N_("resource"),
    "resourceTemplates": N_("resource template"),
    "prompts": N_("prompt"),
}
_CHANGES = {Change.ADDED: N_("added"), Change.REMOVED: N_("removed"), Change.CHANGED: N_("changed")}


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers: its capabilities, and its lists by kind. `problems` say what is missing."""

    capabilities: Mapping[str, Any] = field(default_factory=dict)
    lists: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The named parts of the offer, by kind."""
        plain = {key: value for key, value in self.capabilities.items() if key != "extensions"}
        found = {"capabilities": plain, "extensions": dict(mapping(self.capabilities.get("extensions")))}
        for kind, key in KINDS.items():
            entries = [one for one in self.lists.get(kind, ())[:MAX_ENTRIES] if isinstance(one, Mapping)]
            found[kind] = {str(one.get(key)): one for one in entries}
        return found


@dataclass(frozen=True, slots=True)
class OfferChange:
    """One part of an offer that was added, removed or changed.

    `where` are its members that changed, `lines` the differences in them, cleaned.
    """

    kind: str
    name: str
    change: Change
    where: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return what changed: "tool search: _meta changed"."""
        kind, name = as_message(_NOUNS[self.kind]), clean_line(self.name, 100)
        if self.change is not Change.CHANGED:
            change = as_message(_CHANGES.get(self.change, self.change.value))
            return message("{kind} {name}: {change}", kind=kind, name=name, change=change)
        where = and_more([clean_line(one, 40) for one in self.where], MAX_WHERE)
        return message("{kind} {name}: {where} changed", kind=kind, name=name, where=where)


def offer_changes(before: Offer, after: Offer) -> tuple[OfferChange, ...]:
    """Return the parts of an offer that are others now: first those that were removed, then those added."""
    found = list(_changes(before.parts, after.parts))
    order = [Change.REMOVED, Change.ADDED, Change.CHANGED]
    return tuple(sorted(found, key=lambda one: order.index(one.change)))


def _changes(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> Iterator[OfferChange]:
    for kind, was in before.items():
        now = after[kind]
        for name in dict.fromkeys((*was, *now)):
            if name not in now:
                yield OfferChange(kind, name, Change.REMOVED)
            elif name not in was:
                yield OfferChange(kind, name, Change.ADDED)
            elif not (found := compare(was[name], now[name])).same:
                steps = (str(one.steps[0]) if one.steps else "value" for one in found.differences)
                lines = tuple(text_lines(found)[:MAX_LINES])
                yield OfferChange(kind, name, Change.CHANGED, tuple(dict.fromkeys(steps)), lines)


def change_words(changes: Sequence[OfferChange]) -> str:
    """Return how many parts changed: "2 tools added, 1 extension removed"; "nothing changed" for none."""
    counts: dict[tuple[Change, str], int] = {}
    for one in changes:
        counts[one.change, one.kind] = counts.get((one.change, one.kind), 0) + 1
    parts = (
        message(
            "{count} {change}", count=_counted(kind, n), change=as_message(_CHANGES.get(change, change.value))
        )
        for (change, kind), n in counts.items()
    )
    return listed(parts) or message("nothing changed")


def _counted(kind: str, n: int) -> str:
    match kind:
        case "capabilities":
            return n_message("{n} capability", "{n} capabilities", n)
        case "extensions":
            return n_message("{n} extension", "{n} extensions", n)
        case "tools":
            return n_message("{n} tool", "{n} tools", n)
        case "resources":
            return n_message("{n} resource", "{n} resources", n)
        case "prompts":
            return n_message("{n} prompt", "{n} prompts", n)
    return n_message("{n} resource template", "{n} resource templates", n)
