"""Runs `mcptui call`, `read`, `prompt` and `list`: starts one server and sends it one request."""

import argparse
import asyncio
import re
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.commands.call.arguments import KINDS, Arguments, given_json, json_object, request_of, unconfigured
from tui.commands.call.output import (
    OutputFile,
    result_text,
    server_log,
    write_contents,
    write_json,
    write_listing,
    write_prompt,
    write_result,
)
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import Interrupt, headless, say_printed, say_unrecorded, started, step_in_shell
from tui.commands.run_output import print_error
from tui.commands.sign_in import TerminalQuestioner
from tui.core import units
from tui.core.errors import ConfigError, McptuiError, UsageError, sentences
from tui.core.permission.rules import Verdict
from tui.core.ports import hand_call
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean, clean_line, quoted_name
from tui.core.time_limits import CallTimeout
from tui.core.tools import CallFailure, Tool, ToolResult
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.problems import did_you_mean

OK, REFUSED, TIMEOUT, NOT_STARTED = 0, 1, 3, 5
_SHOWN_NAMES = 40
_CONFIGURED_COMMAND = re.compile(r"Check (command|args|cwd) in \[servers\.[^\]]*\]\.")
_CONFIGURED_TRANSPORT = re.compile(r'Set transport = "(\w+)" in its configuration\.')
BY_COMMAND = "command mcptui call"
_MOST = 10
"""How many times --seconds a request may take if its server reports progress."""


def call(args: argparse.Namespace) -> int:
    """Run one of the four commands and return its exit code."""
    named, words = request_of(args)
    given = given_json(args) if args.command == "call" else None
    output = OutputFile(args.output) if vars(args).get("output") else None
    options, spec = Options.from_args(args), unconfigured(args, named)
    if spec is not None:
        options = options.with_server(*spec)
    if args.command == "list" and words:  # which list was meant: the host requests all of them
        options = replace(options, command=f"list {words[0]}")

    async def work(runtime: Runtime, _: Interrupt) -> int:
        try:
            return await _Call(args, named, words, runtime, given, output).run()
        finally:
            say_printed(runtime)

    return headless(options, work, questioner=FlagAnswers.of(args), ended=say_unrecorded)


@dataclass(slots=True)
class _Call:
    _args: argparse.Namespace
    _named: str | None
    _words: tuple[str, ...]
    _runtime: Runtime
    _given: str | None
    _output: OutputFile | None
    _server: str = ""
    _id: str = field(default_factory=lambda: f"hand-{uuid.uuid4().hex[:12]}")

    async def run(self) -> int:
        runtime, args = self._runtime, self._args
        await runtime.ready(start=False, model=False, taps=False, session=False)
        self._server = self._chosen()
        host = runtime.host
        runtime.consent.require([host.status(self._server).spec])
        if args.verbose:
            runtime.traffic.listener = server_log(self._server, runtime.redactor)
        sign_ins = host.sign_ins
        if sign_ins is not None and sys.stderr.isatty():
            sign_ins.questioner = TerminalQuestioner()
        await started(runtime, self._server)
        await host.changes_answered()
        status = host.status(self._server)
        if status.state is not ServerState.RUNNING:
            self._print_not_started(status)
            return NOT_STARTED
        match args.command:
            case "call":
                return await self._call(status)
            case "read":
                return await self._read()
            case "prompt":
                return await self._prompt()
            case _:
                kinds, rules = self._words or KINDS, runtime.turn_context.policy.rules
                complete = await write_listing(
                    runtime.workbench, status, kinds, rules=rules, as_json=args.json
                )
                return OK if complete else REFUSED

    @property
    def _timeout(self) -> CallTimeout:
        seconds: float | None = self._args.seconds
        if seconds is None:
            return self._runtime.turn_context.limits.call_timeout
        return CallTimeout(seconds, _MOST * seconds, "--seconds", f"{_MOST} times --seconds")

    def _chosen(self) -> str:
        runtime = self._runtime
        names = [status.name for status in runtime.host.statuses()]
        wanted = self._named
        if names and (wanted is None or runtime.is_unconfigured):
            return names[0]
        assert wanted is not None
        if wanted in names:
            return wanted
        if problems := runtime.configuration.left_out.get(wanted):
            head = f"its configuration has {len(problems)} problems:"
            said = problems[0] if len(problems) == 1 else "\n  ".join((head, *problems))
            raise ConfigError(said, where=clean_line(wanted, 80))
        runtime.require_usable()
        if runtime.is_disabled(wanted):
            raise UsageError(
                f"the server {quoted_name(wanted, 80)} is disabled in the configuration.",
                next_step="Remove `disabled = true` from its section.",
            )
        configured = [*names, *runtime.configuration.left_out]
        known = ", ".join(clean_line(name, 60) for name in configured[:_SHOWN_NAMES]) or "none"
        hint = did_you_mean(wanted, configured)
        raise UsageError(
            f"server {quoted_name(wanted, 80)} not found{f', {hint}' if hint else '.'}",
            next_step=f"Configured servers: {known}. A URL starts with https:// or http://. A command "
            f"goes after --: mcptui {self._args.command} … -- COMMAND",
        )

    def _print_not_started(self, status: ServerStatus) -> None:
        next_step = step_in_shell(status, "" if self._args.verbose else "Use --verbose to print its log.")
        if self._runtime.is_unconfigured and status.spec.url:  # the user does not know its generated name
            next_step = next_step.replace(f"login {status.name}`", f"login {status.spec.url}`")
        if self._runtime.is_unconfigured:
            next_step = _CONFIGURED_COMMAND.sub("Check the command after --.", next_step)
            next_step = _CONFIGURED_TRANSPORT.sub("Use --transport \\1.", next_step)
        self._refuse(sentences(status.detail or "it failed to start", next_step))
        if status.unquoted_line:
            print(f"  log: {clean_line(status.unquoted_line, 300)}", file=sys.stderr)

    # ---- call ----------------------------------------------------------------------------------------

    async def _call(self, status: ServerStatus) -> int:
        workbench = self._runtime.workbench
        name, *words = self._words
        tool = self._tool(name, status)
        takes = Arguments(tool.name, tool.schema)
        arguments = self._arguments(takes, words)
        if not self._args.unchecked:
            takes.require(arguments)
            if problem := clean_line(await workbench.check(tool, arguments), 400):
                name = clean_line(tool.name, 80)
                raise UsageError(f"invalid arguments for {name}: {problem}.", next_step=takes.usage())
        rule = self._runtime.turn_context.policy.rules.deciding(tool.server, tool.name, arguments)
        if rule is not None and rule.action is Verdict.DENY:
            print(f"· a rule denies this call to the model: {clean_line(str(rule), 300)}", file=sys.stderr)
        self._runtime.decisions.add(hand_call(tool.server, tool.name, arguments, by=BY_COMMAND))
        return self._print(await self._result(tool, arguments), write_result)

    async def _result(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. If the call becomes a task, it has no time limit unless --seconds sets one."""
        workbench, timeout = self._runtime.workbench, self._timeout
        limit = timeout.limit()
        limit.pause()  # until it is a task: a call ends at its own timeout

        def progress(done: float | None, total: float | None, message: str) -> None:
            if self._args.seconds is not None and workbench.task_of(self._server, self._id) is not None:
                limit.resume()
            limit.restart()
            told = units.progress(done, total, clean_line(message, 80).strip())
            print(f"  … {told}", file=sys.stderr, flush=True)

        try:
            async with limit:
                return await workbench.call_tool(
                    tool, arguments, call=self._id, seconds=timeout, progress=progress
                )
        except (TimeoutError, asyncio.CancelledError) as error:
            if (task := workbench.task_of(self._server, self._id)) is not None:
                await workbench.cancel_task(task)
            if isinstance(error, asyncio.CancelledError):
                raise
            text = f"The task {timeout.passed(limit)} It was cancelled."
            return ToolResult.failed(text, CallFailure.TIMEOUT)

    def _tool(self, name: str, status: ServerStatus) -> Tool:
        tools = self._runtime.workbench.tools(self._server)
        for tool in tools:
            if tool.name == name:
                return tool
        for left_out, why in status.quarantined:
            if left_out == name:
                raise UsageError(f"{clean_line(name, 80)} cannot be called: {clean_line(why, 300)}")
        error = self._not_found("tool", name, [tool.name for tool in tools], "It has no tools.")
        if status.listing_problem:
            error.next_step = f"Some tools could not be listed: {clean_line(status.listing_problem, 200)}"
        raise error

    def _not_found(self, kind: str, name: str, names: Sequence[str], otherwise: str) -> UsageError:
        """Return the error for an unknown name; `otherwise` is its next step if the server has none."""
        known = [clean_line(one, 80) for one in names]
        hint = did_you_mean(name, known)
        listed = f"Its {kind}s: {units.and_more(known, _SHOWN_NAMES)}" if known else otherwise
        server, shown = clean_line(self._server, 80), quoted_name(name, 80)
        return UsageError(f"{server} has no {kind} {shown}{f', {hint}' if hint else '.'}", next_step=listed)

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
            print(f"· {clean_line(result.warning, 400)}", file=sys.stderr)
        if result.raw is None:
            self._refuse(clean_line(result_text(result), 1000))
            return TIMEOUT if result.failure is CallFailure.TIMEOUT else REFUSED
        if self._args.json:
            write_json(result.raw)
        elif self._output is not None and not result.is_error:
            self._output.write(result)
        elif result.is_error and not result_text(result).strip():
            name = clean_line(self._words[0], 80)
            self._refuse(f"{name} failed without a message: isError is true, and there is no text.")
        else:
            write(result)
        return REFUSED if result.is_error else OK

    def _refuse(self, why: str) -> None:
        print_error(McptuiError(why, where=clean_line(self._server, 80)), as_json=self._args.json)

    # ---- read, prompt --------------------------------------------------------------------------------

    async def _read(self) -> int:
        (uri,) = self._words
        workbench = self._runtime.workbench
        result = await workbench.read_resource(self._server, uri, call=self._id, seconds=self._timeout)
        return self._print(result, write_contents)

    async def _prompt(self) -> int:
        name, *words = self._words
        workbench = self._runtime.workbench
        prompts, problem = await workbench.prompts(self._server)
        prompt = next((one for one in prompts if one.name == name), None)
        if prompt is None:
            names = [one.name for one in prompts]
            raise self._not_found("prompt", name, names, problem or "It has no prompts.")
        takes = Arguments(prompt.name, prompt.schema)
        arguments = takes.from_pairs(words)
        takes.require(arguments)
        result = await workbench.get_prompt(
            self._server, name, arguments, call=self._id, seconds=self._timeout
        )
        if result.raw is None or result.problem:
            self._refuse(clean(result.problem))
            return REFUSED
        if self._args.json:
            write_json(result.raw)
        else:
            write_prompt(result)
        return OK
