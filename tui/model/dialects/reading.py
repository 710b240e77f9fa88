"""One reply on its way to the loop: its dialect read, its leaks found, its calls collected. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import CallPart, ModelPart, ReasoningPart, TextPart
from tui.model.dialects.dialect import Dialect
from tui.model.dialects.leaks import LeakParser
from tui.model.dialects.made import Maker
from tui.model.dialects.parser import Piece
from tui.model.dialects.thoughts import Thoughts
from tui.model.dialects.xml import ANSWER, XmlParser


class Reading:
    """Reads the text of a reply.

    Args:
        maker: makes the calls.
        dialect: how the model was asked to write them; None for a model that was asked to make them natively.
        within: what is read is the thinking of a reply.
        opened: replies of this model begin with thinking, the opening tag left out.
    """

    def __init__(
        self, maker: Maker, dialect: Dialect | None = None, *, within: bool = False, opened: bool = False
    ) -> None:
        self._within = within
        self._maker = maker
        self._dialect = dialect
        self._written = Thoughts(lambda: dialect.parser(maker), opened=opened) if dialect else None
        self._leaks = LeakParser(maker)
        self._thinking: list[str] = []
        self._begun = False
        self._marked = False
        """The place of a byte order mark is over; some servers let one through."""
        self.calls: list[CallRequest] = []
        """What was found so far."""

    @property
    def over(self) -> bool:
        """Whether what else comes is dropped."""
        return self._written is not None and self._written.over

    def opens(self, before: bool) -> bool:
        """Return whether replies begin with thinking, as far as this one tells; `before` if it does not."""
        if self._written is None:
            return before
        return (before or self._written.close_only) and not self._written.never_closed

    def part(self, part: ModelPart) -> list[ModelPart]:
        """Take a part of the reply and return what it lets be known."""
        match part:
            case TextPart(text):
                text = text if self._marked else text.removeprefix("\ufeff")
                self._marked = self._marked or bool(part.text)
                return self._sorted(self._written.feed(text) if self._written else [TextPart(text)])
            case ReasoningPart():
                return self._sorted([part])
            case CallPart():
                self.native()
                return [part]
            case _:
                return [part]

    def native(self) -> None:
        """The model makes a call in the proper form: nothing in its text is one."""
        self._leaks.give_up()

    def end(self, *, cut: bool, spoken: bool = False) -> list[ModelPart]:
        """Return what was kept back.

        Args:
            cut: the endpoint ended the reply before the model did.
            spoken: the reply says something beside its text; nothing is looked for in its thinking.
        """
        pieces = self._written.end(cut=cut) if self._written else []
        parts = self._sorted(pieces)
        if self.calls:
            self._leaks.give_up()
        for piece in self._leaks.end(cut=cut):
            parts.extend(self._one(piece))
        if not (self.calls or self._leaks.shown or cut or spoken or self._within):
            parts.extend(self._thought_of())
        return parts

    def _sorted(self, pieces: Sequence[Piece]) -> list[ModelPart]:
        """Return the parts of pieces: text goes through the search for leaks first, calls are kept."""
        parts: list[ModelPart] = []
        for piece in pieces:
            if isinstance(piece, TextPart):
                self._begun = True
                for found in self._leaks.feed(piece.text):
                    parts.extend(self._one(found))
            else:
                parts.extend(self._one(piece))
        return parts

    def _one(self, piece: Piece) -> list[ModelPart]:
        if isinstance(piece, CallRequest):
            self.calls.append(piece)
            return []
        if isinstance(piece, ReasoningPart):
            if piece.replaces_text:  # all text so far was thinking, and so were calls in it
                self.calls.clear()
                self._thinking.clear()
                self._leaks = LeakParser(self._maker)
                self._begun = False
            self._thinking.append(piece.text)
            if not self._begun:
                self._leaks.thought()
        return [piece]

    def _thought_of(self) -> list[ModelPart]:
        """Find the calls, or else the answer, in the thinking of a reply that holds nothing else.

        The model forgot to end its thinking. An answer is found only where the dialect marks answers.
        """
        text = "".join(self._thinking)
        inner = Reading(self._maker, self._dialect, within=True)
        parts = inner.part(TextPart(text))
        parts += inner.end(cut=False)
        sound = [call for call in inner.calls if not (call.truncated or call.problem)]
        known = [call for call in sound if self._maker.offered.named(call.name)]
        self.calls.extend(replace(call, recovered=True) for call in known)
        mark = text.find(ANSWER)
        if known or mark < 0 or self._dialect is None or self._dialect.parser is not XmlParser:
            return []
        answer = Reading(self._maker, self._dialect, within=True)
        parts = answer.part(TextPart(text[mark:]))
        return [part for part in parts + answer.end(cut=False) if isinstance(part, TextPart)]
