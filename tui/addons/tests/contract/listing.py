"""Everything that a server lists: tools, prompts, resources, templates, instructions, capabilities. Pure.

Volatile members are left out (`_meta`, `ttlMs`, cursors, icons, sizes, times). Lists are by name or URI, so
that their order has no effect.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tui.addons.tests.suite import case
from tui.core.jsonrpc.reader import Unreadable
from tui.core.permission.change_effects import ABSENT
from tui.core.permission.differences import KEYS, suspicion_of_change
from tui.core.schemas.schemas import DATA, NAME_MAPS
from tui.core.text import mapping
from tui.core.units import plural

MAX_ENTRIES = 10_000
"""Maximum entries of a list."""


class Kind(StrEnum):
    """The kind of something that a server lists; the value is its name in texts."""

    TOOL = "tool"
    PROMPT = "prompt"
    RESOURCE = "resource"
    TEMPLATE = "resource template"
    INSTRUCTIONS = "instructions"
    CAPABILITY = "capability"


LISTS = {
    Kind.TOOL: case.LISTS["tools"],
    Kind.PROMPT: case.LISTS["prompts"],
    Kind.RESOURCE: case.LISTS["resources"],
    Kind.TEMPLATE: case.LISTS["templates"],
}

_PARTS = {
    Kind.TOOL: (*KEYS[1:], "execution"),
    Kind.PROMPT: ("title", "description", "arguments"),
    Kind.RESOURCE: ("name", "title", "description", "mimeType", "annotations"),
    Kind.TEMPLATE: ("name", "title", "description", "mimeType", "annotations"),
}
_VOLATILE = frozenset({"_meta", "icons", "lastModified"})
_TEXTS = frozenset({"title", "description", "$comment", "examples"})

Entries = Mapping[str, Mapping[str, Any]]

OTHERS = "others"
"""The member of an entry with different definitions of the same name. A host offers only the first."""

MAX_OTHERS = 20
"""Maximum of them."""


@dataclass(frozen=True, slots=True)
class ServerListing:
    """What a server lists. A kind that is not in `lists` is unknown; one that it does not offer is empty.

    Attributes:
        lists: the definitions of each kind, by name or URI, without their volatile members.
        instructions, capabilities: None if unknown.
        protocol: the revision, or "".
        notes: sentences about entries that are left out.
    """

    lists: Mapping[Kind, Entries] = field(default_factory=dict)
    instructions: str | None = None
    capabilities: Mapping[str, Any] | None = None
    protocol: str = ""
    notes: tuple[str, ...] = ()

    def entries(self, kind: Kind) -> Entries:
        return self.lists.get(kind, {})

    def shape(self) -> "ServerListing":
        """Return this without the texts that models and people read. Those that are suspicious stay."""
        lists = {
            kind: {name: _shape_of(one) for name, one in entries.items()}
            for kind, entries in self.lists.items()
        }
        told = self.instructions
        return replace(self, lists=lists, instructions=told if told is None or _stays(told) else "")


def entries_of(kind: Kind, items: Iterable[Any]) -> tuple[Entries, tuple[str, ...]]:
    """Return the definitions among the raw items of a list by name, and notes on what is left out."""
    found: dict[str, Mapping[str, Any]] = {}
    nameless = unreadable = 0
    others: dict[str, list[Mapping[str, Any]]] = {}
    key = LISTS[kind].key
    for item in items:
        name = item.get(key) if isinstance(item, Mapping) else None
        if not isinstance(name, str) or not name:
            nameless += 1
        elif isinstance(item, Unreadable):
            unreadable += 1
        elif name in found or len(found) < MAX_ENTRIES:
            parts = {part: item[part] for part in _PARTS[kind] if part in item}
            if "annotations" in parts and (lasting := _lasting(parts.pop("annotations"))) != {}:
                parts["annotations"] = lasting
            known = others.setdefault(name, []) if found.setdefault(name, parts) != parts else [parts]
            if parts not in known and len(known) < MAX_OTHERS:
                known.append(parts)
    found |= {name: {**found[name], OTHERS: more} for name, more in others.items()}
    what = "resource template" if kind is Kind.TEMPLATE else kind.value
    notes = [f"{plural(nameless, what)} without a {key} left out"] if nameless else []
    notes += [f"{plural(unreadable, what)} that cannot be read left out"] if unreadable else []
    return dict(sorted(found.items())), tuple(notes)


def _lasting(value: Any) -> Any:
    """Return annotations or a capability without volatile members."""
    if not isinstance(value, Mapping):
        return value
    return {key: one for key, one in value.items() if key not in _VOLATILE}


def _shape_of(value: Any) -> Any:
    """Return a definition, or a part of it, without texts. Properties with such names stay."""
    if isinstance(value, list):
        return [_shape_of(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, one in value.items():
        if key in NAME_MAPS and isinstance(one, Mapping):
            found[key] = {name: _shape_of(inner) for name, inner in one.items()}
        elif key in _TEXTS:
            found |= {key: one} if _stays(one) else {}
        else:
            found[key] = one if key in DATA else _shape_of(one)
    return found


def _stays(text: Any) -> bool:
    """Return whether a text is suspicious, so that a shape has it too."""
    return bool(suspicion_of_change(ABSENT, text))


def capabilities_of(value: Any) -> Mapping[str, Any]:
    """Return the capabilities of a handshake without volatile members."""
    return {name: _lasting(one) for name, one in mapping(value).items() if isinstance(name, str)}
