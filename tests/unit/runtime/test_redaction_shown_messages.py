"""The messages of the conversation as shown on screens."""

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    ToolMessage,
    UserMessage,
)
from tui.core.secrets.redact import Redactor
from tui.runtime.redaction import ShownMessages

SECRET = "configured-value"


def messages():
    return [
        UserMessage(f"use {SECRET}", (Attachment("text", "text/plain", SECRET, 3, SECRET),), at=5.0),
        AssistantMessage(SECRET, f"so {SECRET}", (CallRequest("c", "srv__t", f'{{"a": "{SECRET}"}}'),)),
        ToolMessage("c", "srv__t", f"it is {SECRET}", seconds=2.0),
        UserMessage("fine"),
    ]


def test_messages_are_shown_without_secrets_and_otherwise_unchanged():
    said = messages()
    shown = ShownMessages(said, Redactor({"K": SECRET}))
    assert len(shown) == 4
    assert SECRET not in "".join(map(repr, shown))
    first, second = shown[0], shown[1]
    assert isinstance(first, UserMessage) and first.at == 5.0 and first.attachments[0].data == "[redacted:K]"
    assert isinstance(second, AssistantMessage) and second.calls[0].arguments == '{"a": "[redacted:K]"}'
    assert shown[3] is said[3] and shown[-1] is said[3]
    assert shown[1:3] == [shown[1], shown[2]] and shown[2] is shown[2]


def test_new_messages_and_new_secrets_are_taken_into_account():
    said, redactor = messages(), Redactor()
    shown = ShownMessages(said, redactor)
    assert shown == said
    said.append(UserMessage(f"and {SECRET}"))
    redactor.add({"K": SECRET})
    assert len(shown) == 5 and SECRET not in repr(list(shown))


def test_another_conversation_shows_its_own_messages():
    said = messages()
    shown = ShownMessages(said, Redactor())
    assert shown.of(said) is shown
    other = shown.of([])
    assert len(other) == 0 and len(shown) == 4
