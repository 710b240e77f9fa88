"""The commands of plain mode: the words of the app, and further ones for what has keys there."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import cached_property

from tui.addons.plain.asking import ALL, Asking, named
from tui.addons.plain.transcript import ERROR, MODEL, OWN, PAGE, SERVER, YOU, Transcript
from tui.commands.headless import step_in_shell
from tui.commands.servers import remarks
from tui.core.conversation.conversation import AssistantMessage, Attachment, UserMessage
from tui.core.errors import UsageError
from tui.core.language.translate import N_, _, localized, message, n_
from tui.core.servers import ServerState, ServerStatus, StopReason
from tui.core.text import clean_line, quoted_name
from tui.core.units import day_and_time, duration
from tui.runtime.runtime import Runtime
from tui.ui.keys.command_spec import CommandSpec

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
    _own("log", "SERVER [all]", N_("Show the newest lines of a server's log, or all")),
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
READING = frozenset({"help", "status", "servers", "log", "tools", "traffic", "entry", "sessions", "cancel"})
"""Commands that can be used while a question is open: they show something, or stop what asks."""

ON_TRAFFIC, ON_TOOLS = ("traffic", "entry", "resend", "keep"), ("tools", "call", "prompt")
"""Commands whose methods are loaded at the first of them, since they need a tenth of the start."""


class PlainCommands:
    """Runs commands: each is the method of its name, and gets the text after it. May raise McptuiError."""

    def __init__(
        self,
        runtime: Runtime,
        transcript: Transcript,
        asking: Asking,
        send: Callable[[str, tuple[Attachment, ...]], None],
        waiting: Callable[[], int],
    ) -> None:
        self._runtime, self._transcript, self._asking = runtime, transcript, asking
        self._send, self._waiting = send, waiting
        self._attached = tuple[Attachment, ...]()
        self._sessions: list[str] = []

    async def run(self, spec: CommandSpec, rest: str) -> None:
        owner = (
            self._traffic if spec.method in ON_TRAFFIC else self._calls if spec.method in ON_TOOLS else self
        )
        method: Callable[[str], Awaitable[None]] = getattr(owner, spec.method)
        await method(rest)

    @cached_property
    def _traffic(self) -> object:
        from tui.addons.plain.traffic import PlainTraffic

        return PlainTraffic(self._runtime, self._transcript, self._asking)

    @cached_property
    def _calls(self) -> object:
        from tui.addons.plain.calls import PlainCalls

        return PlainCalls(self._runtime, self._transcript, self._asking, self._send)

    def _say(self, text: str) -> None:
        self._transcript.say(OWN, text)

    async def help(self, _rest: str) -> None:
        lines = [
            _("{command}: {about}.", command=f"/{spec.name} {spec.usage}".rstrip(), about=_(spec.help))
            for spec in COMMANDS
        ]
        lines += [
            _('Anything else is a message to the model. """ begins and ends one of several lines.'),
            _("ctrl+c stops the answer, twice leaves."),
        ]
        self._transcript.say_pages((OWN, line) for line in lines)

    async def status(self, _rest: str) -> None:
        runtime = self._runtime
        states = [one.state for one in runtime.host.statuses()]
        info, meters = runtime.conversations.info, runtime.conversations.meters
        self._say(_("Model: {name}.", name=clean_line(localized(runtime.model_label), 80)))
        new = _("new, not saved before its first message")
        title = quoted_name(info.title, 80) if info is not None else new
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
        await self._change("/start SERVER", rest, self._runtime.host.start)

    async def stop(self, rest: str) -> None:
        await self._change("/stop SERVER", rest, self._runtime.host.stop)

    async def restart(self, rest: str) -> None:
        await self._change("/restart SERVER", rest, self._runtime.host.restart)

    async def _change(self, usage: str, rest: str, change: Callable[[str], Awaitable[object]]) -> None:
        """Change the state of a server. One that stays as it is is said here, a new one anyway."""
        host, name = self._runtime.host, named(self._runtime, rest, usage)
        before = host.status(name)
        await change(name)
        now = host.status(name)
        if (now.state, now.since_ns) == (before.state, before.since_ns):
            self._transcript.say(SERVER, "\n".join(told(now)))

    async def log(self, rest: str) -> None:
        name = named(self._runtime, rest.removesuffix(f" {ALL}"), "/log SERVER")
        lines = list(self._runtime.host.stderr(name))
        shown = lines if rest.endswith(f" {ALL}") else lines[-PAGE:]
        if earlier := len(lines) - len(shown):
            command = f"/log {clean_line(name, 80)} {ALL}"
            self._say(
                n_(
                    "{n} earlier line is omitted. {command} shows it.",
                    "{n} earlier lines are omitted. {command} shows them.",
                    earlier,
                    command=command,
                )
            )
        self._transcript.say_long(SERVER, "\n".join(shown))
        if not lines:
            self._say(_("The log is empty."))

    async def login(self, rest: str) -> None:
        host, name = self._runtime.host, named(self._runtime, rest, "/login SERVER")
        place = await host.sign_in(name)
        self._say(_("Signed in. Tokens are stored {place}.", place=clean_line(localized(place), 400)))
        host.request_restart(name)

    async def attach(self, rest: str) -> None:
        """Attach a file, as `mcptui run --file` does."""
        if not rest:
            raise UsageError(message("the path of a file is required"), where="/attach PATH")
        from tui.commands.run_input import attachments

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
            raise UsageError(message("a number of /sessions is required"), where="/open N")
        if rest.isascii() and rest.isdigit() and 0 < int(rest) <= len(self._sessions):
            name = self._sessions[int(rest) - 1]
        elif rest.isdigit() and len(rest) < 6:
            what = message("no session {number}", number=rest)
            raise UsageError(what, next_step=message("/sessions lists them."))
        await conversations.resume_named(name)
        self.show_resumed()

    def show_resumed(self) -> None:
        """Show the title of the conversation, its last question, and the answer."""
        info, messages = self._runtime.conversations.info, self._runtime.conversations.messages
        self._say(_("Continuing {title}.", title=quoted_name(info.title if info is not None else "", 80)))
        asked = [at for at, one in enumerate(messages) if isinstance(one, UserMessage)]
        if asked and isinstance(question := messages[asked[-1]], UserMessage):
            self._say(_("You asked: {question}", question=clean_line(question.text, 1_000)))
            answers = [one.text for one in messages[asked[-1] :] if isinstance(one, AssistantMessage)]
            self._transcript.say_long(MODEL, *answers)

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
            return self._say(_("Model: {name}.", name=clean_line(localized(runtime.model_label), 80)))
        for one in await runtime.conversations.active_model.choices():
            mark = " " + _("(in use)") if one.current else ""
            self._say(f"{clean_line(one.name, 60)} {clean_line(one.model, 80)}".rstrip() + mark)
        return self._say(_("/model NAME switches."))


def told(status: ServerStatus) -> Iterator[str]:
    """Yield the lines about a server: its state, then each reason and next step."""
    name = clean_line(status.name, 80)
    see_log = _("/log {name} shows its log, /restart {name} starts it again.", name=name)
    words = [name, status.state.in_words]
    if status.state is ServerState.RUNNING:
        words.append(n_("{n} tool", "{n} tools", status.tools or 0))
        words += [n_("{n} resource", "{n} resources", status.resources)] if status.resources else []
        words += [n_("{n} prompt", "{n} prompts", status.prompts)] if status.prompts else []
        if status.start_ms is not None:
            words.append(_("started in {time}", time=duration(status.start_ms)))
        words += [_("protocol {version}", version=status.protocol)] if status.protocol else []
        words.append(clean_line(f"{status.title} {status.version}", 60))
    else:
        words.append(_(str(status.reason or "")))
    yield _(", ").join(map(localized, filter(None, words)))
    if status.reason is StopReason.NEEDS_SIGN_IN:
        yield f"{name}: " + _("It requires signing in. /login {name} signs in.", name=name)
        return
    for line in remarks(status, see_log):
        yield f"{name}: {localized(line)}"
    if status.failed and not step_in_shell(status, see_log):
        yield f"{name}: {see_log}"
