"""Stores calls that the user made by hand. JSON, because TOML has no null."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.language.translate import message
from tui.core.workbench import CallKey, CallKind, CallMemory
from tui.settings.state.state_file import Content, StateFile, entries

MAX_BYTES = 4 * 1024 * 1024


class StoredCalls:
    """The stored calls and their file; `memory` is empty until `load`. A damaged file is not replaced."""

    def __init__(self, path: Path) -> None:
        self._file = StateFile(
            path, "the saved calls", max_bytes=MAX_BYTES, forgets="last", keeps_damaged=True
        )
        self._turn = asyncio.Lock()
        self.memory = CallMemory()

    async def load(self) -> None:
        self.memory = await asyncio.to_thread(self.read)

    def read(self) -> CallMemory:
        """Return the calls in the file. Blocks."""
        return _memory(self._file.look()[0])

    async def change(self, change: Callable[[CallMemory], CallMemory]) -> None:
        """Change the stored calls, one change at a time; raises as `write` does."""
        async with self._turn:
            self.memory = await asyncio.to_thread(self.write, change)

    def write(self, change: Callable[[CallMemory], CallMemory]) -> CallMemory:
        """Change the calls in the file, and return them. Blocks.

        If `change` raises, nothing is changed. Raises `ConfigError` if the file is damaged or cannot be
        written.
        """
        after = CallMemory()

        def changed(content: Content) -> Content:
            nonlocal after
            before = _memory(content)
            after = change(before)
            return content if after == before else _content(after)

        self._file.change(changed)
        return after


def _memory(content: Content) -> CallMemory:
    memory = CallMemory()
    for key, _, arguments in _calls(content, "last"):
        memory = memory.called(key, arguments)
    for key, name, arguments in _calls(content, "saved"):
        with suppress(ValueError):  # an entry that was edited by hand: keep the others
            memory = memory.with_saved(key, name, arguments)
    return memory


def _calls(content: Content, listed: str) -> Iterator[tuple[CallKey, str, Any]]:
    for entry in entries(content, listed):
        match entry:
            case {"server": str(server), "kind": str(kind), "name": str(name), "arguments": arguments}:
                saved_as = entry.get("saved_as", "")
                if kind in set(CallKind) and isinstance(saved_as, str):
                    yield CallKey(server, CallKind(kind), name), saved_as, arguments


def _content(memory: CallMemory) -> Content:
    saved = [
        _entry(key, arguments, name)
        for key, calls in memory.saved.items()
        for name, arguments in calls.items()
    ]
    if len(json.dumps(saved, indent=1)) > MAX_BYTES - 100:
        raise ConfigError(
            message("The saved calls are too large in total."), next_step=message("Delete some of them.")
        )
    return {"saved": saved, "last": [_entry(key, arguments) for key, arguments in memory.last.items()]}


def _entry(key: CallKey, arguments: Any, name: str = "") -> dict[str, Any]:
    saved_as = {"saved_as": name} if name else {}
    return {
        "server": key.server,
        "kind": key.kind.value,
        "name": key.name,
        **saved_as,
        "arguments": arguments,
    }
