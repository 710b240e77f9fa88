"""Resolves a call of the model to its tool and arguments, or to a problem that the model can fix. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.attachments import as_shown
from tui.core.context.tool_results import as_given, cut_as_shown
from tui.core.conversation.conversation import CallRequest, ToolMessage
from tui.core.errors import reason_of
from tui.core.events import NEVER_RUN, ToolCallEnded
from tui.core.language.translate import message
from tui.core.permission.approval_policy import FORBIDDEN
from tui.core.schemas.tool_names import NameTable, server_of
from tui.core.servers import ServerState
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.turn.model_step import parse_arguments

NOT_RUN = "not run: "
"""The begin of the text of a call that did not run."""

EXAMPLE = " Use exactly this format:\n"
"""Precedes a correct call in the problem of a call that cannot be parsed."""

CANCELLED = message("cancelled by the user after it was sent. It may or may not have taken effect.")
_DO_NOT_REPEAT = " Do not repeat it unless asked to."
_RESEND = " Send the complete call again."
_WITHOUT = " Answer without it, or tell the user that it is missing."

CANCELLED_FOR_MODEL = f"{CANCELLED}{_DO_NOT_REPEAT}"


def plain_reason(text: str, why: str) -> str:
    """Return why a call did not run or finish, for the user: without the advice for the model.

    `text` and `why` are those of a `ToolMessage`. A server's own text is returned unchanged.
    """
    if why not in NEVER_RUN and why != "cancelled":
        return text
    text = text.partition(EXAMPLE)[0]
    for advice in (_DO_NOT_REPEAT, _RESEND, _WITHOUT):
        text = text.removesuffix(advice)
    return text


def why_of(message: ToolMessage) -> str:
    """Return why a call did not run or finish; sessions of earlier versions say it only in the result."""
    if message.why or message.seconds or not message.is_error:
        return message.why
    return next((word for word in ("denied", "cancelled", "not run") if message.text.startswith(word)), "")


def shown_result(message: ToolMessage) -> tuple[str, str]:
    """Return the text of a result for the user, without additions for the model, and its warning, or ""."""
    return _for_user(message.text, message.why, ran=message.seconds > 0, is_error=message.is_error)


def shown_end(event: ToolCallEnded) -> tuple[str, str]:
    """Return what `shown_result` returns, for a call that has just ended."""
    return _for_user(event.text, event.why, ran=event.result is not None, is_error=event.is_error)


def _for_user(text: str, why: str, *, ran: bool, is_error: bool) -> tuple[str, str]:
    text, warning = as_given(text, is_error) if ran else (text, "")
    return as_shown(cut_as_shown(plain_reason(text, why))), warning


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A parsed call. `arguments` are empty if they cannot be parsed.

    `problem` is the text for the model if the call cannot run, or ""; `why` is the reason in a few words
    ("unknown tool", "invalid arguments").
    """

    call: CallRequest
    tool: Tool | None
    arguments: Mapping[str, Any]
    problem: str = ""
    why: str = ""

    @property
    def server(self) -> str:
        return self.tool.server if self.tool else ""

    @property
    def name(self) -> str:
        return self.tool.name if self.tool else self.call.name


def prepare(
    call: CallRequest,
    table: NameTable,
    absent: Mapping[str, ServerState],
    turned_off: Sequence[Tool] = (),
    denied: Sequence[Tool] = (),
) -> PreparedCall:
    """Return the parsed `call`, or the problem that the model can fix.

    `absent` are servers that are not running, `turned_off` tools that the model is not offered, `denied`
    tools that a rule denies.
    """
    tool, arguments = table.resolve(call.name), dict[str, Any]()

    def stopped(problem: str, why: str) -> PreparedCall:
        return PreparedCall(call, tool, arguments, f"{NOT_RUN}{problem}", why)

    if call.truncated:
        return stopped(message("the arguments were truncated.") + _RESEND, "invalid arguments")
    if call.problem:
        return stopped(call.problem, "invalid call")
    try:
        arguments = parse_arguments(call.arguments)
    except ValueError as error:
        problem = message(
            "the arguments are not valid JSON ({reason}). They were: {arguments}",
            reason=reason_of(error),
            arguments=clean_line(call.arguments, 300),
        )
        return stopped(problem, "invalid arguments")
    if tool is not None:
        return PreparedCall(call, tool, arguments)
    if (server := server_of(call.name, absent)) is not None:
        name = clean_line(server, 60)
        said = message("the server {server} is not running, so its tools are not available.", server=name)
        if absent[server] is ServerState.STARTING:
            said = message(
                "the server {server} is still starting, so its tools are not available.", server=name
            )
        return stopped(said + _WITHOUT, "server not running")
    if (off := NameTable(turned_off).resolve(call.name)) is not None:
        name, where = clean_line(off.name, 100), clean_line(off.server, 60)
        said = message("{name} of {server} is disabled.", name=name, server=where)
        if off.withheld:
            said = message(
                "{name} of {server} is not offered: {reason}.", name=name, server=where, reason=off.withheld
            )
        return stopped(said + _WITHOUT, "turned off")
    if (off := NameTable(denied).resolve(call.name)) is not None:
        return PreparedCall(call, off, arguments, f"denied: {FORBIDDEN}", "denied")
    close = table.close_to(call.name)
    said = message("there is no tool named {name}.", name=clean_line(call.name, 100))
    hint = message("No tool has a similar name.")
    if close:
        hint = message("Did you mean {names}?", names=" or ".join(close))
    return stopped(f"{said} {hint}", "unknown tool")
