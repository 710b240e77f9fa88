"""Finds the tool or prompt that a user named, or says which there are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.core.errors import UsageError
from tui.core.language.translate import N_, as_message, message
from tui.core.text import clean_line, quoted_name
from tui.core.tools import Tool
from tui.core.units import and_more
from tui.core.workbench import PromptInfo
from tui.settings.problems import hinted

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

_SHOWN_NAMES = 40
_TOOL = (N_("{server} has no tool {name}"), N_("Its tools: {names}"), N_("It has no tools."))
_PROMPT = (N_("{server} has no prompt {name}"), N_("Its prompts: {names}"), N_("It has no prompts."))


def tool_of(runtime: "Runtime", server: str, name: str) -> Tool:
    """Return a tool of a server. Raises UsageError, which names its tools."""
    tools, status = runtime.workbench.tools(server), runtime.host.status(server)
    for tool in tools:
        if tool.name == name:
            return tool
    for left_out, why in status.quarantined:
        if left_out == name:
            named = clean_line(name, 80)
            raise UsageError(message("{name} cannot be called: {why}", name=named, why=clean_line(why, 300)))
    error = _not_found(_TOOL, server, name, [tool.name for tool in tools])
    if status.listing_problem:
        why = clean_line(status.listing_problem, 200)
        error.next_step = message("Some tools could not be listed: {why}", why=why)
    raise error


async def prompt_of(runtime: "Runtime", server: str, name: str) -> PromptInfo:
    """Return a prompt of a server. Raises UsageError, which names its prompts."""
    prompts, problem = await runtime.workbench.prompts(server)
    for prompt in prompts:
        if prompt.name == name:
            return prompt
    raise _not_found(_PROMPT, server, name, [one.name for one in prompts], problem)


def _not_found(
    texts: tuple[str, str, str], server: str, name: str, names: Sequence[str], problem: str = ""
) -> UsageError:
    absent, these, none = texts
    known = [clean_line(one, 80) for one in names]
    what = as_message(absent, server=clean_line(server, 80), name=quoted_name(name, 80))
    step = as_message(these, names=and_more(known, _SHOWN_NAMES)) if known else problem or as_message(none)
    return UsageError(hinted(what, name, known), next_step=step)
