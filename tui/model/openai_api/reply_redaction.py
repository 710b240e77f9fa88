"""Redacts the secrets that an endpoint is sent in its replies.

An endpoint may quote its key. It is redacted here, where text of the endpoint enters, so that nothing after
that (events, history, exports, other models, servers) ever contains it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tui.core.ports import CallPart, ModelPart, ReasoningPart, ReplyPart, RetryPart, TextPart
from tui.core.secrets.redact import Redactor


class ReplyRedactor:
    """Redacts the parts of one reply, also where the endpoint splits a secret into pieces.

    Text that may be the beginning of a secret is held back until more is known. Only whole keys are replaced:
    the user may have asked for a placeholder such as `sk-proj-...`. `replaced`: the reply held a secret that
    no single event contained.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held: TextPart | ReasoningPart | None = None
        self.replaced = False

    def take(self, part: ModelPart) -> Iterator[ModelPart]:
        match part:
            case TextPart() | ReasoningPart():
                yield from self._take_text(part)
            case CallPart():
                yield replace(part, name=self._clear(part.name))
            case ReplyPart():
                yield from self.rest()
                yield self._end(part)
            case RetryPart():
                yield part

    def rest(self, *, broken: bool = False) -> Iterator[ModelPart]:
        """Yield what was held back at the end.

        If the stream broke, perhaps within a key, a long beginning of one is replaced too.
        """
        held, self._held = self._held, None
        if held is not None:
            yield replace(held, text=self._clear(held.text, quotes=broken))

    def _take_text(self, part: TextPart | ReasoningPart) -> Iterator[ModelPart]:
        held = self._held
        replaces = isinstance(part, ReasoningPart) and part.replaces_text
        if replaces and isinstance(held, TextPart):
            self._held = None  # it is in `part` again
        elif not replaces and type(held) is type(part):
            part = replace(part, text=held.text + part.text)
            self._held = None
        else:
            yield from self.rest()
        if count := self._redactor.begun_at_end(part.text):
            self._held = type(part)(part.text[-count:])
            part = replace(part, text=part.text[:-count])
        if part.text or replaces:
            yield replace(part, text=self._clear(part.text))

    def _end(self, reply: ReplyPart) -> ReplyPart:
        clear = self._clear
        calls = tuple(
            replace(
                call,
                id=clear(call.id),
                name=clear(call.name),
                arguments=clear(call.arguments),
                extra=self._cleared(call.extra),
                problem=clear(call.problem),
            )
            for call in reply.calls
        )
        finish, refusal = clear(reply.finish), clear(reply.refusal)
        return replace(reply, calls=calls, finish=finish, refusal=refusal, echo=self._cleared(reply.echo))

    def _clear(self, text: str, *, quotes: bool = False) -> str:
        clear = self._redactor.redact_spoken(text, quotes=quotes)
        self.replaced = self.replaced or clear != text
        return clear

    def _cleared(self, value: Any) -> Any:
        match value:
            case str():
                return self._clear(value)
            case Mapping():
                return {self._cleared(key): self._cleared(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self._cleared(inner) for inner in value]
            case _:
                return value
