"""Redacts configured secrets in what screens and commands receive: events of a turn, and messages.

The turn itself keeps the original text: a server may be allowed to send secrets to the model, and the model
must be able to send them back. Only front ends receive the redacted events and messages.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import overload

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.message_json import clear_arguments
from tui.core.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallForming,
    Event,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    Steered,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import ApprovalRequest
from tui.core.secrets.named_values import without_named_arguments
from tui.core.secrets.redact import PieceRedactor, Redactor, without_secrets
from tui.host.redaction.results import ResultRedactor


class EventRedactor:
    """Redacts the events of one turn, including secrets that the model writes in several pieces.

    Text that may be the start of a secret is held back until the next event of the same kind.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._pieces = PieceRedactor[TextDelta | ReasoningDelta](
            redactor,
            lambda event: (type(event), event.step),
            lambda event, text: type(event)(event.step, text),
            redactor.redact_spoken,
        )

    def take(self, event: Event) -> Iterator[Event]:
        """Yield the events for front ends in place of an event: none, or up to three."""
        if isinstance(event, TextDelta | ReasoningDelta) and (self._redactor.searches or self._pieces.holds):
            replaces = isinstance(event, ReasoningDelta) and event.replaces_text
            if replaces:
                yield from self._pieces.forget(lambda held: isinstance(held, TextDelta))
            yield from self._pieces.take(event, always=replaces)
            return
        if self._pieces.holds:
            yield from self._pieces.rest()
        yield redacted(event, self._redactor)


def redacted(event: Event, redactor: Redactor) -> Event:
    """Return `event` without configured secrets, or the same object if it has none.

    In mcptui's own texts, anything that looks like a secret is also replaced, because an error may quote one.
    """
    own = redactor.redact
    match event:
        case TurnError(message=message, where=where, next_step=next_step):
            return replace(event, message=own(message), where=own(where), next_step=own(next_step))
        case RetryScheduled(reason=reason):
            return replace(event, reason=own(reason))
        case Notice(message=message):
            return replace(event, message=own(message))
        case TurnStarted(notice=notice):
            return replace(event, notice=own(notice))
        case ToolCallProposed(server=server, tool=tool, arguments=arguments):
            shown = without_named_arguments(arguments, redactor.arguments.of(server, tool))
            event = event if shown is arguments else replace(event, arguments=shown)
            return _spoken(event, redactor) if redactor.searches else event
        case _:
            return _spoken(event, redactor) if redactor.searches else event


def _spoken(event: Event, redactor: Redactor) -> Event:
    """Return an event without configured secrets in text from the user, the model or a server."""
    clear = redactor.redact_spoken
    match event:
        case TurnEnded(text=text):
            return replace(event, text=redactor.redact_texts([text])[0])
        case Steered(text=text):
            return replace(event, text=clear(text))
        case CallForming(name=name):
            return replace(event, name=clear(name))
        case ToolCallProposed(arguments=arguments):
            shown = without_secrets(arguments, clear)
            return event if shown is arguments else replace(event, arguments=shown)
        case ApprovalAsked(request=request):
            return replace(event, request=redacted_request(request, redactor))
        case ApprovalGiven(reason=reason):
            return replace(event, reason=clear(reason))
        case ToolProgress(message=message):
            return replace(event, message=clear(message))
        case ToolCallEnded():
            return _ended(event, redactor)
        case _:
            return event


def _ended(event: ToolCallEnded, redactor: Redactor) -> Event:
    text, result = redactor.redact_spoken(event.text), event.result
    # A result is redacted on arrival, unless the model may receive the secrets of its server.
    if result is not None and (result.as_is or text != event.text):
        result = ResultRedactor(redactor).redacted(result)
    same = text == event.text and result is event.result
    return event if same else replace(event, text=text, result=result)


def redacted_request(request: ApprovalRequest, redactor: Redactor) -> ApprovalRequest:
    """Return a request for approval whose arguments have no secrets."""
    arguments = without_secrets(request.arguments, redactor.redact_spoken)
    return request if arguments is request.arguments else replace(request, arguments=arguments)


def redacted_remark(remark: Remark, redactor: Redactor) -> Remark:
    """Return `remark` without configured secrets, like its event."""
    clear = redactor.redact
    return replace(
        remark, text=clear(remark.text), where=clear(remark.where), next_step=clear(remark.next_step)
    )


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
