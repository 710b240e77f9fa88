"""The commands of plain mode: the words of the app, and further ones for what has keys there."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from tui.addons.plain.asking import Asking
from tui.addons.plain.forms import fill, review
from tui.addons.plain.traffic import PlainTraffic
from tui.addons.plain.transcript import ERROR, MODEL, OWN, PROGRESS, RESULT, SERVER, YOU, Transcript
from tui.commands.call.arguments import Arguments
from tui.commands.call.output import result_text
from tui.commands.headless import step_in_shell
from tui.commands.run_input import attachments
from tui.commands.servers import remarks
from tui.core.conversation.conversation import AssistantMessage, Attachment, UserMessage
from tui.core.errors import McptuiError, UsageError
from tui.core.forms.form import Form
from tui.core.language.translate import N_, _, n_
from tui.core.questions import Action
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import and_more, day_and_time, duration, progress
from tui.runtime.runtime import Runtime
from tui.ui.keys.slash_commands import CommandSpec

MOST_SESSIONS = 200
PROMPT_SECONDS = 60.0
"""Limit for fetching a prompt."""


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
        "prompt",
        "[SERVER PROMPT [NAME=VALUE …]]",
        N_("List the prompts of running servers, or send one to the model"),
        alone=True,
    ),
    _own("attach", "PATH", N_("Attach a file to the next message")),
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
    _own("retry", "", N_("Send the last question again"), alone=True),
    _own("compact", "", N_("Summarize older messages for the model"), alone=True),
    _own("model", "[NAME [ID]] [effort LEVEL]", N_("List the models, or switch"), alone=True),
    _own("quit", "", N_("Quit mcptui")),
)
READING = frozenset({"help", "status", "servers", "log", "tools", "traffic", "entry", "sessions"})
"""Commands that only show something: they can be used while a question is open."""


class PlainCommands:
    """Runs commands: each is the method of its name, and gets the text after it. May raise McptuiError."""

    def __init__(
        self,
        runtime: Runtime,
        transcript: Transcript,
        asking: Asking,
        traffic: PlainTraffic,
        send: Callable[[str, tuple[Attachment, ...]], None],
        waiting: Callable[[], int],
    ) -> None:
        self._runtime, self._transcript, self._asking = runtime, transcript, asking
        self._send, self._waiting = send, waiting
        self._attached = tuple[Attachment, ...]()
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
        lines = [f"/{spec.name} {spec.usage}".rstrip() + f": {_(spec.help)}." for spec in COMMANDS]
        lines += [
            _('Anything else is a message to the model. """ begins and ends one of several lines.'),
            _("ctrl+c stops the answer, twice leaves."),
        ]
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
                self._transcript.say(ERROR, clean_line(problem, 400))

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
        name = self._named(rest, "/start SERVER")
        before = self._runtime.host.status(name)
        await self._runtime.host.start(name)
        self._tell_unchanged(before)

    async def stop(self, rest: str) -> None:
        name = self._named(rest, "/stop SERVER")
        before = self._runtime.host.status(name)
        await self._runtime.host.stop(name)
        self._tell_unchanged(before)

    def _tell_unchanged(self, before: ServerStatus) -> None:
        """Say what state a server is in, unless it is a new one, which is said anyway."""
        now = self._runtime.host.status(before.name)
        if (now.state, now.since_ns) == (before.state, before.since_ns):
            self._transcript.say(SERVER, "\n".join(told(now)))

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
        lines = [_about(one.server, one.name, one.schema, one.description) for one in found]
        self._transcript.say_pages((OWN, line) for line in lines)
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
            known = and_more([clean_line(name, 60) for name in tools], 20)
            step = _("Tools of {server}: {names}.", server=quoted_name(server), names=known)
            if not known:
                step = _("No tools of {server} are listed. /servers says why.", server=quoted_name(server))
            what = _("the name of a tool is required")
            if len(words) > 1:
                what = _(
                    "{server} has no tool {name}", server=quoted_name(server), name=quoted_name(words[1])
                )
            raise UsageError(what, where="/call SERVER TOOL", next_step=step)
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

    async def prompt(self, rest: str) -> None:
        from tui.ui.results.message_draft import prompt_message

        words = shlex.split(rest) if rest.count('"') % 2 == 0 == rest.count("'") % 2 else rest.split()
        names = (
            [self._named(words[0], "/prompt SERVER PROMPT")] if words else list(self._runtime.host.servers)
        )
        found = [one for name in names for one in (await self._runtime.workbench.prompts(name))[0]]
        prompt = next((one for one in found if words[1:2] == [one.name]), None)
        if prompt is None:
            lines = [_about(one.server, one.name, one.schema, one.description or one.title) for one in found]
            self._transcript.say_pages((OWN, line) for line in lines)
            return self._say(
                _("/prompt SERVER PROMPT sends one.") if found else _("No running server has prompts.")
            )
        takes = Arguments(prompt.name, prompt.schema)
        arguments = takes.from_pairs(words[2:])
        takes.require(arguments)
        result = await self._runtime.workbench.get_prompt(
            prompt.server,
            prompt.name,
            arguments,
            call=f"plain-prompt-{next(self._numbers)}",
            seconds=PROMPT_SECONDS,
        )
        if result.problem:
            raise McptuiError(result.problem, where=prompt.name)
        try:
            text, files = prompt_message(result, prompt.name)
        except ValueError as error:
            raise McptuiError(f"returned unsupported content: {error}", where=prompt.name) from error
        head = _("Send this prompt of {server} to the model?", server=quoted_name(prompt.server))
        lines = [head, *(f"> {line}" for line in clean(text).split("\n") if line.strip())]
        lines += [_("It attaches {name}.", name=clean_line(one.name, 200)) for one in files]
        async with self._asking.turn():
            self._asking.show(lines)
            is_yes = await self._asking.choice([_("Send it."), _("Do not send it.")], unread=[1]) == 0
        if is_yes:
            self._send(text, tuple(replace(one, server=prompt.server) for one in files))
        return None

    async def attach(self, rest: str) -> None:
        """Attach a file, as `mcptui run --file` does."""
        if not rest:
            raise UsageError(_("the path of a file is required"), where="/attach PATH")
        self._attached += await asyncio.to_thread(attachments, [rest])
        names = ", ".join(clean_line(one.name, 80) for one in self._attached)
        self._say(_("The next message has these files: {names}.", names=names))

    def attached(self) -> tuple[Attachment, ...]:
        """Return the files for the next message, once."""
        files, self._attached = self._attached, ()
        return files

    # ---- conversations -------------------------------------------------------------------------------

    async def sessions(self, _rest: str) -> None:
        found = await self._runtime.conversations.sessions(limit=MOST_SESSIONS)
        self._sessions = [one.id for one in found]
        self._transcript.say_pages(
            (
                OWN,
                f"{number}. {clean_line(one.title, 80)}, {day_and_time(one.changed)}, "
                + n_("{n} turn", "{n} turns", one.turns),
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

    async def retry(self, _rest: str) -> None:
        text, files = await self._runtime.conversations.again()
        self._transcript.say(YOU, text)
        self._send(text, files)

    async def compact(self, _rest: str) -> None:
        self._say(await self._runtime.conversations.compact())

    async def new(self, _rest: str) -> None:
        await self._runtime.conversations.new()
        self._say(_("New conversation."))

    async def model(self, rest: str) -> None:
        runtime = self._runtime
        if rest:
            from tui.runtime.model_changes import switch_model

            if odd := await switch_model(runtime.conversations, rest):
                self._say(odd)
            return self._say(_("Model: {name}.", name=clean_line(runtime.model_label, 80)))
        for one in await runtime.conversations.active_model.choices():
            mark = " " + _("(in use)") if one.current else ""
            self._say(f"{clean_line(one.name, 60)} {clean_line(one.model, 80)}".rstrip() + mark)
        return self._say(_("/model NAME switches."))


def told(status: ServerStatus) -> Iterator[str]:
    """Yield the lines about a server: its state, then each reason and next step."""
    name = clean_line(status.name, 80)
    see_log = _("/log {name} shows its log, /restart {name} starts it again.", name=name)
    words = [name, status.state.value]
    if status.state is ServerState.RUNNING:
        words.append(n_("{n} tool", "{n} tools", status.tools or 0))
        words += [n_("{n} resource", "{n} resources", status.resources)] if status.resources else []
        words += [n_("{n} prompt", "{n} prompts", status.prompts)] if status.prompts else []
        if status.start_ms is not None:
            words.append(_("started in {time}", time=duration(status.start_ms)))
        words += [_("protocol {version}", version=status.protocol)] if status.protocol else []
        words.append(clean_line(f"{status.title} {status.version}", 60))
    else:
        words.append(str(status.reason or ""))
    yield ", ".join(filter(None, words))
    for line in remarks(status, see_log):
        yield f"{name}: {line}"
    if status.failed and not step_in_shell(status, see_log):
        yield f"{name}: {see_log}"


def _about(server: str, name: str, schema: Mapping[str, Any], description: str) -> str:
    """Return the line about a tool or a prompt."""
    line = f"{clean_line(server, 60)} {clean_line(name, 120)} {Arguments(name, schema).signature}".rstrip()
    return f"{line}: {about}" if (about := clean_line(description, 300)) else line
