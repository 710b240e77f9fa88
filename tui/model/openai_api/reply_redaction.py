"""Redacts in an endpoint's replies the secrets that it was sent.

An endpoint may quote its key. It is redacted where text of the endpoint enters, so that nothing after that
(events, history, exports, other models, servers) ever contains it.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tui.core.ports import CallPart, ModelPart, ReasoningPart, ReplyPart, RetryPart, TextPart
from tui.core.secrets.encodings import MARK
from tui.core.secrets.redact import PieceRedactor, Redactor
from tui.core.secrets.walk import redacted


class ReplyRedactor:
    """Redacts the parts of one reply, also where the endpoint splits a secret into pieces.

    Text that may be the beginning of a secret is held back until more is known, also from the reasoning to
    the answer. Only whole keys are replaced, and long beginnings at the end of a text: the user may have
    asked for a placeholder such as `sk-proj-...`. `replaced`: the reply held a secret that no single event
    contained.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._pieces = PieceRedactor[TextPart | ReasoningPart](
            redactor, type, lambda part, text: type(part)(text), self._clear
        )
        self.replaced = False

    def take(self, part: ModelPart) -> Iterator[ModelPart]:
        match part:
            case TextPart() | ReasoningPart():
                replaces = isinstance(part, ReasoningPart) and part.replaces_text
                if replaces:
                    yield from self._pieces.forget(lambda held: isinstance(held, TextPart))
                yield from self._watch_for_marks(self._pieces.take(part, always=replaces))
            case CallPart():
                yield replace(part, name=self._clear(part.name))
            case ReplyPart():
                yield from self.rest()
                yield self._end(part)
            case RetryPart():
                yield part

    def rest(self, *, broken: bool = False) -> Iterator[ModelPart]:
        """Yield the text held back at the end, without a long beginning of a key.

        If the stream broke, perhaps within a key, a partial quote of a key is replaced too.
        """
        yield from self._watch_for_marks(self._pieces.rest(partial(self._clear, quotes=broken)))

    def _watch_for_marks(self, parts: Iterator[TextPart | ReasoningPart]) -> Iterator[ModelPart]:
        for part in parts:
            self.replaced = self.replaced or MARK in part.text
            yield part

    def _end(self, reply: ReplyPart) -> ReplyPart:
        clear = self._clear
        reply = redacted(reply, clear)
        calls = (replace(call, id=clear(call.id), name=clear(call.name)) for call in reply.calls)
        return replace(reply, calls=tuple(calls))

    def _clear(self, text: str, *, quotes: bool = False) -> str:
        clear = self._redactor.redact_spoken(text, quotes=quotes)
        self.replaced = self.replaced or clear != text
        return clear
