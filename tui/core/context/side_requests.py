"""A question to the model that is no part of the conversation: a summary, a title."""

from collections.abc import Callable, Sequence

from tui.core.context.tokens import estimate, estimate_request
from tui.core.conversation.conversation import Message, UserMessage, sanitised
from tui.core.conversation.instructions import TITLE
from tui.core.conversation.titles import title_of
from tui.core.errors import ModelError
from tui.core.ports import ChatModel, ModelRequest, ReplyPart, TextPart, Usage

TITLE_MESSAGES = 8
"""So many of the first messages a title is made of."""


async def asked_aside(
    model: ChatModel,
    messages: Sequence[Message],
    question: str,
    *,
    most: int,
    spent: Callable[[Usage], object],
) -> str:
    """Return what the model answers to `question` after `messages`, without tools; "" if nothing.

    Args:
        model: who is asked.
        messages: what it is told before.
        question: what it is asked.
        most: characters after which it is not listened to any more.
        spent: told what it used up.

    Raises:
        ModelError: it could not be asked.
    """
    request = ModelRequest("", [*sanitised(messages), UserMessage(question)])
    text = ""
    usage: Usage | None = None
    parts = model.stream(request)
    try:
        async for part in parts:
            match part:
                case TextPart(piece):
                    text += piece
                case ReplyPart():
                    usage = part.usage
                case _:
                    pass
            if len(text) > most:
                break
    finally:
        close = getattr(parts, "aclose", None)
        if close is not None:
            await close()
    spent(usage or Usage(estimate_request(request), estimate(text), estimated=True))
    return text.strip()[:most]


async def title_by(model: ChatModel, messages: Sequence[Message], spent: Callable[[Usage], object]) -> str:
    """Return a title of a conversation, made by a model of its beginning.

    Raises:
        ModelError: it could not be asked, or gave none.
    """
    said = await asked_aside(model, messages[:TITLE_MESSAGES], TITLE, most=400, spent=spent)
    title = title_of(said)
    if not title:
        raise ModelError("the model gave no title", next_step="Write one: /rename TITLE.")
    return title
