"""Puts the fragments of tool calls together, whatever a provider does to ids, indexes and names. Pure.

The rules were found on recorded streams (tests/corpus/llm_streams): index always 0, no index at all, a
new id with each fragment, names repeated or in pieces, arguments sent twice, as an object, or as several
objects in a row.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.conversation import CallRequest
from tui.core.errors import ModelError
from tui.core.ports import CallPart
from tui.model.call_arguments import fresh_id, is_complete, settle_arguments

MAX_CALLS = 256
MAX_ARGUMENTS = 2_000_000
"""Characters of arguments in one reply; more is a model gone astray, not a call."""

MAX_NAME = 256
UNNAMED = "unnamed_call"


@dataclass(slots=True)
class _Slot:
    """One call while it is written."""

    id: str = ""
    index: int | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def complete(self) -> bool:
        return is_complete(self.text)


class CallSlots:
    """The calls of one reply.

    Args:
        known_names: names of the tools that were offered; they tell a name in pieces from a new one.
    """

    def __init__(self, known_names: Collection[str]) -> None:
        self._known = frozenset(known_names)
        self._slots: list[_Slot] = []
        self._size = 0

    def __bool__(self) -> bool:
        return any(slot.name or slot.size for slot in self._slots)

    def feed(self, entry: Mapping[str, Any]) -> CallPart | None:
        """Take one element of `delta.tool_calls`.

        Raises:
            ModelError: there are more calls, or longer arguments, than any sane reply has.
        """
        function = entry.get("function")
        function = function if isinstance(function, Mapping) else entry
        name = function.get("name")
        name = name[:MAX_NAME] if isinstance(name, str) else ""
        identity = entry.get("id")
        identity = str(identity)[:MAX_NAME] if isinstance(identity, str | int) else ""
        index = entry.get("index")
        index = index if isinstance(index, int) else None
        arguments = function.get("arguments", function.get("parameters"))
        begins = not isinstance(arguments, str) or arguments.lstrip()[:1] in ("", "{")
        slot = self._slot(identity, index, name, begins)
        if slot is None:
            slot = self._open(index)
        slot.id = slot.id or identity
        self._take_name(slot, name)
        self._take_arguments(slot, arguments)
        if isinstance(extra := entry.get("extra_content"), Mapping):
            slot.extra.update(extra)
        return CallPart(slot.name, slot.size) if slot.name or slot.size else None

    def _open(self, index: int | None) -> _Slot:
        if len(self._slots) >= MAX_CALLS:
            raise ModelError(f"the reply holds more than {MAX_CALLS} tool calls")
        slot = _Slot(index=index)
        self._slots.append(slot)
        return slot

    def _slot(self, identity: str, index: int | None, name: str, begins: bool) -> _Slot | None:
        """Return the slot that a fragment belongs to, or None if it begins a new call.

        `begins` says that its arguments could be the beginning of some.
        """
        latest = self._slots[-1] if self._slots else None
        same_id = self._latest(lambda slot: slot.id == identity) if identity else None
        same_index = self._latest(lambda slot: slot.index == index) if index is not None else None
        if same_id is not None:
            moved = None not in (index, same_id.index) and index != same_id.index
            return None if self._another(same_id, name) or (moved and name and same_id.complete) else same_id
        if identity and name:
            # A fresh id with each fragment, name repeated: only if the call before it is plainly unfinished.
            before = latest if same_index is None and not begins else same_index
            unfinished = before is not None and before.size > 0 and not before.complete
            return before if before is not None and unfinished and before.name == name else None
        if identity:
            if same_index is not None and (not same_index.id or same_index.name):
                return same_index
            return latest if latest is not None and not latest.complete and latest.name else None
        if same_index is not None:
            return None if self._another(same_index, name) else same_index
        if latest is None:
            return None
        if index is not None:
            return latest if not name and not latest.complete else None
        new = bool(name) and (latest.complete or self._another(latest, name))
        return None if new else latest

    def _latest(self, fits: Callable[[_Slot], bool]) -> _Slot | None:
        return next((slot for slot in reversed(self._slots) if fits(slot)), None)

    def _another(self, slot: _Slot, name: str) -> bool:
        """Whether `name` can only be the name of another call than the one in `slot`."""
        if not name or not slot.name or name == slot.name or _bare_name(slot.name + name) in self._known:
            return False
        return (name in self._known and slot.name in self._known) or slot.complete

    def _take_name(self, slot: _Slot, name: str) -> None:
        if not name or name == slot.name or slot.name in self._known:
            return
        if name.startswith(slot.name):
            slot.name = name
        else:
            slot.name = (slot.name + name)[:MAX_NAME]

    def _take_arguments(self, slot: _Slot, arguments: Any) -> None:
        if arguments is None:
            return
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if not arguments:
            return
        before = slot.size
        # Not even looked at while a normal call grows: a fragment is shorter than what it continues.
        repeats = before and len(arguments) >= before and slot.text.startswith("{")
        if repeats and arguments.startswith(slot.text):
            slot.pieces = []
            slot.size = 0
        slot.pieces.append(arguments)
        slot.size += len(arguments)
        self._size += slot.size - before
        if self._size > MAX_ARGUMENTS:
            raise ModelError(f"the arguments of the tool calls exceed {MAX_ARGUMENTS} characters")

    def finish(self) -> tuple[CallRequest, ...]:
        """Return the calls, ghosts dropped, arguments settled, each with an id of its own."""
        calls: list[CallRequest] = []
        used: set[str] = set()
        for slot in self._slots:
            name = _bare_name(slot.name)
            if not name and not slot.text.strip():
                continue
            for number, (text, truncated) in enumerate(settle_arguments(slot.text)):
                identity = slot.id if number == 0 else ""
                if not identity or identity in used:
                    identity = fresh_id(f"{len(calls)}\0{slot.id}\0{name}\0{text}", used)
                used.add(identity)
                calls.append(CallRequest(identity, name or UNNAMED, text, truncated, slot.extra or None))
        return tuple(calls)


def _bare_name(name: str) -> str:
    """Return a tool's name without what leaks into it: harmony tokens and a namespace."""
    return name.partition("<|")[0].strip().removeprefix("functions.")
