"""Redacts configured secrets in what screens and commands receive: events of a turn, and messages.

The turn itself keeps the original text: a server may be allowed to send secrets to the model, and the model
must be able to send them back. Only front ends receive the redacted events and messages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tui.core.conversation.conversation import Message, Remark
from tui.core.events import (
    Event,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.secrets.named_values import without_named_arguments
from tui.core.secrets.redact import PieceRedactor, Redactor
from tui.core.secrets.walk import unchanged, without_secrets
from tui.host.redaction import ResultRedactor


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
        if isinstance(event, TextDelta | ReasoningDelta) and (self._redactor.searches or self._pieces.held):
            replaces = isinstance(event, ReasoningDelta) and event.replaces_text
            if replaces:
                yield from self._pieces.forget(lambda held: isinstance(held, TextDelta))
            yield from self._pieces.take(event, always=replaces)
            return
        if self._pieces.held:
            yield from self._pieces.rest()
        yield redacted(event, self._redactor)


def redacted(event: Event, redactor: Redactor) -> Event:
    """Return `event` without configured secrets, or the same object if it has none.

    In mcptui's own texts, anything that looks like a secret is also replaced, because an error may quote one.
    """
    match event:
        case TurnError() | RetryScheduled() | Notice() | TurnStarted():
            return without_secrets(event, redactor.redact)
        case ToolCallProposed(server=server, tool=tool, arguments=arguments):
            shown = without_named_arguments(arguments, redactor.arguments.of(server, tool))
            event = event if shown is arguments else replace(event, arguments=shown)
    if not redactor.searches:
        return event
    match event:
        case TurnEnded(text=text):
            return replace(event, text=redactor.redact_texts([text])[0])
        case ToolCallEnded():
            return _ended(event, redactor)
        case _:
            return without_secrets(event, redactor.redact_spoken)


def _ended(event: ToolCallEnded, redactor: Redactor) -> Event:
    text, result = redactor.redact_spoken(event.text), event.result
    # A result is redacted on arrival, unless the model may receive the secrets of its server.
    if result is not None and (result.as_is or text != event.text):
        result = ResultRedactor(redactor).redacted(result)
    same = text == event.text and result is event.result
    return event if same else replace(event, text=text, result=result)


def shown_remarks(remarks: Sequence[Remark], redactor: Redactor) -> list[Remark]:
    """Return remarks without configured secrets, like their events."""
    return without_secrets(list(remarks), redactor.redact)


class ShownMessages:
    """The messages of a conversation without configured secrets. Each is redacted once."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._said: Sequence[Message] = ()
        self._shown: list[Message] = []
        self._known = 0

    def of(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return these messages, which may have grown since the last call."""
        if self._said is not messages or self._known != self._redactor.known:
            self._said, self._known, self._shown = messages, self._redactor.known, []
        new = messages[len(self._shown) :]
        self._shown += [without_secrets(one, self._redactor.redact_spoken, unchanged) for one in new]
        return self._shown
