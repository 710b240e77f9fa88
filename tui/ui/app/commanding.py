"""The doing of the commands that are written into the composer: `/model`, `/export`, prompts, snippets."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.ui.app.on_messages import OnMessages
from tui.ui.chat.composer.token_area import Reference, Written
from tui.ui.keys.actions import Context

if TYPE_CHECKING:
    from tui.ui.dialogs.picker import Choice
    from tui.ui.keys.slash_commands import Command, Spec

ALONE = frozenset({"model", "system", "clear", "compact", "retry", "sessions", "branch"})
"""Commands that change the conversation; a running turn does so too."""

PROMPT_SECONDS = 60.0

OPENS = {
    "model": "chat_models",
    "sessions": "chat_sessions",
    "export": "chat_export",
    "system": "chat_system",
    "help": "app_help",
}
"""Actions that commands without arguments are another name for."""


class Commanding(OnMessages):
    """Does what a command says."""

    prompts_asked: int = 0

    async def obey(self, command: "Command") -> None:
        """Do it.

        Raises:
            McptuiError: it cannot be done; nothing was changed.
        """
        from tui.ui.keys.slash_commands import Kind

        spec, rest = command.spec, command.rest
        if spec.kind is Kind.SNIPPET:
            self._snippet(spec, rest)
        elif spec.kind is Kind.PROMPT:
            await self._prompt(spec, rest)
        else:
            why, step = self.occupied() if spec.name in ALONE else ("", "")
            if why:
                raise McptuiError(why, where=f"/{spec.name}", next_step=step)
            if not rest and spec.name in OPENS:
                await self.run_action(f"app.{OPENS[spec.name]}")
            else:
                await getattr(self, f"_do_{spec.name}")(self.composer.pastes.expand(rest))

    # ---- the model and what it is told ----

    async def _do_model(self, rest: str) -> None:
        from tui.ui.chat.composer.command_arguments import switch_model

        odd = await switch_model(self.runtime.conversations, rest)
        told = f"{clean_line(self.runtime.model_label, 80)} answers from now on."
        self.notify(f"{told} {odd}".strip(), severity="warning" if odd else "information")

    async def _do_system(self, rest: str) -> None:
        await self.runtime.conversations.set_system(rest)
        self.conversation.add_note("The model is told so from now on, in this conversation.", "info")

    async def _do_compact(self, _: str) -> None:
        self.notify("The older part of the conversation is being summarised.")
        self.conversation.add_note(await self.runtime.conversations.compact(), "info")

    # ---- the conversation ----

    async def _do_clear(self, _: str) -> None:
        await self.begin_anew()

    async def _do_retry(self, _: str) -> None:
        text, attachments = await self.runtime.conversations.again()
        self.show_conversation()
        self.chat.send(Written(text, text), attachments)

    async def _do_branch(self, _: str) -> None:
        conversations = self.runtime.conversations
        if not conversations.messages:
            raise McptuiError("nothing was said yet that could be gone on with", where="/branch")
        await conversations.branch(len(conversations.messages))
        self.show_conversation()
        if not conversations.problem:
            self.conversation.add_note("From here on this is a copy; the one before stays as it is.", "info")

    async def _do_rename(self, rest: str) -> None:
        session, title = self._session("/rename"), clean_line(rest, 200)
        if title:
            await self.runtime.conversations.rename(session, title)
        else:
            title = await self.runtime.conversations.title_from_model()
        self.notify(f"This conversation is called “{title}” now.")

    async def _do_export(self, rest: str) -> None:
        from tui.ui.chat.composer.command_arguments import export_to

        session, info = self._session("/export"), self.runtime.conversations.info
        kind, path = export_to(rest, info.title if info is not None else "", Path.cwd())
        await self.runtime.conversations.export(session, kind, path)
        self.conversation.add_note(f"The conversation was written to {path}", "info")

    def _session(self, command: str) -> str:
        info = self.runtime.conversations.info
        if info is None:
            raise McptuiError("nothing was said yet in this conversation", where=command)
        return info.id

    # ---- what servers offer ----

    async def _do_tools(self, rest: str) -> None:
        from textual.content import Content

        from tui.ui.dialogs.picker import Choice
        from tui.ui.workbench.items import key_of_tool

        servers = [name for name in self.sources.running if rest in ("", name)]
        if rest and not servers:
            raise McptuiError("is no server that runs", where=clean_line(rest, 60))
        tools = {
            f"{server}\n{tool.name}": (server, tool)
            for server in servers
            for tool in self.runtime.workbench.tools(server)
        }
        marks = self.runtime.conversations.tool_marks()

        def line(server: str, name: str) -> Content:
            mark = marks.get((server, name), "")
            shown = f"{clean_line(server, 40)} › {clean_line(name, 60)}"
            return Content(f"{shown}   · {clean_line(mark, 80)}" if mark else shown)

        choices = [Choice(key, line(server, tool.name)) for key, (server, tool) in tools.items()]

        def opened(key: str) -> None:
            server, tool = tools[key]
            self.show_server(server, key_of_tool(tool.name))

        marked = sum((server, tool.name) in marks for server, tool in tools.values())
        heading = "What the model can call" + (f" · {marked} of {len(tools)} marked" if marked else "")
        self._pick(heading, choices, opened, "No running server has tools.")

    async def _do_prompt(self, rest: str) -> None:
        from textual.content import Content

        from tui.ui.dialogs.picker import Choice
        from tui.ui.keys.slash_commands import Kind

        specs = {one.name: one for one in await self.sources.known() if one.kind is Kind.PROMPT}
        name, _, written = rest.partition(" ")
        if name:
            if name not in specs:
                raise McptuiError("is no prompt of a running server", where=clean_line(name, 80))
            await self._prompt(specs[name], written.strip())
            return
        choices = [
            Choice(name, Content(f"{name}  {clean_line(one.help, 60)}")) for name, one in specs.items()
        ]
        self._pick(
            "Prompts",
            choices,
            lambda name: self.composer.put_back(f"/{name} "),
            "No running server has prompts.",
        )

    async def _do_resource(self, rest: str) -> None:
        from textual.content import Content

        from tui.ui.dialogs.picker import Choice

        found = {f"{one.server}:{one.uri}": one for one in await self.sources.resources()}
        if rest:
            named = [one for key, one in found.items() if rest in (key, one.uri)]
            if not named:
                raise McptuiError("is no resource of a running server", where=clean_line(rest, 80))
            self.composer.attach(Reference.to_resource(named[0].server, named[0].uri))
            return
        choices = [
            Choice(key, Content(f"{clean_line(key, 80)}  {clean_line(one.title or one.name, 40)}"))
            for key, one in found.items()
        ]

        def attached(key: str) -> None:
            self.composer.attach(Reference.to_resource(found[key].server, found[key].uri))

        self._pick("Attach a resource", choices, attached, "No running server has resources.")

    def _pick(self, heading: str, choices: "list[Choice]", taken: Callable[[str], None], none: str) -> None:
        from tui.ui.dialogs.picker import FindingPicker

        def done(value: str | None) -> None:
            self.go_to(Context.COMPOSER)
            if value is not None:
                taken(value)

        self.open_dialog(FindingPicker(heading, choices, note=none), done)

    # ---- texts that are put into the message ----

    def _snippet(self, spec: "Spec", rest: str) -> None:
        from tui.ui.keys.slash_commands import filled, pair, parse_arguments

        found = parse_arguments(rest, spec.names, spec.required)
        if found.missing:
            written = " ".join(pair(name, value) for name, value in found.values.items() if value)
            self.composer.put_back(f"/{spec.name} {written}{' ' if written else ''}{found.missing[0]}=")
            self.notify(f"Write what stands for {', '.join(found.missing)}.")
            return
        text = filled(spec.target, found.values)
        self.composer.put_back(f"{text}\n{found.unknown}" if found.unknown else text)

    async def _prompt(self, spec: "Spec", rest: str) -> None:
        """Put what a prompt gives into the composer, to be read before it is sent."""
        from tui.ui.chat.composer.command_arguments import said_by
        from tui.ui.keys.slash_commands import parse_arguments

        found = parse_arguments(self.composer.pastes.expand(rest), spec.names, spec.required)
        if found.unknown:
            raise McptuiError(f"takes no “{clean_line(found.unknown, 40)}”", where=f"/{spec.name}")
        if found.missing:
            self.notify(f"Fill in {', '.join(clean_line(name, 40) for name in found.missing)}.")
            self.open_form(spec.server, spec.target, dict(found.values), prompt=True)
            return
        self.prompts_asked += 1
        result = await self.runtime.workbench.get_prompt(
            spec.server,
            spec.target,
            found.values,
            call=f"hand-prompt-{self.prompts_asked}",
            seconds=PROMPT_SECONDS,
        )
        text, attachments = said_by(result, f"/{spec.name}")
        self.composer.put_foreign(text, *map(Reference.to_known, attachments))
        self.notify(f"{spec.server} would have you say this. {self.key_of('composer.send')} sends it.")
