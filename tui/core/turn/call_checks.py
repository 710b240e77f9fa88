"""What a call means before anything runs: which tool, which arguments, or why not. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.schemas.tool_names import NameTable
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.turn.model_step import parse_arguments


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call and what it means.

    Attributes:
        call: as the model wrote it.
        tool: what it resolves to, or None.
        arguments: parsed; empty if they cannot be.
        problem: what the model is told if the call cannot run, or "".
        why: the same in a word or two ("unknown tool", "invalid arguments"), or "".
    """

    call: CallRequest
    tool: Tool | None
    arguments: Mapping[str, Any]
    problem: str = ""
    why: str = ""

    @property
    def server(self) -> str:
        """The server's name, or "" if the call resolves to nothing."""
        return self.tool.server if self.tool else ""

    @property
    def name(self) -> str:
        """The tool's own name, or what the model wrote."""
        return self.tool.name if self.tool else self.call.name


def prepare(call: CallRequest, table: NameTable) -> Prepared:
    """Return what `call` means, or the problem that the model can mend."""
    tool = table.resolve(call.name)
    if call.truncated:
        problem = "not run: the arguments were cut off in the middle. Send the call again, complete."
        return Prepared(call, tool, {}, problem, "invalid arguments")
    if call.problem:
        return Prepared(call, tool, {}, f"not run: {call.problem}", "invalid call")
    try:
        arguments = parse_arguments(call.arguments)
    except ValueError as error:
        problem = (
            f"not run: the arguments are not valid JSON ({error}). "
            f"They were: {clean_line(call.arguments, 300)}"
        )
        return Prepared(call, tool, {}, problem, "invalid arguments")
    if tool is None:
        close = table.close_to(call.name)
        hint = f" Did you mean {' or '.join(close)}?" if close else " No tool has a name like it."
        problem = f"not run: there is no tool named {clean_line(call.name, 100)}.{hint}"
        return Prepared(call, None, arguments, problem, "unknown tool")
    return Prepared(call, tool, arguments)
