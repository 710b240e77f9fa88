"""The commands of plain mode: the words of the app, and further ones for what has keys there."""

import re
import shlex
from collections.abc import Awaitable, Callable, Iterator
from itertools import count

from tui.addons.plain.asking import Asking
from tui.addons.plain.forms import fill, review
from tui.addons.plain.traffic import PlainTraffic
from tui.addons.plain.transcript import ERROR, MODEL, OWN, PROGRESS, RESULT, SERVER, Transcript
from tui.commands.call.arguments import Arguments
from tui.commands.call.output import result_text
from tui.commands.headless import step_in_shell
from tui.commands.servers import columns_for
from tui.commands.servers import lines as server_lines
from tui.core.conversation.conversation import AssistantMessage, UserMessage
from tui.core.errors import UsageError
from tui.core.forms.form import Form
from tui.core.language.translate import N_, _, localized, n_
from tui.core.questions import Action
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line, quoted_name
from tui.core.tools import Tool
from tui.core.units import and_more, day_and_time, progress
from tui.runtime.runtime import Runtime
from tui.ui.keys.slash_commands import CommandSpec

MOST_SESSIONS = 200


def _own(name: str, usage: str, help: str, *, alone: bool = False) -> CommandSpec:
    return CommandSpec(name, usage, help, method=name, alone=alone)


COMMANDS = (
    _own("help", "", N_("List these commands")),
    _own("status", "", N_("Show model, session, servers and what is waiting")),
    _own("more", "", N_("Show the next page of a long text")),
    _own("cancel", "", N_("Stop the answer that is being written, as ctrl+c does")),
    _own("servers", "", N_("List the servers, with the reason of a failure")),
    _own("start", "SERVER", N_("Start a server")),
    _own("stop", "SERVER", N_("Stop a server")),
    _own("restart", "SERVER", N_("Restart a server")),
    _own("log", "SERVER", N_("Show what a server wrote to its log")),
    _own("login", "SERVER", N_("Sign in to a remote server")),
    _own("tools", "[SERVER]", N_("List the tools of running servers")),
    _own("call", "SERVER TOOL [NAME=VALUE …]", N_("Call a tool. Without values, ask for each")),
    _own(
        "traffic",
        "[all|FILTER]",
        N_("List the newest messages with their numbers, or those that pass a filter"),
    ),
    _own("entry", "N", N_("Show the content of message N")),
    _own("resend", "N", N_("Send the request of message N again")),
    _own("keep", "N", N_("Keep the call of message N as a test")),
    _own("sessions", "", N_("List saved conversations")),
    _own("open", "N|ID|TITLE", N_("Continue a saved conversation"), alone=True),
    _own("new", "", N_("Start a new conversation"), alone=True),
    _own("model", "[NAME [ID]] [effort LEVEL]", N_("List the models, or switch"), alone=True),
    _own("quit", "", N_("Quit mcptui")),
)


class PlainCommands:
    """Runs commands: each is the method of its name, and gets the text after it. May raise McptuiError."""

    def __init__(
        self,
        runtime: Runtime,
        transcript: Transcript,
        asking: Asking,
        traffic: PlainTraffic,
        waiting: Callable[[], int],
    ) -> None:
        self._runtime, self._transcript, self._asking, self._waiting = runtime, transcript, asking, waiting
        self.traffic, self.entry = traffic.listed, traffic.entry
        self.resend, self.keep = traffic.resend, traffic.keep
        self._sessions: list[str] = []
        self._numbers = count(1)

    async def run(self, spec: CommandSpec, rest: str) -> None:
        method: Callable[[str], Awaitable[None]] = getattr(self, spec.method)
        await method(rest)

    def _say(self, text: str) -> None:
        self._transcript.say(OWN, text)

    async def help(self, _rest: str) -> None:
        lines = [
            _("{command}: {about}.", command=f"/{spec.name} {spec.usage}".rstrip(), about=_(spec.help))
            for spec in COMMANDS
        ]
        lines.append(_("Anything else is a message to the model. ctrl+c stops the answer, twice leaves."))
        self._transcript.say_pages((OWN, line) for line in lines)

    async def status(self, _rest: str) -> None:
        runtime = self._runtime
        states = [one.state for one in runtime.host.statuses()]
        info, meters = runtime.conversations.info, runtime.conversations.meters
        self._say(_("Model: {name}.", name=clean_line(runtime.model_label, 80)))
        title = (
            quoted_name(info.title, 80) if info is not None else _("new, not saved before its first message")
        )
        self._say(_("Session: {title}.", title=title))
        running = sum(one is ServerState.RUNNING for one in states)
        self._say(_("Servers: {running} of {all} running.", running=running, all=len(states)))
        self._say(n_("{n} token so far.", "{n} tokens so far.", meters.tokens))
        if waiting := self._waiting():
            self._say(n_("{n} message is queued.", "{n} messages are queued.", waiting))
        if rest := self._transcript.waiting:
            self._say(n_("{n} line waits for /more.", "{n} lines wait for /more.", rest))
        for problem in (runtime.unsaved, runtime.unrecorded):
            if problem:
                self._transcript.say(ERROR, clean_line(localized(problem), 400))

    async def more(self, _rest: str) -> None:
        if not self._transcript.more():
            self._say(_("Everything was shown."))

    # ---- servers -------------------------------------------------------------------------------------

    async def servers(self, _rest: str) -> None:
        statuses = self._runtime.host.statuses()
        self._transcript.say_pages((SERVER, line) for status in statuses for line in told(status))
        if not statuses:
            self._say(_("No servers are configured. Add one in a shell: mcptui add COMMAND"))

    async def start(self, rest: str) -> None:
        await self._runtime.host.start(self._named(rest, "/start SERVER"))

    async def stop(self, rest: str) -> None:
        await self._runtime.host.stop(self._named(rest, "/stop SERVER"))

    async def restart(self, rest: str) -> None:
        await self._runtime.host.restart(self._named(rest, "/restart SERVER"))

    async def log(self, rest: str) -> None:
        lines = self._runtime.host.stderr(self._named(rest, "/log SERVER"))
        self._transcript.say_long(SERVER, "\n".join(lines))
        if not lines:
            self._say(_("The log is empty."))

    async def login(self, rest: str) -> None:
        place = await self._runtime.host.sign_in(self._named(rest, "/login SERVER"))
        self._say(_("Signed in. Tokens are stored in {place}.", place=clean_line(place, 200)))

    def _named(self, rest: str, usage: str) -> str:
        names = [one.name for one in self._runtime.host.statuses()]
        if rest not in names:
            what = (
                _("no server is named {name}", name=quoted_name(rest))
                if rest
                else _("the name of a server is required")
            )
            known = ", ".join(clean_line(name, 60) for name in names[:20]) or _("none")
            raise UsageError(what, where=usage, next_step=_("Servers: {names}.", names=known))
        return rest

    async def tools(self, rest: str) -> None:
        names = [self._named(rest, "/tools SERVER")] if rest else list(self._runtime.host.servers)
        found = [tool for name in names for tool in self._runtime.workbench.tools(name)]
        self._transcript.say_pages((OWN, line) for tool in found for line in _tool_lines(tool))
        if not found:
            self._say(_("No running server has tools."))

    async def call(self, rest: str) -> None:
        try:
            words = shlex.split(rest)
        except ValueError:
            words = rest.split()
        server = self._named(words[0] if words else "", "/call SERVER TOOL")
        tools = {tool.name: tool for tool in self._runtime.workbench.tools(server)}
        tool = tools.get(words[1]) if len(words) > 1 else None
        if tool is None:
            known = and_more([clean_line(name, 60) for name in tools], 20) or _("none, it is not running")
            step = _("Tools of {server}: {names}.", server=quoted_name(server), names=known)
            raise UsageError(_("the name of a tool is required"), where="/call SERVER TOOL", next_step=step)
        takes = Arguments(tool.name, tool.schema)
        arguments = takes.from_pairs(words[2:])
        if len(words) == 2 and tool.schema.get("properties"):
            form = Form(tool.schema)
            async with self._asking.turn():
                if await fill(self._asking, form, declines=False) is not Action.ACCEPT:
                    return self._say(_("Not called."))
                self._asking.show(review(form))
            arguments = form.value()[0]
        takes.require(arguments)
        if problem := clean_line(await self._runtime.workbench.check(tool, arguments), 400):
            raise UsageError(problem, where=clean_line(tool.name, 80), next_step=takes.usage())
        head = _("Call {tool}? It may delete or overwrite data.", tool=clean_line(tool.name, 120))
        called, is_risky = (server, tool.name, arguments), tool.destructive is True
        head = head if is_risky else _("Call {tool}?", tool=clean_line(tool.name, 120))
        if not await self._asking.may_call(self._runtime, called, head, is_risky=is_risky):
            return self._say(_("Not called."))

        def heard(done: float | None, total: float | None, message: str) -> None:
            if self._transcript.is_quiet:
                self._transcript.say(PROGRESS, progress(done, total, clean_line(message, 80)))

        limit = self._runtime.turn_context.limits.call_timeout
        call = f"plain-call-{next(self._numbers)}"
        result = await self._runtime.workbench.call_tool(
            tool, arguments, call=call, seconds=limit, progress=heard
        )
        self._transcript.say_long(
            ERROR if result.is_error else RESULT, result_text(result) or _("The result is empty.")
        )
        return None

    # ---- conversations -------------------------------------------------------------------------------

    async def sessions(self, _rest: str) -> None:
        found = await self._runtime.conversations.sessions(limit=MOST_SESSIONS)
        self._sessions = [one.id for one in found]
        self._transcript.say_pages(
            (
                OWN,
                _(
                    "{number}. {title}, {time}, {turns}",
                    number=number,
                    title=clean_line(one.title, 80),
                    time=day_and_time(one.changed),
                    turns=n_("{n} turn", "{n} turns", one.turns),
                ),
            )
            for number, one in enumerate(found, 1)
        )
        self._say(_("/open N continues one.") if found else _("No sessions yet."))

    async def open(self, rest: str) -> None:
        conversations, name = self._runtime.conversations, rest
        if not rest:
            raise UsageError(_("a number of /sessions is required"), where="/open N")
        if rest.isascii() and rest.isdigit() and 0 < int(rest) <= len(self._sessions):
            name = self._sessions[int(rest) - 1]
        await conversations.resume_named(name)
        info = conversations.info
        self._say(_("Continuing {title}.", title=quoted_name(info.title if info is not None else name, 80)))
        self.show_last()

    def show_last(self) -> None:
        """Show the last question of the conversation and its answer."""
        messages = self._runtime.conversations.messages
        asked = [at for at, one in enumerate(messages) if isinstance(one, UserMessage)]
        for message in messages[asked[-1] :] if asked else ():
            if isinstance(message, UserMessage):
                self._say(_("You asked: {question}", question=clean_line(message.text, 1_000)))
            elif isinstance(message, AssistantMessage):
                self._transcript.say(MODEL, message.text)

    async def new(self, _rest: str) -> None:
        await self._runtime.conversations.new()
        self._say(_("New conversation."))

    async def model(self, rest: str) -> None:
        runtime = self._runtime
        if rest:
            from tui.runtime.model_changes import switch_model

            if odd := await switch_model(runtime.conversations, rest):
                self._say(localized(odd))
            return self._say(_("Model: {name}.", name=clean_line(runtime.model_label, 80)))
        for one in await runtime.conversations.active_model.choices():
            mark = " " + _("(in use)") if one.current else ""
            self._say(f"{clean_line(one.name, 60)} {clean_line(one.model, 80)}".rstrip() + mark)
        return self._say(_("/model NAME switches."))


def told(status: ServerStatus) -> Iterator[str]:
    """Yield the lines about a server: its state, then each reason and next step."""
    name = clean_line(status.name, 80)
    see_log = _("/log {name} shows its log, /restart {name} starts it again.", name=name)
    for number, line in enumerate(server_lines(status, columns_for([status.name]), see_log=see_log)):
        line = ", ".join(re.split(r" {2,}", line.strip()))
        yield line.partition(" ")[2] if number == 0 else f"{name}: {line}"
    if status.failed and not step_in_shell(status, see_log):
        yield f"{name}: {see_log}"


def _tool_lines(tool: Tool) -> Iterator[str]:
    signature = Arguments(tool.name, tool.schema).signature
    yield f"{clean_line(tool.server, 60)} {clean_line(tool.name, 120)} {signature}".rstrip()
    if about := clean_line(tool.description, 300):
        yield f"  {about}"
