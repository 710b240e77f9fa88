"""Tools and prompts of servers in plain mode: listed, called, and sent to the model."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from tui.addons.plain.asking import Asking, named
from tui.addons.plain.forms import fill
from tui.addons.plain.transcript import ERROR, OWN, PROGRESS, RESULT, Transcript
from tui.commands.call.arguments import Arguments
from tui.commands.call.items import prompt_of, tool_of
from tui.commands.call.output import result_text
from tui.core.conversation.conversation import Attachment
from tui.core.errors import McptuiError, UsageError
from tui.core.forms.form import Form
from tui.core.language.restored import restored_lines, stored
from tui.core.language.translate import _, message
from tui.core.questions import Action
from tui.core.text import clean, clean_line, quoted_name
from tui.core.tools import CallFailure
from tui.core.units import progress
from tui.runtime.runtime import Runtime

PROMPT_SECONDS = 60.0
"""Limit for fetching a prompt."""


class PlainCalls:
    """Commands on tools and prompts. `send` sends a message to the model."""

    def __init__(
        self,
        runtime: Runtime,
        transcript: Transcript,
        asking: Asking,
        send: Callable[[str, tuple[Attachment, ...]], None],
    ) -> None:
        self._runtime, self._transcript, self._asking, self._send = runtime, transcript, asking, send
        self._numbers = count(1)

    def _say(self, text: str) -> None:
        self._transcript.say(OWN, text)

    async def tools(self, rest: str) -> None:
        names = [named(self._runtime, rest, "/tools SERVER")] if rest else list(self._runtime.host.servers)
        found = [tool for name in names for tool in self._runtime.workbench.tools(name)]
        lines = [_about(one.server, one.name, one.schema, one.description) for one in found]
        self._transcript.say_pages((OWN, line) for line in lines)
        if not found:
            self._say(_("No running server has tools."))

    async def call(self, rest: str) -> None:
        words = _words(rest)
        server = named(self._runtime, words[0] if words else "", "/call SERVER TOOL")
        if len(words) < 2:
            what = message("the name of a tool is required")
            raise UsageError(what, where="/call SERVER TOOL", next_step=message("/tools lists them."))
        tool = tool_of(self._runtime, server, words[1])
        takes = Arguments(tool.name, tool.schema)
        arguments = takes.from_pairs(words[2:])
        if len(words) == 2 and tool.schema.get("properties"):
            form = Form(tool.schema)
            async with self._asking.turn():
                if await fill(self._asking, form, declines=False) is not Action.ACCEPT:
                    return self._say(_("Not called."))
            arguments = form.value()[0]
        takes.require(arguments)
        if problem := clean_line(await self._runtime.workbench.check(tool, arguments), 400):
            raise UsageError(stored(problem), where=clean_line(tool.name, 80), next_step=takes.usage())
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
        text = result_text(result) or _("The result is empty.")
        text = text if result.failure is CallFailure.NONE else restored_lines(text)
        self._transcript.say_long(ERROR if result.is_error else RESULT, text)
        return None

    async def prompt(self, rest: str) -> None:
        from tui.ui.results.message_draft import prompt_message

        words, names = _words(rest), list(self._runtime.host.servers)
        if words:
            names = [named(self._runtime, words[0], "/prompt SERVER PROMPT")]
        if len(words) < 2:
            found = [one for name in names for one in (await self._runtime.workbench.prompts(name))[0]]
            lines = [_about(one.server, one.name, one.schema, one.description or one.title) for one in found]
            self._transcript.say_pages((OWN, line) for line in lines)
            return self._say(
                _("/prompt SERVER PROMPT sends one.") if found else _("No running server has prompts.")
            )
        prompt = await prompt_of(self._runtime, *words[:2])
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
            is_yes = await self._asking.sends(lines)
        if is_yes:
            self._send(text, tuple(replace(one, server=prompt.server) for one in files))
        return None


def _words(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        return rest.split()


def _about(server: str, name: str, schema: Mapping[str, Any], description: str) -> str:
    """Return the line about a tool or a prompt."""
    line = f"{clean_line(server, 60)} {clean_line(name, 120)} {Arguments(name, schema).signature}".rstrip()
    return f"{line}: {about}" if (about := clean_line(description, 300)) else line
