"""The parts of a request to the model and their size in tokens, also of each server. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tui.core.context.context_meter import Calibration, estimate, estimate_messages, estimate_tool
from tui.core.context.instructions import FILE, instructions_text
from tui.core.context.tool_selection import NOT_LOADED, ToolSelection
from tui.core.conversation.conversation import Message
from tui.core.language.translate import _, n_, n_message
from tui.core.ports import ToolSpec
from tui.core.schemas.tool_names import NameTable
from tui.core.tools import Tool
from tui.core.units import count


@dataclass(frozen=True, slots=True)
class DefinitionTokens:
    """The tokens of one server: of each tool that the model may be offered, and of its instructions.

    Attributes:
        measured: scaled to the endpoint's counts, not only estimated.
        left_out: tokens that were not sent with the last request, because not all tools are offered.
    """

    tools: Mapping[str, int] = field(default_factory=dict)
    instructions: int = 0
    measured: bool = False
    left_out: int = 0

    @property
    def total(self) -> int:
        return sum(self.tools.values()) + self.instructions

    def words(self, tokens: int | None = None) -> str:
        """Return a number of tokens, or the total, as text: "214 tokens", "~1.2 k tokens" if estimated."""
        return token_words(self.total if tokens is None else tokens, self.measured)


def token_words(tokens: int, measured: bool) -> str:
    """Return a number of tokens as text, with "~" if it is estimated."""
    about = "" if measured else "~"
    return n_message(
        "{about}{number} token", "{about}{number} tokens", tokens, about=about, number=count(tokens)
    )


def definition_tokens(
    tools: Sequence[Tool],
    instructions: Mapping[str, str],
    calibration: Calibration,
    tool_selection: ToolSelection,
) -> Mapping[str, DefinitionTokens]:
    """Return the tokens by server; `instructions` are those that the model is given, by server."""
    by_server: dict[str, dict[str, int]] = {name: {} for name in instructions}
    for name, tool in NameTable(tools).items():
        tokens = calibration(tool_selection.made(name, tool).tokens)
        by_server.setdefault(tool.server, {})[tool.name] = tokens
    left = {key for key, mark in tool_selection.marks.items() if mark == NOT_LOADED}
    return {
        server: DefinitionTokens(
            found,
            calibration(estimate(instructions_text({server: instructions.get(server, "")}))),
            calibration.samples > 0,
            sum(tokens for name, tokens in found.items() if (server, name) in left),
        )
        for server, found in by_server.items()
    }


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A part of each request and its tokens; `server` is its server, or ""."""

    name: str
    tokens: int
    server: str = ""


def context_parts(
    specs: Sequence[ToolSpec],
    servers: Mapping[str, DefinitionTokens],
    system: str,
    project: str,
    messages: Sequence[Message],
    calibration: Calibration,
) -> list[ContextPart]:
    """Return the parts: tools and instructions by server, system text, messages.

    Args:
        specs: the tools that are sent.
        servers: tools and instructions of all servers, sent or not.
        system: the system text.
        project: the project instructions that are used, or "".
        messages: the conversation as it is sent.
        calibration: the endpoint's counts so far, compared to estimates.
    """
    sizes, numbers = Counter[str](), Counter(spec.server for spec in specs)
    for spec in specs:
        sizes[spec.server] += estimate_tool(spec)
    parts = [ContextPart(_("System prompt"), calibration(estimate(system)))]
    if project:
        parts.append(
            ContextPart(_("Project instructions ({file})", file=FILE), calibration(estimate(project)))
        )
    for server in dict.fromkeys((*servers, *numbers)):
        known = servers.get(server, DefinitionTokens())
        if number := numbers[server]:
            words, all_of = n_("{n} tool", "{n} tools", number), len(known.tools)
            if number < all_of:
                words = n_("{part} of {n} tool", "{part} of {n} tools", all_of, part=number)
            parts.append(ContextPart(words, calibration(sizes[server]), server))
        if known.instructions:
            parts.append(ContextPart(_("instructions"), known.instructions, server))
    sent = n_("Conversation, {n} message", "Conversation, {n} messages", len(messages))
    return [*parts, ContextPart(sent, calibration(estimate_messages(messages)))]
