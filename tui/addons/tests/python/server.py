"""The server that tests in Python talk to: `mcp_server(…)`, its results, and assertions about them."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.reports.ci_log import inert_in_ci
from tui.addons.tests.run.case_run import output_findings, roots_in
from tui.addons.tests.run.failure_text import mismatch_lines
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.run.outcome import ABSENT, Mismatch
from tui.addons.tests.suite.case import (
    ENDING,
    LISTS,
    UNSET,
    Expectation,
    Lose,
    Request,
    RequestKind,
    Suite,
    SuiteServer,
)
from tui.addons.tests.suite.durations import milliseconds
from tui.addons.tests.suite.json_path import value_at
from tui.addons.tests.suite.read import read_suite
from tui.addons.tests.suite.references import texts_of
from tui.core.comparison.placeholders import misspelled
from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.servers import SamplingRule
from tui.core.text import clean_line, quoted_name
from tui.core.units import plural
from tui.settings.new_server import is_address

MOST_SHOWN = 5
"""Differences that an assertion names."""

T = TypeVar("T")


class CallFailed(AssertionError):
    """There is no response: the server ended, did not start, or did not respond in time."""


@dataclass(frozen=True, slots=True)
class Result:
    """The response to a request. `assert_result` compares `response`; `notes` explain a difference."""

    response: Response
    notes: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The texts of the result, joined by line breaks, or the message of the error."""
        return self.response.text

    @property
    def data(self) -> Any:
        """The structured content, or else the JSON of the text; None without any."""
        value = self.response.value
        return None if value is ABSENT else value

    @property
    def content(self) -> Sequence[Mapping[str, Any]]:
        """The items that are not plain text, with type, mime, size, sha256, uri, name and text."""
        return self.response.content

    @property
    def is_error(self) -> bool:
        return self.response.is_error

    @property
    def raw(self) -> Any:
        """The result or the error object, as the server sent it."""
        return self.response.result if self.response.error is None else self.response.error

    @property
    def ms(self) -> float:
        """Milliseconds until the response."""
        return self.response.ms

    def value(self, path: str) -> Any:
        """Return the part of `data` at a path such as `$.items[0].id`. Raises LookupError."""
        return value_at(path, self.data)


@dataclass(frozen=True, slots=True, repr=False)
class Server:
    """A running server. Requests wait for their response, and return it even if it is an error."""

    _engine: Engine
    _instance: ServerInstance
    _folder: Path
    _seconds: float | None = None
    _lose: Lose | None = None
    _answers: Mapping[str, Any] = field(default_factory=dict)
    _fresh: bool = False

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **named: Any) -> Result:
        """Call a tool, with its arguments by name or as one mapping."""
        __tracebackhide__ = True
        return self._send(RequestKind.TOOL, tool, {**(arguments or {}), **named})

    def read(self, uri: str) -> Result:
        """Read a resource."""
        __tracebackhide__ = True
        return self._send(RequestKind.READ, uri, {})

    def prompt(self, name: str, arguments: Mapping[str, str] | None = None, /, **named: str) -> Result:
        """Get a prompt."""
        __tracebackhide__ = True
        return self._send(RequestKind.PROMPT, name, {**(arguments or {}), **named})

    def list(self, what: str = "tools") -> Result:
        """List all tools, resources, templates or prompts."""
        __tracebackhide__ = True
        if what not in LISTS:
            raise ValueError(f"lists are {', '.join(LISTS)}, not {quoted_name(what)}")
        return self._send(RequestKind.LIST, what, {})

    def options(
        self,
        *,
        lose: str = "",
        answers: Mapping[str, Any] | None = None,
        fresh: bool = False,
        timeout: str = "",
    ) -> "Server":
        """Return this server with options for its requests, as the keys of a test file.

        `lose` is "answer" or "connection": the request is sent, that is lost, and it is sent again. `answers`
        are for what the server asks meanwhile. `fresh`: each request gets a process of its own.
        `timeout` is a duration such as "5s".
        """
        if lose and lose not in [*Lose]:
            raise ValueError(f'lose is "answer" or "connection", not {quoted_name(lose)}')
        if answers and "sampling" in answers and self._instance.spec.sampling is SamplingRule.NEVER:
            raise ValueError("to answer sampling, start the server with mcp_server(…, sampling=True)")
        seconds = _ms(timeout) / 1000 if timeout else self._seconds
        lost = Lose(lose) if lose else None
        return replace(self, _seconds=seconds, _lose=lost, _answers=answers or {}, _fresh=fresh)

    def _send(self, kind: RequestKind, name: str, arguments: Mapping[str, Any]) -> Result:
        __tracebackhide__ = True
        return _result_of(lambda: self._engine.run(self._exchanged(Request(kind, name, arguments))))

    async def _exchanged(self, request: Request) -> Result:
        instance = self._engine.another(self._instance) if self._fresh else self._instance
        try:
            if not await instance.running():
                raise CallFailed(instance.problem)
            instance.use_roots(roots_in(self._answers, self._folder))
            with self._engine.answers.during(instance.name, self._answers) as script:
                exchange = await instance.send(request, seconds=self._seconds, lose=self._lose)
            answer, findings = exchange.answer, list(exchange.findings)
            if answer.problem:
                raise CallFailed(answer.problem)
            if script.mismatches:
                raise AssertionError(_said(script.mismatches))
            if request.kind is RequestKind.TOOL and answer.error is None:
                findings += await output_findings(request.name, answer.result, instance)
            response = Response(request.kind, answer.result, answer.error, exchange.ms, findings)
            return Result(response, script.notes)
        finally:
            if instance is not self._instance:
                await instance.close()


def _ms(timeout: str) -> float:
    if (ms := milliseconds(timeout)) is None:
        raise ValueError(f'{quoted_name(timeout)} is not a duration, such as "5s"')
    return ms


class Servers:
    """Starts the servers of a test module: `mcp_server` is its `start`."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._started: dict[str, ServerInstance] = {}

    def start(
        self,
        command: str | Sequence[str] | Path = "",
        /,
        *,
        name: str = "",
        env: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        cwd: str = "",
        transport: str = "",
        era: str = "",
        timeout: str = "",
        sampling: bool = False,
    ) -> Server:
        """Start a server, or return the one that runs already.

        `command` is a command line, its words, a URL, or the path of a test file. `name` is a configured
        server. `env`, `headers`, `cwd`, `transport`, `era` and `timeout` are as in a test file. `sampling`
        declares that a model can be asked, which `answers` need.
        """
        __tracebackhide__ = True
        ms = _ms(timeout) if timeout else None
        given = SuiteServer(name, (), "", env or {}, headers or {}, cwd, transport, era, ms)
        return _result_of(lambda: self._running(self._suite(command, given), sampling=sampling))

    def _running(self, suite: Suite, *, sampling: bool) -> Server:
        sampling = sampling or any("sampling" in case.answers for case in suite.cases)
        server = None if suite.server is None else replace(suite.server, timeout_ms=None)
        key = repr((server, sampling))
        if key not in self._started:
            try:
                self._started[key] = self._engine.run(self._engine.instance(suite, sampling=sampling))
            except ConfigError as error:
                error.where = error.where if suite.path.exists() else ""
                raise
        instance = self._started[key]
        if not self._engine.run(instance.running()):
            raise CallFailed(instance.problem)
        return Server(self._engine, instance, suite.path.absolute().parent, suite.seconds())

    def close(self) -> None:
        """Stop all servers."""
        for instance in self._started.values():
            self._engine.run(instance.close())
        self._started = {}

    def _suite(self, command: str | Sequence[str] | Path, given: SuiteServer) -> Suite:
        command = str(command) if isinstance(command, Path) else command
        is_file = isinstance(command, str) and command.endswith(ENDING)
        if command and given.name:
            raise ValueError("name= cannot be combined with a command")
        if is_file or not (command or given.name):
            if given != SuiteServer():
                raise ValueError(
                    "the [server] of a test file cannot be combined with env, cwd and other keys"
                )
            return read_suite(self._folder / str(command)) if is_file else self._only_suite()
        if command:
            words = tuple(shlex.split(command) if isinstance(command, str) else command)
            is_url = is_address(words[0])
            given = replace(given, url=words[0]) if is_url else replace(given, command=words)
        return Suite(self._folder / f"server{ENDING}", given)

    def _only_suite(self) -> Suite:
        found = sorted(self._folder.glob(f"*{ENDING}"))
        if len(found) != 1:
            raise UsageError(
                f"{clean_line(str(self._folder), 400)} has {len(found)} *{ENDING} files.",
                next_step='Name the server: mcp_server("python server.py").',
            )
        return read_suite(found[0])


def _result_of(work: Callable[[], T]) -> T:
    """Return the result of some work. What it raises has no traceback: it says itself what is wrong."""
    __tracebackhide__ = True
    try:
        return work()
    except (AssertionError, ValueError, McptuiError) as error:
        raise error.with_traceback(None) from None


def assertion(
    got: Result,
    expected: Any = ...,
    /,
    *,
    structured: Any = ...,
    content: Sequence[Mapping[str, Any]] | None = None,
    error: bool = False,
    findings: Sequence[str] = (),
) -> str:
    """Return how a result differs from what is expected of it, or ""."""
    if not isinstance(got, Result):
        raise TypeError(f"expected the result of a call of mcp_server, not {type(got).__name__}")
    is_text = isinstance(expected, str)
    value = structured if is_text or expected is ... else expected
    wanted = Expectation(
        text=expected if is_text else None,
        result=UNSET if value is ... else value,
        content=content,
        error=error,
        findings=tuple(findings),
    )
    mismatches = judge(wanted, got.response).mismatches
    wrong = [one for text in texts_of([wanted.text, value]) for one in misspelled(text)]
    notes = [f"{quoted_name(name)} is literal text, did you mean {meant}?" for name, meant in wrong]
    return _said(mismatches, [*got.notes, *notes]) if mismatches else ""


def _said(mismatches: Sequence[Mismatch], notes: Sequence[str] = ()) -> str:
    lines = [line for one in mismatches[:MOST_SHOWN] for line, _ in mismatch_lines(one)]
    more = len(mismatches) - MOST_SHOWN
    lines += [f"and {plural(more, 'more difference')}"] if more > 0 else []
    return inert_in_ci("\n".join([*lines, *(f"note: {clean_line(note, 400)}" for note in notes)]), os.environ)
