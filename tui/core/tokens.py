"""A token count where an endpoint gives none: an estimate, always shown with "~". Pure."""

from collections.abc import Iterable

from tui.core.conversation import AssistantMessage, Message
from tui.core.ports import ModelRequest


def estimate(text: str) -> int:
    """Return about how many tokens `text` is: 0.3 for an ASCII character, 1.3 for another."""
    if text.isascii():
        return round(len(text) * 0.3)
    ascii_count = len(text.encode("ascii", "ignore"))
    return round(ascii_count * 0.3 + (len(text) - ascii_count) * 1.3)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Return about how many tokens messages are, calls and what they are wrapped in included."""
    total = 0
    for message in messages:
        total += estimate(message.text) + 4
        if isinstance(message, AssistantMessage):
            total += sum(estimate(call.name + call.arguments) for call in message.calls)
    return total


def estimate_request(request: ModelRequest) -> int:
    """Return about how many tokens a request is, tool definitions included."""
    tools = sum(estimate(f"{tool.name}{tool.description}{tool.schema}") for tool in request.tools)
    return estimate(request.system) + estimate_messages(request.messages) + tools
