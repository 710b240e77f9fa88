"""Checks whether a value matches a schema in bounded time for any schema, and whether a schema is usable.

A server's schema may contain a pattern with catastrophic backtracking, which nothing could stop in this
process (measured: the whole program froze). So only schemas without such keywords are applied here, and all
others in a worker process that is killed on timeout.

`schema_fault` finds what makes a tool's schema unusable, without a validator. Schemas come from servers, and
may be as deep, large and circular as JSON allows, so it does not recurse. Nothing is ever fetched, because
the specification forbids it.
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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.core.background import end_worker, start_worker
from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.schemas.schemas import has_kind, subschemas
from tui.core.text import quoted_name

WORKER = "tui.host.schemas.validation_worker"
CHECK_SECONDS = 1.0
WORKER_START_SECONDS = 10.0
SIMPLE_NODES = 2_000
SIMPLE_WORK = 20_000
"""Schema nodes times value nodes that are checked in this process: about 15 ms."""

MOST_NODES = 50_000
MOST_TEXT = 2 * 1024 * 1024
"""Larger values are not sent to the worker, because encoding them would block the event loop."""

TOO_COSTLY = "the schema is too complex"
STRIKES = 2
"""A schema that timed out this often is not tried again, because other checks wait for the worker."""

_COSTLY = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties", "format", "uniqueItems",
     "unevaluatedProperties", "unevaluatedItems", "propertyNames", "contains", "dependentSchemas"}
)  # fmt: skip

DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#")
"""The dialects of nearly all tools."""

_REMARKS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)


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
            return SchemaVerdict(unchecked="the value is too large")
        try:
            async with asyncio.timeout(CHECK_SECONDS + WORKER_START_SECONDS), self._turn:
                return await self._ask_worker(schema, value)
        except TimeoutError:
            return SchemaVerdict(unchecked="the checker is busy")

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
            return SchemaVerdict(unchecked="the checker ended")
        finally:
            if not sound:  # killed or interrupted: the next check gets a new worker
                await self._kill()

    async def _running_worker(self) -> Process:
        if self._worker is None or self._worker.returncode is not None:
            await self._kill()
            if not self._closed:
                self._worker = await _spawn()
            if self._closed or self._worker is None:
                raise OSError("mcptui is quitting")
            try:
                async with asyncio.timeout(WORKER_START_SECONDS):
                    await _line(self._worker)
            except TimeoutError as error:  # not the schema's fault
                raise OSError("the worker did not start") from error
        return self._worker

    async def _kill(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await end_worker(worker)


def is_simple(schema: Any, value: Any) -> bool:
    """Whether a check in this process is certainly quick: few nodes, and no keyword that can be costly."""
    nodes = _count(schema, SIMPLE_NODES, forbidden=_COSTLY)
    return nodes is not None and _count(value, SIMPLE_WORK // nodes) is not None


def plainly_matches(schema: Any, value: Any) -> bool:
    """Whether `value` certainly matches `schema`; False if a keyword may differ between dialects.

    False is not a verdict. Nearly every call is decided here, because loading the library takes 0.2 s and 3
    MB.
    """
    if isinstance(schema, bool):
        return schema
    return isinstance(schema, dict) and all(
        isinstance(name, str) and (name in _REMARKS or _satisfies_keyword(name, schema, value))
        for name in schema
    )


def _satisfies_keyword(name: str, schema: Mapping[str, Any], value: Any) -> bool:
    wanted = schema[name]
    match name:
        case "type":
            return any(has_kind(value, kind) for kind in (wanted if isinstance(wanted, list) else [wanted]))
        case "properties" | "additionalProperties":
            return isinstance(value, dict) and _has_members(schema, value)
        case "required":
            names = isinstance(wanted, list) and isinstance(value, dict)
            return names and all(isinstance(one, str) and one in value for one in wanted)
        case "items":
            return isinstance(value, list) and all(plainly_matches(wanted, one) for one in value)
        case "anyOf":
            return isinstance(wanted, list) and any(plainly_matches(one, value) for one in wanted)
        case "enum":
            return isinstance(value, str) and isinstance(wanted, list) and value in wanted
        case "$schema":
            return wanted in DIALECTS
        case "minimum" | "maximum" if has_kind(value, "number") and has_kind(wanted, "number"):
            return bool(value >= wanted if name == "minimum" else value <= wanted)
        case _:
            return False


def _has_members(schema: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return isinstance(known, dict) and all(
        plainly_matches(known.get(key, others), member) for key, member in value.items()
    )


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
        stack.extend(_parts(node))
    return nodes


def _parts(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


async def _spawn() -> Process:
    paths = os.pathsep.join((str(Path(__file__).parents[3]), *filter(None, sys.path)))
    return await start_worker(("-P", "-m", WORKER), PYTHONPATH=paths)


async def _line(worker: Process) -> bytes:
    assert worker.stdout is not None
    if not (line := await worker.stdout.readline()):
        raise OSError("the worker ended")
    return line


MAX_DEPTH = 64
MAX_NODES = 20_000

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")


def schema_fault(schema: Any) -> str:
    """Return why a tool with this schema cannot be offered, or ""."""
    if not isinstance(schema, dict):
        return f"is {_kind(schema)}, not an object"
    if fault := _too_much(schema):
        return fault
    nodes = list(_nodes(schema))
    ids = {node["$id"].split("#")[0] for node in nodes if isinstance(node.get("$id"), str)}
    for ref in (node[key] for node in nodes for key in REFERENCES if key in node):
        if not isinstance(ref, str):
            return "has a $ref that is not a string"
        if not ref.startswith("#") and ref.split("#")[0] not in ids:
            return f"has an external $ref ({quoted_name(ref, 80)}), which mcptui does not fetch"
    # A validator would never return from a schema that applies itself to the same value.
    done: set[int] = set()
    return "has a circular reference" if any(_circles(schema, node, done) for node in nodes) else ""


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "an array"}
    return names.get(type(value), "missing")


def _too_much(schema: Any) -> str:
    nodes, level = 1, [schema]
    for _ in range(MAX_DEPTH):
        level = [part for node in level for part in _parts(node)]
        nodes += len(level)
        if nodes > MAX_NODES:
            return f"has more than {MAX_NODES:,} parts"
        if not level:
            return ""
    return f"nests deeper than {MAX_DEPTH} levels"


def _nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and all schemas in it."""
    stack = [schema]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(subschemas(node))


def _applied_at_once(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[Any]:
    yield local_target(schema, reference(node))
    for key in _IN_PLACE:
        if isinstance(found := node.get(key), list):
            yield from found
    for key in _IN_PLACE_SINGLE:
        yield node.get(key)


def _circles(schema: Mapping[str, Any], start: Mapping[str, Any], done: set[int]) -> bool:
    """Depth-first search with an explicit stack; `done` holds nodes known to be free of cycles."""
    path: list[tuple[int, Iterator[Any]]] = []
    on_path: set[int] = set()
    following: Any = start
    while True:
        if isinstance(following, dict) and id(following) not in done:
            if id(following) in on_path:
                return True
            on_path.add(id(following))
            path.append((id(following), _applied_at_once(schema, following)))
        if not path:
            return False
        following = next(path[-1][1], _END)
        while following is _END:
            known, _ = path.pop()
            on_path.discard(known)
            done.add(known)
            if not path:
                return False
            following = next(path[-1][1], _END)


_END = object()
