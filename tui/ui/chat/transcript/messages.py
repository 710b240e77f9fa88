"""Whole messages of a conversation: shown anew, found, and the one that the mark stands on."""

import time
from collections import deque
from collections.abc import Callable, Collection, Sequence

from textual.message import Message as Posted

from tui.core.conversation.conversation import Message, Remark
from tui.core.tools import BinaryContent, ToolResult
from tui.ui.chat.transcript.blocks import Label, Summary
from tui.ui.chat.transcript.cards import Card
from tui.ui.chat.transcript.flow import Block
from tui.ui.chat.transcript.past import past_blocks
from tui.ui.chat.transcript.view import FlowPane
from tui.ui.chat.transcript.writer import ReplyWriter
from tui.ui.widgets.symbols import Symbols

MOST_GIVEN = 32 * 1024 * 1024
"""Characters of base64 of results that are kept to be looked at; what the model was shown is kept anyway."""


class Messages(FlowPane):
    """The part of the transcript that knows where a message begins and ends."""

    _symbols: Symbols
    _writer: ReplyWriter

    class MessageChosen(Posted):
        """The person wants to do something with the message that the mark stands on."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._cards: dict[str, Card] = {}
        self._places: list[Block] = []
        self._summary: Summary | None = None
        self._given: deque[tuple[Card, int]] = deque()

    # ---- what was said before ----

    def show_past(
        self,
        messages: Sequence[Message],
        unknown: Collection[str],
        notice: Callable[[str], str],
        remarks: Sequence[Remark] = (),
        note: Callable[[Remark], tuple[str, str]] = lambda remark: ("", ""),
    ) -> None:
        """Show a conversation in place of what is shown, at its end; quick for thousands of messages.

        Args:
            messages: what was said.
            unknown: ids of calls whose outcome nobody knows.
            notice: gives the line that must stand under the replies of a model, by its label; or "".
            remarks: what mcptui itself said between them, in order.
            note: gives what a remark says, "" for nothing, and the kind of note.
        """
        self._empty()
        past = past_blocks(messages, unknown, self._symbols, notice, remarks, note, time.time())
        self._cards.update(past.cards)
        self._places = past.places
        self.flow.extend(past.blocks)
        self.following = True
        self.flow_changed()

    def show_message(self, index: int) -> None:
        """Go to a message of the conversation that was shown by `show_past`."""
        if 0 <= index < len(self._places):
            block = self._places[index]
            self.following = False
            self.call_later(self._go_to, block)

    def _go_to(self, block: Block) -> None:
        if block not in self.flow.blocks:
            return
        self.show_block(block)
        self._place(self.flow.top(self.flow.index_of(block)))  # what comes behind it is read, too
        if block.targets():
            self._aim((block, block.targets()[0]))

    def _empty(self) -> None:
        self._writer.reset()
        self._target = None
        self._cards.clear()
        self._places = []
        self._given.clear()
        self._summary = None
        self.flow.truncate(0)

    # ---- what the model is told instead ----

    def show_summary(self, words: str, text: str) -> None:
        """Say at the end what the model is told in place of older messages; "" takes it away."""
        if self._summary is not None and self._summary in self.flow.blocks:
            self.flow.replace(self.flow.index_of(self._summary), ())
            self._target = None
        self._summary = None
        if words:
            self._writer.close()
            self._summary = Summary(words, text, self._symbols)
            self.flow.append(self._summary)
        self.flow_changed()

    # ---- the mark ----

    @property
    def marked_label(self) -> Label | None:
        """The label of the message that the mark stands in; of the last message, if it stands nowhere."""
        blocks = self.flow.blocks
        end = len(blocks) - 1
        if self._target is not None and self.has_focus and self._target[0] in blocks:
            end = self.flow.index_of(self._target[0])
        return next((one for one in reversed(blocks[: end + 1]) if isinstance(one, Label)), None)

    def question_of(self, label: Label) -> tuple[str, int] | None:
        """Return what the person said to which a message belongs, and how many times it was said since.

        None if nothing was said before it.
        """
        labels = [one for one in self.flow.blocks if isinstance(one, Label)]
        at = labels.index(label) if label in labels else -1
        asked = next((one for one in reversed(labels[: at + 1]) if one.role == "user"), None)
        if asked is None:
            return None
        behind = labels[labels.index(asked) + 1 :]
        return asked.said, sum(1 for one in behind if one.role == "user" and one.said == asked.said)

    @property
    def selected_call(self) -> str:
        """The id of the call whose card the cursor stands on; of the last call, if it stands elsewhere."""
        target = self._target[0] if self._target is not None else None
        for call_id, card in reversed(self._cards.items()):
            if card is target:
                return call_id
        return next(reversed(self._cards), "")

    def give_result(self, call_id: str, result: ToolResult) -> None:
        """Keep what a call gave, and show what it holds besides text; of many large ones only the newest."""
        card = self._cards.get(call_id)
        if card is None:
            return
        card.give(result)
        self._given.append(
            (card, sum(len(one.data) for one in result.content if isinstance(one, BinaryContent)))
        )
        while len(self._given) > 1 and sum(size for _, size in self._given) > MOST_GIVEN:
            self._given.popleft()[0].gave = None
        self._touch(card)

    def card_of(self, call_id: str) -> Card | None:
        """Return the card of a call."""
        return self._cards.get(call_id)

    def _touch(self, block: Block) -> None:
        block.width = 0
        self.flow_changed()
