"""The messages of the conversation for screens: without configured secrets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import overload

from tui.core.conversation.conversation import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from tui.core.conversation.message_json import clear_arguments
from tui.core.secrets.redact import Redactor


class ShownMessages(Sequence[Message]):
    """Messages that are redacted on access. A message is immutable and redacted once."""

    def __init__(self, messages: Sequence[Message], redactor: Redactor) -> None:
        """Show `messages`, a list that may grow."""
        self._messages = messages
        self._redactor = redactor
        self._shown: dict[int, tuple[Message, Message, int]] = {}

    def of(self, messages: Sequence[Message]) -> "ShownMessages":
        """Return this object if it already shows that list, else a new one for it."""
        return self if messages is self._messages else ShownMessages(messages, self._redactor)

    def __len__(self) -> int:
        return len(self._messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...

    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return [self._at(place) for place in range(*index.indices(len(self._messages)))]
        return self._at(range(len(self._messages))[index])

    def __iter__(self) -> Iterator[Message]:
        return (self._at(place) for place in range(len(self._messages)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _at(self, place: int) -> Message:
        message, known = self._messages[place], self._redactor.known
        before = self._shown.get(place)
        if before is None or before[0] is not message or before[2] != known:
            shown = shown_message(message, self._redactor.redact_spoken)
            before = self._shown[place] = message, shown, known
        return before[1]


def shown_message(message: Message, clear: Callable[[str], str]) -> Message:
    """Return a message without secrets, or the same object if it has none."""
    shown: Message
    match message:
        case UserMessage():
            attachments = _attachments(message.attachments, clear)
            shown = replace(message, text=clear(message.text), attachments=attachments)
        case ToolMessage():
            attachments = _attachments(message.attachments, clear)
            shown = replace(message, text=clear(message.text), attachments=attachments)
        case AssistantMessage():
            calls = tuple(
                replace(call, arguments=clear_arguments(call.arguments, clear), problem=clear(call.problem))
                for call in message.calls
            )
            reasoning = clear(message.reasoning)
            shown = replace(message, text=clear(message.text), reasoning=reasoning, calls=calls)
    return message if shown == message else shown


def _attachments(attachments: Sequence[Attachment], clear: Callable[[str], str]) -> tuple[Attachment, ...]:
    return tuple(
        replace(one, name=clear(one.name), data=clear(one.data) if one.kind == "text" else one.data)
        for one in attachments
    )
