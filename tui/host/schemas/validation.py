"""Checks whether a value matches a schema, in bounded time for any schema.

A server's schema may contain a pattern with catastrophic backtracking, which nothing could stop in this
process (measured: the whole program froze). So only schemas without such keywords are applied here, and all
others in a worker process that is killed on timeout.
"""

import asyncio
import hashlib
import importlib
import json
import math
import os
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.core.background import end_worker, start_worker
from tui.core.language.translate import message
from tui.core.schemas.quick_checks import plainly_matches
from tui.core.schemas.schema_faults import parts

WORKER = "tui.host.schemas.validation_worker"
CHECK_SECONDS = 1.0
WORKER_START_SECONDS = 10.0
SIMPLE_NODES = 2_000
SIMPLE_WORK = 20_000
"""Schema nodes times value nodes that are checked in this process: about 15 ms."""

MOST_NODES = 50_000
MOST_TEXT = 2 * 1024 * 1024
"""Larger values are not sent to the worker, because encoding them would block the event loop."""

TOO_COSTLY = message("the schema is too complex")
STRIKES = 2
"""A schema that timed out this often is not tried again, because other checks wait for the worker."""

_COSTLY = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties", "format", "uniqueItems",
     "unevaluatedProperties", "unevaluatedItems", "propertyNames", "contains", "dependentSchemas"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SchemaVerdict:
    """The result of a check: `problem` with the place, `unchecked` if it could not be checked, or neither."""

    problem: str = ""
    unchecked: str = ""


class SchemaChecker:
    """Checks values; owns one worker process, started when the first schema needs it."""

    def __init__(self) -> None:
        self._worker: Process | None = None
        self._turn = asyncio.Lock()
        self._closed = False
        self._overruns: Counter[bytes] = Counter()

    async def check(self, schema: Mapping[str, Any], value: Any) -> SchemaVerdict:
        """Return whether `value` matches `schema`; takes a few seconds in the worst case."""
        if is_simple(schema, value):
            if plainly_matches(schema, value):
                return SchemaVerdict()
            # Importing takes 0.2 s: not on the event loop.
            rules = await asyncio.to_thread(importlib.import_module, WORKER)
            return SchemaVerdict(*rules.explain(schema, value))
        if _count(value, MOST_NODES, most_text=MOST_TEXT) is None:
            return SchemaVerdict(unchecked=message("the value is too large"))
        try:
            async with asyncio.timeout(CHECK_SECONDS + WORKER_START_SECONDS), self._turn:
                return await self._ask_worker(schema, value)
        except TimeoutError:
            return SchemaVerdict(unchecked=message("the checker is busy"))

    async def close(self) -> None:
        self._closed = True
        await self._kill()

    async def _ask_worker(self, schema: Mapping[str, Any], value: Any) -> SchemaVerdict:
        key = hashlib.sha256(json.dumps(schema).encode()).digest()
        if self._overruns[key] >= STRIKES:
            return SchemaVerdict(unchecked=TOO_COSTLY)
        sound = False
        try:
            worker, asked = await self._running_worker(), await asyncio.to_thread(json.dumps, [schema, value])
            assert worker.stdin is not None
            async with asyncio.timeout(CHECK_SECONDS):
                worker.stdin.write(asked.encode() + b"\n")
                await worker.stdin.drain()
                problem, unchecked = json.loads(await _line(worker))
            sound = True
            return SchemaVerdict(str(problem), str(unchecked))
        except TimeoutError:
            self._overruns[key] += 1
            return SchemaVerdict(unchecked=TOO_COSTLY)
        except (OSError, ValueError, RecursionError):
            return SchemaVerdict(unchecked=message("the checker ended"))
        finally:
            if not sound:  # killed or interrupted: the next check gets a new worker
                await self._kill()

    async def _running_worker(self) -> Process:
        if self._worker is None or self._worker.returncode is not None:
            await self._kill()
            if not self._closed:
                paths = os.pathsep.join((str(Path(__file__).parents[3]), *filter(None, sys.path)))
                self._worker = await start_worker(("-P", "-m", WORKER), PYTHONPATH=paths)
            if self._closed or self._worker is None:
                raise OSError(message("mcptui is quitting"))
            try:
                async with asyncio.timeout(WORKER_START_SECONDS):
                    await _line(self._worker)
            except TimeoutError as error:  # not the schema's fault
                raise OSError(message("the worker did not start")) from error
        return self._worker

    async def _kill(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await end_worker(worker)


def is_simple(schema: Any, value: Any) -> bool:
    """Whether a check in this process is certainly quick: few nodes, and no keyword that can be costly."""
    nodes = _count(schema, SIMPLE_NODES, forbidden=_COSTLY)
    return nodes is not None and _count(value, SIMPLE_WORK // nodes) is not None


def _count(
    root: Any, most: int, *, forbidden: frozenset[str] = frozenset(), most_text: float = math.inf
) -> int | None:
    """Count the nodes of a JSON value; None if it is too large, or has a forbidden key."""
    nodes = text = 0
    stack = [root]
    while stack:
        node = stack.pop()
        nodes += 1
        text += len(node) if isinstance(node, str) else 0
        if nodes + len(stack) > most or text > most_text:
            return None
        if isinstance(node, dict) and not forbidden.isdisjoint(node):
            return None
        stack.extend(parts(node))
    return nodes


async def _line(worker: Process) -> bytes:
    assert worker.stdout is not None
    if not (line := await worker.stdout.readline()):
        raise OSError(message("the worker ended"))
    return line
