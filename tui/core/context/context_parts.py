"""The parts of a request to the model and their size in tokens. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.core.context.context_meter import Calibration, estimate, estimate_messages, estimate_tool
from tui.core.context.definition_tokens import DefinitionTokens
from tui.core.context.project_instructions import FILE
from tui.core.conversation.conversation import Message
from tui.core.ports import ToolSpec
from tui.core.units import plural


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
    parts = [ContextPart("System prompt", calibration(estimate(system)))]
    if project:
        parts.append(ContextPart(f"Project instructions ({FILE})", calibration(estimate(project))))
    for server in dict.fromkeys((*servers, *numbers)):
        known = servers.get(server, DefinitionTokens())
        if number := numbers[server]:
            words = plural(max(number, len(known.tools)), "tool")
            words = f"{number} of {words}" if number < len(known.tools) else words
            parts.append(ContextPart(words, calibration(sizes[server]), server))
        if known.instructions:
            parts.append(ContextPart("instructions", known.instructions, server))
    sent = f"Conversation, {plural(len(messages), 'message')}"
    return [*parts, ContextPart(sent, calibration(estimate_messages(messages)))]
