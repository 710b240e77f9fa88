"""Runs `mcptui call`, `read`, `prompt` and `list`: starts one server and sends it one request."""

import argparse
import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tui.commands.call.arguments import Arguments, json_object
from tui.commands.call.items import prompt_of, tool_of
from tui.commands.call.one_server import NOT_STARTED, OK, REFUSED, TIMEOUT, OneServer
from tui.commands.call.output import (
    OutputFile,
    result_text,
    write_contents,
    write_json,
    write_listing,
    write_prompt,
    write_result,
)
from tui.commands.call.request import KINDS, kinds, unconfigured
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import Interrupt, headless, say_printed, say_unrecorded
from tui.commands.progress import progress
from tui.commands.streams import err, is_elsewhere
from tui.core import units
from tui.core.addons import brought
from tui.core.errors import UsageError
from tui.core.jsonrpc.extensions import PREFIX
from tui.core.permission.rules import Verdict
from tui.core.ports import hand_call
from tui.core.servers import ServerStatus
from tui.core.text import clean, clean_line
from tui.core.tools import CallFailure, Tool, ToolResult
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

BY_COMMAND = "command mcptui call"


def call_own(args: argparse.Namespace, named: str | None, words: tuple[str, ...], given: str | None) -> int:
    """Run one of the four commands with a server of its own, and return its exit code."""
    output = OutputFile(args.output) if vars(args).get("output") else None
    options, spec = Options.from_args(args), unconfigured(args, named)
    if spec is not None:
        options = options.with_server(*spec)
    if args.command == "list" and words:  # which list was meant: the host requests all of them
        options = replace(options, command=f"list {words[0]}")

    async def work(runtime: Runtime, _: Interrupt) -> int:
        if vars(args).get("search") is not None:
            from tui.commands.call.search import search  # ranking is not needed for a call

            def lister(one: OneServer, kinds: Sequence[str]) -> Awaitable[int]:
                return Call(one, kinds, None, None).run()

            return await search(args, named, words[0] if words else "", runtime, lister)
        one = OneServer(args, named, runtime)
        try:
            return NOT_STARTED if await one.start() is None else await Call(one, words, given, output).run()
        finally:
            say_printed(runtime)

    return headless(options, work, questioner=FlagAnswers.of(args), ended=say_unrecorded)


@dataclass(slots=True)
class Call:
    """One request of a command to its server, which runs. `by` is who the record of decisions names."""

    _one: OneServer
    _words: Sequence[str]
    _given: str | None
    _output: OutputFile | None
    by: str = BY_COMMAND
    id: str = field(default_factory=lambda: f"hand-{uuid.uuid4().hex[:12]}")

    @property
    def _args(self) -> argparse.Namespace:
        return self._one.args

    @property
    def _runtime(self) -> Runtime:
        return self._one.runtime

    async def run(self) -> int:
        """Return the exit code. Raises UsageError."""
        status = self._runtime.host.status(self._one.name)
        match self._args.command:
            case "call":
                return await self._call(status)
            case "read":
                return await self._read()
            case "prompt":
                return await self._prompt()
            case _:
                return await self._list(status)

    # ---- call ----------------------------------------------------------------------------------------

    async def _call(self, status: ServerStatus) -> int:
        workbench = self._runtime.workbench
        name, *words = self._words
        tool = tool_of(self._runtime, self._one.name, name)
        takes = Arguments(tool.name, tool.schema)
        arguments = self._arguments(takes, words)
        if not self._args.unchecked:
            takes.require(arguments)
            if problem := clean_line(await workbench.check(tool, arguments), 400):
                name = clean_line(tool.name, 80)
                raise UsageError(f"invalid arguments for {name}: {problem}.", next_step=takes.usage())
        rule = self._runtime.turn_context.policy.rules.deciding(tool.server, tool.name, arguments)
        if rule is not None and rule.action is Verdict.DENY:
            print(f"· a rule denies this call to the model: {clean_line(str(rule), 300)}", file=err())
        self._runtime.decisions.add(hand_call(tool.server, tool.name, arguments, by=self.by))
        with self._waiting():
            result = await self._result(tool, arguments)
        return self._print(result, write_result)

    async def _result(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. If the call becomes a task, it has no time limit unless --seconds sets one."""
        workbench, timeout = self._runtime.workbench, self._one.timeout
        limit = timeout.limit()
        limit.pause()  # until it is a task: a call ends at its own timeout
        stream = err()  # progress is not reported in this task

        def progress(done: float | None, total: float | None, message: str) -> None:
            if self._args.seconds is not None and workbench.task_of(self._one.name, self.id) is not None:
                limit.resume()
            limit.restart()
            told = units.progress(done, total, clean_line(message, 80).strip())
            print(f"  … {told}", file=stream, flush=True)

        try:
            async with limit:
                return await workbench.call_tool(
                    tool, arguments, call=self.id, seconds=timeout, progress=progress
                )
        except (TimeoutError, asyncio.CancelledError) as error:
            if (task := workbench.task_of(self._one.name, self.id)) is not None:
                await workbench.cancel_task(task)
            if isinstance(error, asyncio.CancelledError):
                raise
            text = f"The task {timeout.passed(limit)} It was cancelled."
            return ToolResult.failed(text, CallFailure.TIMEOUT)

    def _waiting(self) -> AbstractContextManager[object]:
        """Show that the server has not answered yet, unless another process waits, or it is JSON."""
        name = clean_line(self._one.name, 80)
        return progress(f"waiting for {name}", quiet=self._args.json or is_elsewhere())

    def _arguments(self, takes: Arguments, words: Sequence[str]) -> dict[str, Any]:
        if self._given is None:
            return takes.from_pairs(words)
        if words:
            raise UsageError("--args cannot be combined with NAME=VALUE.")
        if self._args.unchecked:
            return json_object(self._given)
        return takes.from_json(self._given)

    def _print(self, result: ToolResult, write: Callable[[ToolResult], None]) -> int:
        if result.warning:
            print(f"· {clean_line(result.warning, 400)}", file=err())
        if result.raw is None:
            self._one.refuse(clean_line(result_text(result), 1000))
            return TIMEOUT if result.failure is CallFailure.TIMEOUT else REFUSED
        if self._args.json:
            write_json(result.raw)
        elif self._output is not None and not result.is_error:
            self._output.write(result)
        elif result.is_error and not result_text(result).strip():
            name = clean_line(self._words[0], 80)
            self._one.refuse(f"{name} failed without a message: isError is true, and there is no text.")
        else:
            write(result)
        return REFUSED if result.is_error else OK

    # ---- list, read, prompt --------------------------------------------------------------------------------

    async def _list(self, status: ServerStatus) -> int:
        workbench, listed = self._runtime.workbench, self._words or kinds()
        listers = {
            kind: partial(brought("listing", kind), self._runtime, status.name)
            for kind in listed
            if kind not in KINDS and workbench.extension(status.name, f"{PREFIX}{kind}") is not None
        }
        rules, as_json = self._runtime.turn_context.policy.rules, self._args.json
        complete = await write_listing(
            workbench, status, listed, as_json=as_json, rules=rules, listers=listers
        )
        return OK if complete else REFUSED

    async def _read(self) -> int:
        (uri,) = self._words
        workbench = self._runtime.workbench
        with self._waiting():
            result = await workbench.read_resource(
                self._one.name, uri, call=self.id, seconds=self._one.timeout
            )
        return self._print(result, write_contents)

    async def _prompt(self) -> int:
        name, *words = self._words
        prompt = await prompt_of(self._runtime, self._one.name, name)
        takes = Arguments(prompt.name, prompt.schema)
        arguments = takes.from_pairs(words)
        takes.require(arguments)
        with self._waiting():
            result = await self._runtime.workbench.get_prompt(
                self._one.name, name, arguments, call=self.id, seconds=self._one.timeout
            )
        if result.raw is None or result.problem:
            self._one.refuse(clean(result.problem))
            return REFUSED
        if self._args.json:
            write_json(result.raw)
        else:
            write_prompt(result)
        return OK
