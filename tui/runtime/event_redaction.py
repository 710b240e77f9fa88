"""Redacts configured secrets in the events of a turn before a screen or a command receives them.

The turn itself keeps the original text: a server may be allowed to send secrets to the model, and the model
must be able to send them back. Only front ends receive the redacted events.
"""

from collections.abc import Iterator
from dataclasses import replace

from tui.core.conversation.conversation import Remark
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
from tui.core.ports import ApprovalRequest, Approver, Decision, TrustQuestion
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


class RedactedApprover:
    """Shows the user the arguments of a call without secrets. The call itself keeps them."""

    def __init__(self, inner: Approver, redactor: Redactor) -> None:
        self._inner = inner
        self._redactor = redactor

    async def ask(self, request: ApprovalRequest) -> Decision:
        return await self._inner.ask(redacted_request(request, self._redactor))

    async def trust(self, question: TrustQuestion) -> bool | None:
        return await self._inner.trust(replace(question, tool=self._redactor.redact(question.tool)))


def redacted_remark(remark: Remark, redactor: Redactor) -> Remark:
    """Return `remark` without configured secrets, like its event."""
    clear = redactor.redact
    return replace(
        remark, text=clear(remark.text), where=clear(remark.where), next_step=clear(remark.next_step)
    )
