"""The server of --init, --fuzz and --load, which make calls of their own instead of those of cases."""

import argparse
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.command import test_options
from tui.addons.tests.run.findings import TrafficByServer
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.launch import configured_server, for_cases
from tui.addons.tests.run.plan import read_suites, taken_servers, with_servers
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.suite.case import ENDING, Suite, SuiteServer
from tui.commands.headless import Interrupt, config_words, headless, say_unsaved, starting
from tui.commands.permission.terminal_approver import is_terminal
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line
from tui.runtime.options import Options
from tui.settings.new_server import is_address, unconfigured_server

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


def server_options(args: argparse.Namespace, flag: str, file: str = "") -> Options:
    """Return the options of a runtime for the server that the arguments name. Raises UsageError.

    `flag` is the one that needs the server. `file` is a test file, which may name it instead.
    """
    if args.server and args.live_command:
        raise UsageError("--server cannot be combined with a command after --.")
    if not (args.server or args.live_command or file):
        raise UsageError(
            f"{flag} needs a server.",
            next_step="Use --server NAME for a configured one, or give its command: "
            f"mcptui test {flag} -- COMMAND",
        )
    options = test_options(args)
    words = args.live_command or ([args.server] if is_address(args.server or "") else [])
    return options.with_server(*unconfigured_server(words)) if words else options


def with_one_server(
    args: argparse.Namespace,
    flag: str,
    work: Callable[["OneServer", CaseAnswers, Interrupt], Awaitable[int]],
    *,
    file: str = "",
    record: bool = True,
) -> int:
    """Run `work` with the server of `server_options`, after consent, and return the exit code."""
    answers = CaseAnswers()

    async def start(runtime: "Runtime", interrupt: Interrupt) -> int:
        await runtime.ready(start=False, model=False, taps=False, session=False, record=record)
        return await work(await OneServer.of(runtime, args, file), answers, interrupt)

    return headless(server_options(args, flag, file), start, questioner=answers, ended=say_unsaved)


def file_and_words(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the test file among words, or "", and the other words. Raises UsageError if there are two."""
    files = [word for word in words if word.endswith(ENDING)]
    if len(files) > 1:
        raise UsageError(f"one test file names the server, not {len(files)}.")
    return "".join(files), [word for word in words if not word.endswith(ENDING)]


@dataclass(slots=True)
class OneServer:
    """The server, of which any number of processes can be started.

    Attributes:
        suite: the test file, or one without cases that names the server.
        configured: its name in the configuration, or "".
        env: further variables of its processes.
    """

    runtime: "Runtime"
    spec: ServerSpec
    suite: Suite
    configured: str = ""
    repeat: RepeatCommand = field(default_factory=RepeatCommand)
    env: dict[str, str] = field(default_factory=dict)
    _traffic: TrafficByServer = field(init=False)
    _number: int = 0

    def __post_init__(self) -> None:
        self._traffic = TrafficByServer(self.runtime.redactor.redact)
        self.runtime.traffic.listener = self._traffic

    @classmethod
    async def of(cls, runtime: "Runtime", args: argparse.Namespace, file: str = "") -> "OneServer":
        """Return the server of `server_options`, after consent. Raises McptuiError."""
        more = config_words(args)
        suite = Suite(Path())
        if file and not (args.server or args.live_command):
            (plan,) = await with_servers(read_suites([file]), runtime, can_ask=is_terminal())
            if plan.spec is None:
                raise UsageError(plan.problem, where=clean_line(file, 400))
            spec = replace(plan.spec, source="", used_by="", calls=())  # the user has just agreed to it
            return cls(runtime, spec, plan.suite, plan.configured, RepeatCommand((), plan.configured, more))
        if file:
            (plan,) = read_suites([file])
            suite = plan.suite
        specs = await taken_servers(runtime)
        is_own = not runtime.is_unconfigured
        spec = configured_server(args.server if is_own else next(iter(specs)), specs)
        runtime.consent.require([spec])
        suite = replace(suite, server=SuiteServer(url=spec.url)) if spec.url and not is_own else suite
        repeat = RepeatCommand(tuple(args.live_command), spec.name if is_own else "", more)
        return cls(runtime, spec, suite, spec.name if is_own else "", repeat)

    async def started(self) -> ServerInstance | None:
        """Return a process that runs, and say that it starts; None if it does not, after saying why."""
        name, instance = clean_line(self.spec.name, 80), self.process()
        with starting(name):
            if await instance.running():
                return instance
        print(f"mcptui: {name}: {clean(instance.problem)}", file=sys.stderr)
        return None

    def process(self) -> ServerInstance:
        """Return another process of the server, which is not started yet."""
        self._number += 1
        name = self.spec.name if self._number == 1 else f"{self.spec.name}-{self._number}"
        spec = for_cases(self.spec, Suite(Path()), name=name)
        spec = replace(spec, env={**spec.env, **self.env}) if self.env else spec
        traffic = self._traffic.of(name)
        return ServerInstance(self.runtime, spec, traffic, configured=self.configured)
