"""The one server of a command: found by its name, a URL or a command line, started, and what failed."""

import argparse
import re
import sys
from dataclasses import dataclass

from tui.commands.call.output import server_log
from tui.commands.headless import started, step_in_shell
from tui.commands.run_output import print_error
from tui.commands.sign_in import TerminalQuestioner
from tui.commands.streams import err
from tui.core.errors import ConfigError, McptuiError, UsageError, sentences
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line, quoted_name
from tui.core.time_limits import CallTimeout
from tui.runtime.runtime import Runtime
from tui.settings.problems import hinted

OK, REFUSED, TIMEOUT, NOT_STARTED = 0, 1, 3, 5
_SHOWN_NAMES = 40
_CONFIGURED_COMMAND = re.compile(r"Check (command|args|cwd) in \[servers\.[^\]]*\]\.")
_CONFIGURED_TRANSPORT = re.compile(r'Set transport = "(\w+)" in its configuration\.')
_MOST = 10
"""How many times --seconds a request may take if its server reports progress."""


@dataclass(slots=True)
class OneServer:
    """The server of a command with the arguments `seconds`, `verbose` and `json`.

    `named` is a name or a URL, None for the command line after `--`. `name` is set by `start`, or
    it is that of a server that runs.
    """

    args: argparse.Namespace
    _named: str | None
    runtime: Runtime
    name: str = ""

    async def start(self) -> ServerStatus | None:
        """Start it and return its status; None after saying that it did not start. Raises UsageError."""
        runtime = self.runtime
        await runtime.ready(start=False, model=False, taps=False, session=False)
        self.name = chosen(runtime, self._named, self.args.command)
        host = runtime.host
        runtime.consent.require([host.status(self.name).spec])
        if self.args.verbose:
            runtime.traffic.listener = server_log(self.name, runtime.redactor)
        sign_ins = host.sign_ins
        if sign_ins is not None and sys.stderr.isatty():
            sign_ins.questioner = TerminalQuestioner()
        await started(runtime, self.name)
        await host.changes_answered()
        status = host.status(self.name)
        if status.state is not ServerState.RUNNING:
            self._print_not_started(status)
            return None
        return status

    @property
    def timeout(self) -> CallTimeout:
        """How long a request may take."""
        seconds: float | None = self.args.seconds
        if seconds is None:
            return self.runtime.turn_context.limits.call_timeout
        return CallTimeout(seconds, _MOST * seconds, "--seconds", f"{_MOST} times --seconds")

    def _print_not_started(self, status: ServerStatus) -> None:
        next_step = step_in_shell(status, "" if self.args.verbose else "Use --verbose to print its log.")
        if self.runtime.is_unconfigured and status.spec.url:  # the user does not know its generated name
            next_step = next_step.replace(f"login {status.name}`", f"login {status.spec.url}`")
        if self.runtime.is_unconfigured:
            source = clean_line(status.spec.source, 400)  # of the file of another host
            where = f"Check it in {source}." if source else "Check the command after --."
            next_step = _CONFIGURED_COMMAND.sub(where.replace("\\", r"\\"), next_step)
            next_step = _CONFIGURED_TRANSPORT.sub("Use --transport \\1.", next_step)
        self.refuse(sentences(status.detail or "it failed to start", next_step))
        if status.unquoted_line:
            print(f"  log: {clean_line(status.unquoted_line, 300)}", file=err())

    def refuse(self, why: str) -> None:
        """Print why the server did not do what was requested."""
        print_error(McptuiError(why, where=clean_line(self.name, 80)), as_json=self.args.json)


def require_enabled(runtime: Runtime, name: str) -> None:
    """Raise why no server can be used, or why this one cannot although it is configured."""
    runtime.require_usable()
    if runtime.is_disabled(name):
        raise UsageError(
            f"the server {quoted_name(name, 80)} is disabled in the configuration.",
            next_step="Remove `disabled = true` from its section.",
        )


def chosen(runtime: Runtime, wanted: str | None, command: str) -> str:
    """Return the name of a server if it can be started, or of the only one. Raises McptuiError."""
    names = [status.name for status in runtime.host.statuses()]
    if names and (wanted is None or runtime.is_unconfigured):
        return names[0]
    assert wanted is not None
    if wanted in names:
        return wanted
    if problems := runtime.configuration.left_out.get(wanted):
        head = f"its configuration has {len(problems)} problems:"
        said = problems[0] if len(problems) == 1 else "\n  ".join((head, *problems))
        raise ConfigError(said, where=clean_line(wanted, 80))
    require_enabled(runtime, wanted)
    configured = [*names, *runtime.configuration.left_out]
    known = ", ".join(clean_line(name, 60) for name in configured[:_SHOWN_NAMES]) or "none"
    raise UsageError(
        hinted(f"server {quoted_name(wanted, 80)} not found", wanted, configured),
        next_step=f"Configured servers: {known}. A URL starts with https:// or http://. A command "
        f"goes after --: mcptui {command} … -- COMMAND",
    )
