"""Waits for changes of files. An editor that writes twice, or writes a copy and renames it, causes one."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from typing import Any

from tui.addons.watch.globs import folders, matcher
from tui.core.background import cancel_all
from tui.core.library_imports import importing

STEP_MS, LONGEST_MS = 50, 500
"""A change is reported once nothing else has changed for the former, or after the latter."""

GONE_SECONDS = 0.15
"""How long a file may be gone while an editor replaces it."""

SAME_SECONDS = 1.0
"""A file that is written again within this time, with the same content, has not changed."""

MAX_READ = 4 * 1024 * 1024

Stamp = tuple[int, int, int] | None
"""What tells one version of a file from another: inode, modification time, size; None without a file."""


class SeenFiles:
    """Tells whether files have changed since they were last seen. Blocks."""

    def __init__(self, patterns: Sequence[str], folder: str) -> None:
        self.matches = matcher(patterns, folder)
        self.patterns, self.folder = patterns, folder
        self._seen: dict[str, tuple[float, bytes]] = {}
        self._stamps = self._all_stamps()

    @property
    def is_empty(self) -> bool:
        """Whether there is no such file."""
        return not any(self._stamps.values())

    def changed(self, paths: Iterable[str], *, is_used: bool) -> list[str]:
        """Return those of the files that are watched, and not as they were a moment ago.

        `is_used` tells that the server has read them as they were then: it may have read half of a file.
        """
        watched = sorted(path for path in {*paths} if self.matches(path) and not os.path.isdir(path))
        if watched and not any(map(os.path.exists, watched)):
            time.sleep(GONE_SECONDS)
        now, found = time.monotonic(), list[str]()
        for path in watched:
            if (stamp := _stamp(path)) == self._stamps.get(path):
                continue
            self._stamps[path] = stamp
            content = _digest(path)
            at, before = self._seen.get(path, (float("-inf"), b""))
            if not is_used or content != before or now - at > SAME_SECONDS:
                found.append(path)
            self._seen[path] = now, content
        return found

    def missed(self) -> Iterable[str]:
        """Return the files that have changed although nobody was told."""
        now = self._all_stamps()
        return [path for path in now.keys() | self._stamps.keys() if now.get(path) != self._stamps.get(path)]

    def _all_stamps(self) -> dict[str, Stamp]:
        found = dict[str, Stamp]()
        for one in folders(self.patterns, self.folder):
            with suppress(OSError), os.scandir(one) as entries:
                found |= {entry.path: _stamp(entry.path) for entry in entries if self.matches(entry.path)}
        return found


def _stamp(path: str) -> Stamp:
    try:
        known = os.stat(path)
    except OSError:
        return None
    return known.st_ino, known.st_mtime_ns, known.st_size


def _digest(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read(MAX_READ)).digest()
    except OSError:
        return b""


async def changes(seen: SeenFiles, is_used: Callable[[], bool]) -> AsyncGenerator[list[str]]:
    """Yield the files that have changed since they were seen, each time that some have. Raises OSError.

    `is_used` returns whether the server runs with the files as they were yielded last.
    """
    awatch, Change = await asyncio.to_thread(watch_library)

    def is_wanted(change: object, path: str) -> bool:
        return seen.matches(path) or (change is not Change.modified and os.path.isdir(path))

    while True:
        if not (watched := await asyncio.to_thread(folders, seen.patterns, seen.folder)):
            await asyncio.sleep(SAME_SECONDS)
            continue
        watching = awatch(
            *watched,
            watch_filter=is_wanted,
            recursive=False,
            step=STEP_MS,
            debounce=LONGEST_MS,
            ignore_permission_denied=True,
        )
        async with aclosing(_after_start(watching, seen)) as batches:
            async for paths in batches:
                if found := await asyncio.to_thread(seen.changed, paths, is_used=is_used()):
                    yield found
                if await asyncio.to_thread(_has_folders, paths, watched):
                    break


async def _after_start(watching: AsyncGenerator[Any], seen: SeenFiles) -> AsyncGenerator[Iterable[str]]:
    """Yield the files that have changed until the library watches, and then what it yields."""
    async with aclosing(watching):
        following = asyncio.ensure_future(anext(watching))
        try:
            await asyncio.sleep(0)  # it watches from its first step on
            yield await asyncio.to_thread(seen.missed)
            yield [path for _, path in await following]
        finally:
            await cancel_all((following,))
        async for batch in watching:
            yield [path for _, path in batch]


def _has_folders(paths: Iterable[str], watched: Iterable[str]) -> bool:
    """Return whether a folder is new or gone."""
    return any(map(os.path.isdir, paths)) or not all(map(os.path.isdir, watched))


def watch_library() -> tuple[Any, Any]:
    """Import what watches files. Takes a moment."""
    with importing():
        from watchfiles import Change, awatch

    return awatch, Change
