"""Calls that were saved in the state folder, as cases that expect nothing yet. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tui.addons.tests.keep.draft import as_written, free_name
from tui.addons.tests.suite.case import Case, Request, RequestKind
from tui.core.workbench import CallKey, CallKind, CallMemory

KINDS: Mapping[CallKind, RequestKind] = {
    CallKind.TOOL: RequestKind.TOOL,
    CallKind.PROMPT: RequestKind.PROMPT,
}
"""What can be saved in a test file. The arguments of a resource template cannot be told from its URI."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A saved call of the state folder: its item, its name there, and its case."""

    key: CallKey
    name: str
    case: Case


def to_move(memory: CallMemory, server: str, taken: Collection[str]) -> list[Moved]:
    """Return the saved calls of a server as cases, with names that are not taken."""
    names, found = set(taken), list[Moved]()
    for key, calls in memory.saved.items():
        for name, arguments in calls.items():
            if key.server != server or key.kind not in KINDS or not isinstance(arguments, Mapping):
                continue
            names.add(free := free_name(name, names))
            found.append(Moved(key, name, saved_case(key, free, arguments)))
    return found


def without_moved(moved: Iterable[Moved], memory: CallMemory) -> CallMemory:
    """Return the saved calls without those that are in a test file now."""
    for one in moved:
        memory = memory.without_saved(one.key, one.name)
    return memory


def saved_case(key: CallKey, name: str, arguments: Any) -> Case:
    """Return saved arguments as a case that expects nothing yet."""
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    return Case(name, 0, as_written(Request(KINDS[key.kind], key.name, given)))
