"""Stores calls that the user made by hand in a JSON file, which is read once and written in a thread.

JSON, because TOML has no null. The file is private and replaced atomically.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.jsonrpc.reader import loads
from tui.core.workbench import CallKey, CallKind, CallMemory
from tui.settings.files import Unreadable, locked, read_bounded
from tui.settings.save import write_state

FORMAT = 1
MAX_BYTES = 4 * 1024 * 1024


class StoredCalls:
    """The stored calls and their file, which need not exist; `memory` is empty until `load`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()
        self.memory = CallMemory()

    async def load(self) -> None:
        self.memory = await asyncio.to_thread(load_calls, self._path)

    async def change(self, change: Callable[[CallMemory], CallMemory]) -> None:
        """Change the stored calls, one change at a time; raises as `change_calls` does."""
        async with self._turn:
            self.memory = await asyncio.to_thread(change_calls, self._path, change)


def load_calls(path: Path) -> CallMemory:
    """Return the stored calls, none if the file is missing or unreadable."""
    try:
        return _read(path)
    except ConfigError:
        return CallMemory()


def change_calls(path: Path, change: Callable[[CallMemory], CallMemory]) -> CallMemory:
    """Change the stored calls and return them.

    The file is read again first, since another mcptui may have changed it. If `change` raises, nothing is
    changed. Raises `ConfigError` if the file is damaged (it then stays as it is) or cannot be written.
    """
    with locked(path):
        before = _read(path)
        after = change(before)
        if after != before:
            write_state(path, _written(after))
    return after


def _read(path: Path) -> CallMemory:
    try:
        found = loads(read_bounded(path, MAX_BYTES, links=False))
    except FileNotFoundError:
        return CallMemory()
    except (Unreadable, ValueError, RecursionError) as error:
        why = error if isinstance(error, Unreadable) else "is not JSON"
        raise _damaged(path, f"{why}.") from error
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        raise _damaged(path, "is not a valid list of calls.")
    memory = CallMemory()
    for key, _, arguments in _entries(found.get("last")):
        memory = memory.called(key, arguments)
    for key, name, arguments in _entries(found.get("saved")):
        try:
            memory = memory.with_saved(key, name, arguments)
        except ValueError:  # an entry that was edited by hand: keep the others
            continue
    return memory


def _entries(listed: Any) -> Iterator[tuple[CallKey, str, Any]]:
    for entry in listed if isinstance(listed, list) else ():
        match entry:
            case {"server": str(server), "kind": str(kind), "name": str(name), "arguments": arguments}:
                saved_as = entry.get("saved_as", "")
                if kind in set(CallKind) and isinstance(saved_as, str):
                    yield CallKey(server, CallKind(kind), name), saved_as, arguments


def _written(memory: CallMemory) -> str:
    """Return the file's text. If it would be too large, the oldest last values are left out."""
    saved = [
        _entry(key, arguments, name)
        for key, calls in memory.saved.items()
        for name, arguments in calls.items()
    ]
    last = [_entry(key, arguments) for key, arguments in memory.last.items()]
    while True:
        whole = {"format": FORMAT, "saved": saved, "last": last}
        text = json.dumps(whole, ensure_ascii=True, indent=1) + "\n"
        if len(text) <= MAX_BYTES:
            return text
        if not last:
            raise ConfigError("The saved calls are too large in total.", next_step="Delete some of them.")
        last = last[len(last) // 2 + 1 :]


def _entry(key: CallKey, arguments: Any, name: str = "") -> dict[str, Any]:
    saved_as = {"saved_as": name} if name else {}
    return {
        "server": key.server,
        "kind": key.kind.value,
        "name": key.name,
        **saved_as,
        "arguments": arguments,
    }


def _damaged(path: Path, why: str) -> ConfigError:
    return ConfigError(why, where=str(path), next_step="It was not changed. Move it away to start over.")
