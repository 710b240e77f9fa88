"""A session as a provider accepts it, whatever was written of it when the program ended. Pure.

What an observation says that was never recorded depends on whether the call was sent.
"""

from collections.abc import Collection, Sequence

from tui.core.conversation.conversation import AssistantMessage, CallRequest, Message, ToolMessage, sanitised
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME


def mended(
    messages: Sequence[Message], sent: Collection[str], draft: AssistantMessage | None = None
) -> list[Message]:
    """Return messages with every call answered right behind it, and the draft of a reply at the end.

    Args:
        messages: as they were read; any may be missing.
        sent: ids of the calls that were about to be sent.
        draft: how far a reply had come, or None.
    """
    result = sanitised(messages, lambda call: unanswered(call, sent))
    if draft is not None and draft.text:
        result.append(draft)
    return result


def unanswered(call: CallRequest, sent: Collection[str]) -> ToolMessage:
    """Return the observation of a call whose result was never recorded."""
    text = UNKNOWN_OUTCOME if call.id in sent else NEVER_SENT
    return ToolMessage(call.id, call.name, text, is_error=True)


def unknown_outcomes(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the calls of which nobody knows what they did."""
    return frozenset(
        message.call_id
        for message in messages
        if isinstance(message, ToolMessage) and message.is_error and message.text == UNKNOWN_OUTCOME
    )
