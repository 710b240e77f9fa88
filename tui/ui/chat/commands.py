"""Runs the commands that the user types: `/model`, `/export`, prompts, snippets."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from textual.content import Content

from tui.core.addons import missing
from tui.core.conversation.conversation import Attachment
from tui.core.conversation.sessions import EXPORT_ENDINGS, SessionInfo
from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized, message, n_message, sentences
from tui.core.secrets.identity_provider import account_of
from tui.core.text import clean, clean_line, padded, quoted_name
from tui.core.workbench import PromptResult
from tui.runtime.runtime import Runtime
from tui.ui.chat.composer.pastes import Reference
from tui.ui.chat.conversation_actions import ConversationActions
from tui.ui.chat.navigation import Navigator
from tui.ui.chat.regions import Regions
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.command_spec import CommandKind, CommandSpec, SlashCommand
from tui.ui.keys.slash_commands import filled, pair, parse_arguments
from tui.ui.widgets.files import file_stem
from tui.ui.widgets.rows import Row, width_of

PROMPT_SECONDS = 60.0
SKILLS_OFF = "off"
EMPTY = message("the conversation is empty")


class SlashCommands:
    """Runs slash commands: `OWN` names the methods, which take the text after the command."""

    def __init__(
        self, runtime: Runtime, regions: Regions, current: ConversationActions, navigator: Navigator
    ) -> None:
        self._runtime = runtime
        self._regions = regions
        self._composer = regions.composer
        self._sources = regions.composer.completing.sources
        self._current = current
        self._navigator = navigator
        self._prompt_calls = count(1)

    async def run(self, command: SlashCommand) -> None:
        """Run a command. A `McptuiError` means that nothing was changed."""
        spec, rest = command
        if spec.kind is CommandKind.SNIPPET:
            self._snippet(spec, rest)
        elif spec.kind is CommandKind.PROMPT:
            await self._insert_prompt(spec, rest)
        else:
            why, step = self._current.occupied() if spec.alone else ("", "")
            if why:
                raise McptuiError(why, where=f"/{spec.name}", next_step=step)
            if spec.action and not rest:
                await self._regions.screen.app.run_action(action(spec.action).method)
            else:
                run: Callable[[str], Awaitable[None]] = getattr(self, spec.method)
                await run(self._composer.pastes.expand(rest))

    async def model(self, rest: str) -> None:
        from tui.runtime.model_changes import switch_model  # the first frame does without

        odd = await switch_model(self._current.conversations, rest)
        effort = self._runtime.conversations.effort
        model = clean_line(localized(self._runtime.model_label), 80)
        told = _("Model: {model}.", model=model)
        if effort:
            told = _("Model: {model}, reasoning effort {effort}.", model=model, effort=effort)
        told = sentences(told, localized(odd))
        self._regions.notify(told, severity="warning" if odd else "information")

    async def key(self, rest: str) -> None:
        await self._current.replace_key()
        if rest:
            told = _("Paste the key in this dialog: the composer shows it.")
            self._regions.notify(told, severity="warning")

    async def system(self, rest: str) -> None:
        await self._current.conversations.set_system(rest)
        self._note(_("System prompt of this conversation changed."))

    async def context(self, _rest: str) -> None:
        from tui.ui.dialogs.text_dialogs import ContextDialog

        runtime = self._runtime
        dialog = ContextDialog(
            runtime.conversations.context_parts(),
            runtime.conversations.meters.window,
            measured=runtime.request.measured,
            traffic_key=self._regions.key_of("traffic.open"),
        )
        self._regions.open_dialog(dialog, lambda _: self._regions.go_to(Context.COMPOSER))

    async def status(self, _rest: str) -> None:
        from tui.ui.chat.run_status import status_lines, status_rows
        from tui.ui.dialogs.dialog import heading
        from tui.ui.dialogs.rows_dialog import RowsDialog

        lines = status_lines(self._runtime, self._regions.screen.app.theme)
        dialog = RowsDialog(heading(_("Status")), lambda width: status_rows(lines, width))
        self._regions.open_dialog(dialog, lambda _: self._regions.go_to(Context.COMPOSER))

    async def instructions(self, _rest: str) -> None:
        from tui.ui.dialogs.text_dialogs import ProjectDialog

        project = self._runtime.request.project
        await asyncio.to_thread(project.look)
        if (found := project.found) is None:
            raise McptuiError(project.problem or message("not found in this folder"), where="AGENTS.md")

        async def decide(use: bool) -> None:
            await asyncio.to_thread(project.decide, found, use)
            told = _("The model no longer receives AGENTS.md from the next question on.")
            if use:
                told = _("The model receives AGENTS.md from the next question on.")
            self._regions.notify(told)

        def done(use: bool | None) -> None:
            self._regions.go_to(Context.COMPOSER)
            if use is not None:
                self._current.change(decide(use))

        dialog = ProjectDialog(found, self._runtime.request.project_tokens, used=project.used is not None)
        self._regions.open_dialog(dialog, done)

    async def compact(self, _rest: str) -> None:
        self._regions.notify(_("Summarizing older messages…"))
        before = self._current.conversations.compaction
        told = await self._current.conversations.compact()
        if self._current.conversations.compaction == before:  # otherwise, a note in the conversation says it
            self._note(told)

    async def clear(self, _rest: str) -> None:
        await self._current.start_new()

    async def retry(self, _rest: str) -> None:
        await self._current.send_again()

    async def branch(self, _rest: str) -> None:
        conversations = self._current.conversations
        if not conversations.messages:
            raise McptuiError(EMPTY, where="/branch")
        await conversations.branch(len(conversations.messages))
        self._current.show()
        if not conversations.problem:
            self._note(_("Continuing in a copy. The original is unchanged."))

    async def rename(self, rest: str) -> None:
        session, title = self._session("/rename"), clean_line(rest, 200)
        if title:
            title = await self._current.conversations.rename(session.id, title)
        else:
            title = await self._current.conversations.title_from_model()
        self._regions.notify(_("Renamed to “{title}”.", title=title))

    async def export(self, rest: str) -> None:
        session = self._session("/export")
        kind, path = export_to(rest, session.title, Path.cwd())
        self._current.ask_to_export(session, path, kind)

    def _session(self, command: str) -> SessionInfo:
        if (info := self._current.conversations.info) is None:
            raise McptuiError(EMPTY, where=command)
        return info

    def _note(self, text: str) -> None:
        self._regions.conversation.add_note(text, "info")

    async def tools(self, rest: str) -> None:
        from tui.ui.workbench.items import NOT_OFFERED, OFF, item_key, mark_of

        servers = [name for name in self._sources.running if rest in ("", name)]
        if rest and not servers:
            raise McptuiError(message("no running server has this name"), where=clean_line(rest, 60))
        known = self._runtime.request.tool_marks()
        off = {one.name: one.spec.off for one in self._runtime.host.statuses()}
        found = [
            (server, tool.name, mark_of(tool, known.get((server, tool.name), ""), off[server]))
            for server in servers
            for tool in self._runtime.workbench.tools(server)
        ]
        lines = {
            str(index): f"{clean_line(server, 40)} › {clean_line(tool, 60)}"
            + (f"   · {clean_line(localized(mark), 80)}" if mark else "")
            for index, (server, tool, mark) in enumerate(found)
        }

        def opened(key: str) -> None:
            server, tool, _ = found[int(key)]
            self._navigator.open_server(server, item_key("tool", tool))

        hidden = sum(mark == OFF or mark.startswith(NOT_OFFERED) for *_, mark in found)
        marked = sum(bool(mark) for *_, mark in found) - hidden
        from tui.ui.dialogs.dialog import heading

        note = _("{n} of {all} offered to the model", n=len(found) - hidden, all=len(found))
        note += f" · {_('{n} marked', n=marked)}" if marked else ""
        self._pick(heading(_("Tools"), note=note), lines, opened, _("No running server has tools."))

    async def prompt(self, rest: str) -> None:
        specs = {one.name: one for one in await self._sources.known() if one.kind is CommandKind.PROMPT}
        name, _space, written = rest.partition(" ")
        if name:
            await self._insert_prompt(_prompt_of(name, specs), written.strip())
            return
        lines = {name: f"{name}  {clean_line(spec.help, 60)}" for name, spec in specs.items()}
        self._pick(
            _("Prompts"),
            lines,
            lambda name: self._composer.put_back(f"/{name} "),
            _("No running server has prompts."),
        )

    async def resource(self, rest: str) -> None:
        from tui.ui.workbench.items import item_key

        found = {f"{one.server}:{one.uri}": one for one in await self._sources.resources()}

        def attach(key: str) -> None:
            one = found[key]
            if one.template:  # the user fills it in on the workbench, and attaches it there
                self._navigator.open_server(one.server, item_key("template", one.uri))
            else:
                self._composer.attach(Reference.to_resource(one.server, one.uri))

        if rest:
            key = next((key for key, one in found.items() if rest in (key, one.uri)), "")
            if not key:
                raise McptuiError(message("no running server has this resource"), where=clean_line(rest, 80))
            attach(key)
            return
        lines = {
            key: f"{clean_line(key, 80)}  {_('template: {name}', name=name) if one.template else name}"
            for key, one in found.items()
            for name in [clean_line(one.title or one.name, 40)]
        }
        self._pick(_("Attach a resource"), lines, attach, _("No running server has resources."))

    async def events(self, _rest: str) -> None:
        self._navigator.open_events()

    async def skills(self, rest: str) -> None:
        """Load a skill of a server, or turn off those that are loaded."""
        conversations, loader = self._current.conversations, self._runtime.skill_loader
        if rest == SKILLS_OFF:
            self._note(conversations.turn_off_skills() or _("No skill is loaded."))
            return
        if loader is None or not loader.servers():
            why = missing("service", "skill loader") or message("no running server serves skills")
            raise McptuiError(why, where="/skills")

        async def load(server: str, name: str) -> None:
            attachment = await loader.attach(server, name)
            self._composer.attach(Reference.to_known(attachment))
            send = self._regions.key_of("composer.send")
            name = clean_line(attachment.name, 160)
            self._regions.notify(_("The {name} is attached. Press {key} to send.", name=name, key=send))

        if rest:
            await load(*await loader.meant(rest))
            return
        await loader.list_now()
        found = {f"{one.server}/{one.name}": (one, state) for one, state in loader.rows()}
        width = max((width_of(((clean_line(key, 40), ""),)) for key in found), default=0)
        lines = {
            key: f"{padded(clean_line(key, 40), width)}  {padded(localized(state), 16)}"
            f"  {clean_line(one.description, 80)}"
            for key, (one, state) in found.items()
        }
        if names := ", ".join(dict.fromkeys(clean_line(one.name, 80) for one in conversations.skills())):
            lines = {SKILLS_OFF: _("Turn off: {names}", names=names)} | lines

        def chosen(key: str) -> None:
            self._current.change(self.skills(key) if key == SKILLS_OFF else load(*_place(found[key][0])))

        none = _("The running servers list no skills. To load one: /skills URI")
        self._pick(_("Skills"), lines, chosen, none)

    async def login(self, rest: str) -> None:
        if not rest:
            self._choose_remote(_("Sign in"), "login")
            return
        host = self._runtime.host
        place = await host.sign_in(rest)
        host.request_restart(rest)
        state = message("signed in") if (status := host.find(rest)) is None else status.sign_in
        told = _(
            "{server}: {state}. Tokens are stored {place}.",
            server=clean_line(rest, 64),
            state=localized(state),
            place=localized(place),
        )
        self._note(told)

    async def logout(self, rest: str) -> None:
        if not rest:
            self._choose_remote(_("Sign out"), "logout")
            return
        found = await self._runtime.host.sign_out(rest)
        server, still = clean_line(rest, 64), ""
        done = _("{server}: not signed in.", server=server)
        if found.count:
            done = _("{server}: signed out, tokens deleted.", server=server)
            done = sentences(done, localized(found.told).strip())
        if found.still_at:
            name = clean_line(found.still_at, 64)
            account = account_of(name)
            still = _("You are still signed in at {name}: /logout {account}", name=name, account=account)
        self._note(sentences(done, still))

    def _choose_remote(self, heading: str, command: str) -> None:
        lines = {
            f"/{command} {one.name}": f"{clean_line(one.name, 60)}   {localized(one.sign_in)}".rstrip()
            for one in self._runtime.host.statuses()
            if one.spec.url is not None
        }
        self._pick(heading, lines, self._composer.put_back, _("No remote servers are configured."))

    def _pick(
        self, title: str | Row, lines: Mapping[str, str], take: Callable[[str], None], empty: str
    ) -> None:
        """Let the user choose one of the lines; `take` gets its key."""
        from tui.ui.dialogs.picker import Picker

        def done(value: str | None) -> None:
            self._regions.go_to(Context.COMPOSER)
            if value is not None:
                take(value)

        choices = [(key, Content(line)) for key, line in lines.items()]
        self._regions.open_dialog(Picker(title, choices, note=empty, finds=True), done)

    def _snippet(self, spec: CommandSpec, rest: str) -> None:
        found = parse_arguments(rest, spec.names, spec.required)
        if found.missing:
            written = " ".join(pair(name, value) for name, value in found.values.items() if value)
            self._composer.put_back(f"/{spec.name} {written}{' ' if written else ''}{found.missing[0]}=")
            self._regions.notify(_("Enter a value for {names}.", names=", ".join(found.missing)))
            return
        text = filled(spec.target, found.values)
        self._composer.put_back(f"{text}\n{found.unknown}" if found.unknown else text)

    async def _insert_prompt(self, spec: CommandSpec, rest: str) -> None:
        """Put the messages of a prompt into the composer, for the user to read before sending."""
        found = parse_arguments(self._composer.pastes.expand(rest), spec.names, spec.required)
        if found.unknown:
            unknown = clean_line(found.unknown, 40)
            raise McptuiError(message("does not take “{written}”", written=unknown), where=f"/{spec.name}")
        if found.missing:
            missing = ", ".join(clean_line(name, 40) for name in found.missing)
            self._regions.notify(_("Enter a value for {names}.", names=missing))
            self._navigator.open_form(spec.server, spec.target, dict(found.values), prompt=True)
            return
        result = await self._runtime.workbench.get_prompt(
            spec.server,
            spec.target,
            found.values,
            call=f"hand-prompt-{next(self._prompt_calls)}",
            seconds=PROMPT_SECONDS,
        )
        text, attachments = prompt_text(result, f"/{spec.name}")
        known = [Reference.to_known(replace(one, server=spec.server)) for one in attachments]
        self._composer.put_foreign(text, *known)
        send = self._regions.key_of("composer.send")
        server = quoted_name(spec.server)
        told = _("Inserted from the server {server}. Press {key} to send.", server=server, key=send)
        self._regions.notify(told)


def _place(skill: Any) -> tuple[str, str]:
    return skill.server, skill.uri


def _prompt_of(name: str, specs: Mapping[str, CommandSpec]) -> CommandSpec:
    """Return the prompt `SERVER:PROMPT`, or PROMPT if only one server has it. Raises McptuiError."""
    found = [name] if name in specs else [known for known, spec in specs.items() if spec.target == name]
    if len(found) == 1:
        return specs[found[0]]
    choices = clean_line(", ".join(f"/{known}" for known in found), 200)
    where = clean_line(name, 80)
    if not found:
        raise McptuiError(message("no running server has this prompt"), where=where)
    what = n_message("{n} server has this prompt.", "{n} servers have this prompt.", len(found))
    raise McptuiError(what, where=where, next_step=message("Use {choices}.", choices=choices))


def export_to(rest: str, title: str, folder: Path) -> tuple[str, Path]:
    """Return format and file for `/export`, which the dialog shows and checks."""
    from tui.ui.dialogs.export_dialogs import OF_SESSIONS

    known = {name: kind for kind, ending, _about in OF_SESSIONS for name in (kind, ending.lstrip("."))}
    word, _space, path = rest.partition(" ")
    if (kind := known.get(word.lower())) is None:
        path, kind = rest, EXPORT_ENDINGS.get(Path(rest.strip()).suffix.lower(), "markdown")
    return kind, folder / os.path.expanduser(path.strip() or file_stem(title, "conversation"))


def prompt_text(result: PromptResult, name: str) -> tuple[str, Sequence[Attachment]]:
    """Return the text and the attachments of a prompt's messages; raises `McptuiError` if there are none."""
    if result.problem:
        raise McptuiError(clean(result.problem), where=name)
    from tui.ui.results.message_draft import prompt_message

    try:
        text, attachments = prompt_message(result, name)
    except ValueError as error:
        problem = message("returned unsupported content: {problem}", problem=str(error))
        raise McptuiError(problem, where=name) from error
    if not text and not attachments:
        raise McptuiError(message("returned no messages"), where=name)
    return text, attachments
