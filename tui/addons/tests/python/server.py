"""The server that tests in Python talk to: `mcp_server(…)`, its results, and assertions about them."""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.reports.ci_log import inert_in_ci
from tui.addons.tests.run.case_run import output_findings
from tui.addons.tests.run.failure_text import mismatch_lines
from tui.addons.tests.run.instance import Exchange, ServerInstance
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import ENDING, UNSET, Expectation, Lose, RequestKind, Suite, SuiteServer
from tui.addons.tests.suite.durations import milliseconds
from tui.addons.tests.suite.json_path import value_at
from tui.addons.tests.suite.read import read_suite
from tui.core.errors import UsageError
from tui.core.text import clean_line, quoted_name
from tui.core.units import plural
from tui.settings.new_server import is_address

MOST_SHOWN = 5
"""Differences that an assertion names."""


class CallFailed(AssertionError):
    """There is no response: the server ended, did not start, or did not respond in time."""


@dataclass(frozen=True, slots=True)
class Result:
    """The response to a request. `response` is what `assert_result` compares."""

    response: Response

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


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """How a request is sent: see `Server.options`."""

    lose: Lose | None = None
    answers: Mapping[str, Any] | None = None
    fresh: bool = False
    seconds: float | None = None


class Server:
    """A running server. Requests wait for their response, and return it even if it is an error."""

    def __init__(
        self, engine: Engine, instance: ServerInstance, options: RequestOptions | None = None
    ) -> None:
        self._engine = engine
        self._instance = instance
        self._options = options or RequestOptions()

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
        seconds: float | None = None
        if timeout:
            if (ms := milliseconds(timeout)) is None:
                raise ValueError(f'{quoted_name(timeout)} is not a duration, such as "5s"')
            seconds = ms / 1000
        found = RequestOptions(Lose(lose) if lose else None, answers, fresh, seconds)
        return Server(self._engine, self._instance, found)

    def _send(self, kind: RequestKind, name: str, arguments: Mapping[str, Any]) -> Result:
        __tracebackhide__ = True
        return self._engine.run(self._exchanged(kind, name, arguments))

    async def _exchanged(self, kind: RequestKind, name: str, arguments: Mapping[str, Any]) -> Result:
        instance = self._engine.another(self._instance) if self._options.fresh else self._instance
        try:
            if not await instance.running():
                raise CallFailed(instance.problem)
            with self._engine.answers.during(instance.name, self._options.answers or {}):
                exchange = await self._after_losses(instance, kind, name, arguments)
            return Result(await self._response(instance, kind, name, exchange))
        finally:
            if instance is not self._instance:
                await instance.close()

    async def _after_losses(
        self, instance: ServerInstance, kind: RequestKind, name: str, arguments: Mapping[str, Any]
    ) -> Exchange:
        if self._options.lose is not None:
            await instance.send(kind, name, arguments, self._options.seconds)
        if self._options.lose is Lose.CONNECTION and not await instance.reconnect():
            raise CallFailed(f"after the connection was lost: {instance.problem}")
        exchange = await instance.send(kind, name, arguments, self._options.seconds)
        if exchange.answer.problem:
            raise CallFailed(exchange.answer.problem)
        return exchange

    async def _response(
        self, instance: ServerInstance, kind: RequestKind, name: str, exchange: Exchange
    ) -> Response:
        answer, findings = exchange.answer, list(exchange.findings)
        if kind is RequestKind.TOOL and answer.error is None:
            findings += await output_findings(name, answer.result, instance)
        return Response(kind, answer.result, answer.error, exchange.ms, findings)


class Servers:
    """Starts the servers of a test module: `mcp_server` is its `start`."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._started: dict[str, ServerInstance] = {}

    def start(self, command: str | Sequence[str] | Path = "", /, *, name: str = "", **more: Any) -> Server:
        """Start a server, or return the one that runs already.

        `command` is a command line, its words, a URL, or the path of a test file. `name` is a configured
        server. `env`, `headers`, `cwd`, `transport` and `era` are as in a test file.
        """
        __tracebackhide__ = True
        suite = self._suite(command, name, more)
        key = repr(suite.server)
        if (instance := self._started.get(key)) is None:
            instance = self._started[key] = self._engine.run(self._engine.instance(suite))
        if not self._engine.run(instance.running()):
            raise CallFailed(instance.problem)
        return Server(self._engine, instance)

    def close(self) -> None:
        """Stop all servers."""
        for instance in self._started.values():
            self._engine.run(instance.close())
        self._started = {}

    def _suite(self, command: str | Sequence[str] | Path, name: str, more: Mapping[str, Any]) -> Suite:
        if isinstance(command, Path) or (isinstance(command, str) and command.endswith(ENDING)):
            return read_suite(self._folder / command)
        if not command and not name:
            return self._only_suite()
        server = SuiteServer(name=name)
        if not name:
            words = tuple(shlex.split(command) if isinstance(command, str) else command)
            server = SuiteServer(url=words[0]) if is_address(words[0]) else SuiteServer(command=words)
        return Suite(self._folder / f"server{ENDING}", replace(server, **more))

    def _only_suite(self) -> Suite:
        found = sorted(self._folder.glob(f"*{ENDING}"))
        if len(found) != 1:
            raise UsageError(
                f"{clean_line(str(self._folder), 400)} has {len(found)} *{ENDING} files.",
                next_step='Name the server: mcp_server("python server.py").',
            )
        return read_suite(found[0])


@contextmanager
def servers(engine: Engine, folder: Path) -> Iterator[Callable[..., Server]]:
    """Return `mcp_server` for the tests of a module in `folder`; its servers end with it."""
    started = Servers(engine, folder)
    try:
        yield started.start
    finally:
        started.close()


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
    lines = [line for one in mismatches[:MOST_SHOWN] for line, _ in mismatch_lines(one)]
    more = len(mismatches) - MOST_SHOWN
    said = "\n".join([*lines, *([f"and {plural(more, 'more difference')}"] if more > 0 else [])])
    return inert_in_ci(said, os.environ)
