"""`mcptui test --load`: N calls at once for a time, beside the run before.

With `--json`, one object: `at_once`, `calls` (what was called, as objects with `tool` and `arguments`),
`interrupted`, `errors` (counts by sentence), and the numbers `now` and `before` (null for the first run):
`at`, `seconds`, `calls`, `rate` (per second), `p50`, `p95`, `p99`, `slowest` (milliseconds) and `errors`.
"""

import argparse
import asyncio
import hashlib
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tui.addons.tests.python.examples import example_arguments
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.one_server import OneServer, file_and_words, with_one_server
from tui.addons.tests.suite.case import Request, RequestKind, as_sent
from tui.commands.call.arguments import Arguments
from tui.commands.headless import Interrupt
from tui.commands.progress import progress
from tui.commands.streams import width
from tui.commands.table import json_line, table
from tui.core.errors import UsageError
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, compact, list_in, mapping, text_in
from tui.core.units import and_more, bounded, day_and_time, duration, plural
from tui.core.web import is_loopback
from tui.core.workbench import RawAnswer
from tui.settings.locations import state_dir
from tui.settings.state.state_file import KeyedList

MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """The numbers of a run; times in milliseconds, of calls that were answered.

    Attributes:
        at: seconds since the epoch.
        rate: answered calls per second.
        errors: calls without a result, or with one that is an error.
    """

    at: float
    seconds: float
    calls: int
    rate: float
    p50: float
    p95: float
    p99: float
    slowest: float
    errors: int


@dataclass(slots=True)
class Samples:
    """The calls of a run, as they end."""

    times: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    """By sentence."""

    def measured(self, at: float, seconds: float) -> Measured:
        times, failed = sorted(self.times), self.errors.total()
        p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        rate = len(times) / seconds if seconds else 0.0
        slowest = times[-1] if times else 0.0
        return Measured(at, seconds, len(times), rate, p50, p95, p99, slowest, failed)


def percentile(times: Sequence[float], share: float) -> float:
    """Return the time that a share of sorted times does not exceed (nearest rank); 0 without any."""
    return times[max(0, math.ceil(share * len(times)) - 1)] if times else 0.0


class LastLoads:
    """The last run for each key: a server, calls, and how many at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._list = KeyedList[str, Measured](
            path or state_dir() / "loads.json", "the last loads", "loads", _read, _write, MOST_RUNS
        )

    def replace(self, key: str, measured: Measured) -> Measured | None:
        """Store a run; return the one before it, or None. Blocks. A failure is only logged."""
        before = self._list.read().get(key)
        self._list.file.try_to_change(self._list.change({key: measured}))
        return before


def _read(entry: Any) -> tuple[str, Measured] | None:
    if not isinstance(entry, Mapping) or not isinstance(key := entry.get("key"), str):
        return None
    numbers = {name: bounded(entry.get(name)) for name in Measured.__slots__}
    found = {name: number for name, number in numbers.items() if number is not None}
    return (key, Measured(**found)) if len(found) == len(numbers) else None  # type: ignore[arg-type]


def _write(key: str, measured: Measured) -> dict[str, Any]:
    return {"key": key, **asdict(measured)}


OK, FAILED, NOT_STARTED = 0, 1, 5
USUAL_MS = 30_000.0
MOST_SHOWN = 5
"""Kinds of errors that are printed."""


def load(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    file, words = file_and_words(args.words)

    async def work(server: OneServer, answers: CaseAnswers, interrupt: Interrupt) -> int:
        _require_near(server.spec, args)
        if (instance := await server.started()) is None:
            return NOT_STARTED
        server.runtime.traffic.listener = None
        run = _Load(instance, _requests(server, instance, words), args.load, args.seconds)
        interrupt.on_signal = run.stop
        with answers.during(instance.name, {}):
            await run.first()
            milliseconds = args.duration or USUAL_MS
            said = f"{plural(args.load, 'call')} at once for {duration(milliseconds)}"
            print(f"· {said}: {_shown(run.requests)}", file=sys.stderr, flush=True)
            began, at = time.monotonic(), time.time()
            with progress(said):
                await run.during(milliseconds / 1000)
        now = run.samples.measured(at, time.monotonic() - began)
        before = await asyncio.to_thread(LastLoads().replace, _key(server.spec, run.requests, args.load), now)
        _print(args, run, now, before)
        return interrupt.exit_code if run.interrupted else FAILED if now.errors else OK

    return with_one_server(args, "--load", work, file=file, record=False)


@dataclass(slots=True)
class _Load:
    """Keeps a number of calls under way. `ended` is why it stopped early, or ""."""

    instance: ServerInstance
    requests: Sequence[Request]
    at_once: int
    seconds: float
    samples: Samples = field(default_factory=Samples)
    interrupted: bool = False
    ended: str = ""
    _ends: float = 0.0
    _numbers: "count[int]" = field(default_factory=count)

    def stop(self) -> None:
        self.interrupted = True
        self._ends = 0.0

    async def first(self) -> None:
        """Call each tool once, alone, and leave out those that fail. Raises UsageError if all do."""
        is_one = len(self.requests) == 1
        failed = dict[str, str]()
        for request in self.requests:
            self.instance.record(request.name, request.arguments)
            if why := problem_of(await self._call(request)):
                name = clean_line(request.name, 80)
                if is_one:
                    raise UsageError(f"{name} already fails when it is called once: {why.rstrip('.')}.")
                failed[name] = why
                print(f"· left out, because it fails: {name}: {why}", file=sys.stderr)
                await self.instance.running()
        self.requests = [one for one in self.requests if clean_line(one.name, 80) not in failed]
        if not self.requests:
            raise UsageError(
                "every tool already fails when it is called once.",
                next_step="Name one with its arguments: mcptui test --load N TOOL NAME=VALUE …",
            )

    async def during(self, seconds: float) -> None:
        """Call for a time, and wait for the last responses."""
        self._ends = 0.0 if self.interrupted else time.monotonic() + seconds
        await asyncio.gather(*(self._caller() for _ in range(self.at_once)))

    async def _caller(self) -> None:
        while time.monotonic() < self._ends:
            request = self.requests[next(self._numbers) % len(self.requests)]
            began = time.perf_counter()
            answer = await self._call(request)
            if not answer.problem:
                self.samples.times.append((time.perf_counter() - began) * 1000)
            if why := problem_of(answer):
                self.samples.errors[why] += 1
            if answer.lost or not self.instance.workbench.is_running(self.instance.name):
                self.ended = self.ended or answer.problem
                self._ends = 0.0

    async def _call(self, request: Request) -> RawAnswer:
        method, params = as_sent(request)
        call = f"hand-load-{next(self._numbers)}"
        name, seconds = self.instance.name, self.seconds
        return await self.instance.workbench.request(
            name, method, params, call=call, seconds=seconds, whole=False
        )


def problem_of(answer: RawAnswer) -> str:
    """Return why a call failed, in one line, or ""."""
    if answer.problem:
        return clean_line(answer.problem.partition("\n")[0], 200)
    if answer.error is not None:
        return clean_line(f"error {answer.error.get('code')}: {text_in(answer.error, 'message')}", 200)
    result = mapping(answer.result)
    if not is_tool_error(result):
        return ""
    texts = (text_in(mapping(one), "text") for one in list_in(result, "content"))
    return clean_line(next(filter(None, texts), "isError is true, without a text"), 200)


def _require_near(spec: ServerSpec, args: argparse.Namespace) -> None:
    """Raise UsageError for a server elsewhere, unless the user wants that."""
    if spec.url and not args.remote and not is_loopback(urlsplit(spec.url).hostname or ""):
        raise UsageError(
            f"{clean_line(spec.name, 80)} is not on this computer.",
            next_step="Use --remote if you may put a load on it.",
        )


def _requests(server: OneServer, instance: ServerInstance, words: Sequence[str]) -> list[Request]:
    """Return the calls: the named one, kept ones, or those of read-only tools. Raises UsageError."""
    tools = {tool.name: tool for tool in instance.workbench.tools(instance.name)}
    if words:
        if (tool := tools.get(words[0])) is None:
            known = and_more([clean_line(name, 60) for name in tools], 20) or "none"
            raise UsageError(f"no tool {clean_line(words[0], 80)}.", next_step=f"Tools: {known}.")
        takes = Arguments(tool.name, tool.schema)
        given = takes.from_pairs(words[1:]) or example_arguments(tool.schema, tool.description)[0]
        takes.require(given)
        return [Request(RequestKind.TOOL, tool.name, given)]
    cases = server.suite.cases
    kept = [case.request for case in cases if not (case.skip or case.expected.error or case.then)]
    if kept := [request for request in kept if request.kind is RequestKind.TOOL]:
        return kept
    found = list[Request]()
    for tool in tools.values():
        given, missing = example_arguments(tool.schema, tool.description)
        if tool.read_only and not missing:
            found.append(Request(RequestKind.TOOL, tool.name, given))
    if not found:
        raise UsageError(
            "no tool is marked as read-only and has examples for its arguments.",
            next_step="Name one: mcptui test --load N TOOL NAME=VALUE … -- COMMAND",
        )
    return found


def _key(spec: ServerSpec, requests: Sequence[Request], at_once: int) -> str:
    """Return what runs that are compared have in common, as a digest."""
    called = [[request.name, dict(request.arguments)] for request in requests]
    what = json.dumps([spec.origin, spec.cwd, at_once, called], sort_keys=True)
    return hashlib.sha256(what.encode("utf-8", "replace")).hexdigest()[:32]


def _shown(requests: Sequence[Request]) -> str:
    shown = [
        f"{clean_line(one.name, 60)} {compact(dict(one.arguments), 80) if one.arguments else ''}".rstrip()
        for one in requests
    ]
    return and_more(shown, 4)


# ---- output ----------------------------------------------------------------------------------------------


def _print(args: argparse.Namespace, run: _Load, now: Measured, before: Measured | None) -> None:
    errors: Mapping[str, int] = dict(run.samples.errors.most_common())
    if args.json:
        found: dict[str, Any] = {
            "at_once": run.at_once,
            "calls": [{"tool": one.name, "arguments": one.arguments} for one in run.requests],
            "interrupted": run.interrupted,
            "errors": errors,
            "now": asdict(now),
            "before": None if before is None else asdict(before),
        }
        print(json_line(found))
        return
    if run.ended:
        print(f"Stopped early: {clean_line(run.ended, 300)}")
    head, *rows = _rows(now, before)
    print(table(rows, {0}, width(), head=head))
    for why, number in [*errors.items()][:MOST_SHOWN]:
        print(f"  {plural(number, 'error')}: {why}")


def _rows(now: Measured, before: Measured | None) -> list[list[str]]:
    head = ["", "now"] + ([day_and_time(before.at), "change"] if before is not None else [])
    rows = [head]
    for name, label in _LABELS.items():
        row = [label, _value(name, now)]
        if before is not None:
            row += [_value(name, before), _change(getattr(now, name), getattr(before, name))]
        rows.append(row)
    return rows


_LABELS = {
    "calls": "calls",
    "rate": "calls/s",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
    "slowest": "slowest",
    "errors": "errors",
}


def _value(name: str, measured: Measured) -> str:
    value = getattr(measured, name)
    if name in ("calls", "errors"):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if name == "rate" else _milliseconds(value)


def _milliseconds(value: float) -> str:
    return f"{value:.2f} ms" if value < 10 else duration(value)


def _change(now: float, before: float) -> str:
    return f"{(now - before) / before:+.0%}" if before else ""
