"""Redacts configured secrets in what screens and commands receive: events of a turn, and messages.

The turn itself keeps the original text: a server may be allowed to send secrets to the model, and the model
must be able to send them back. Only front ends receive the redacted events and messages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tui.core.conversation.conversation import Message
from tui.core.events import (
    Event,
    Notice,
    ToolCallEnded,
    ToolCallProposed,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import ReasoningPart, RetryPart, TextPart
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
        self._pieces = PieceRedactor[TextPart | ReasoningPart](redactor, redactor.redact_spoken)

    def take(self, event: Event) -> Iterator[Event]:
        """Yield the events for front ends in place of an event: none, or up to three."""
        if isinstance(event, TextPart | ReasoningPart) and (self._redactor.searches or self._pieces.held):
            yield from self._pieces.take(event)
            return
        if self._pieces.held:
            yield from self._pieces.rest()
        yield redacted(event, self._redactor)


def redacted(event: Event, redactor: Redactor) -> Event:
    """Return `event` without configured secrets, or the same object if it has none.

    In mcptui's own texts, anything that looks like a secret is also replaced, because an error may quote one.
    """
    match event:
        case TurnError() | RetryPart() | Notice() | TurnStarted():
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


class ShownMessages(Sequence[Message]):
    """Messages that are redacted on access. A message is immutable and redacted once."""

    def __init__(self, messages: Sequence[Message], redactor: Redactor) -> None:
        """Show `messages`, a list that may grow."""
        self.messages = messages
        self._redactor = redactor
        self._shown: dict[int, tuple[Message, Message, int]] = {}

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: Any) -> Any:
        places = range(len(self.messages))[index]
        return self._at(places) if isinstance(places, int) else [self._at(place) for place in places]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def _at(self, place: int) -> Message:
        message, known = self.messages[place], self._redactor.known
        before = self._shown.get(place)
        if before is None or before[0] is not message or before[2] != known:
            shown = without_secrets(message, self._redactor.redact_spoken, unchanged)
            before = self._shown[place] = message, shown, known
        return before[1]
