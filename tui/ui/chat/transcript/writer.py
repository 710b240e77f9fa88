"""Writer: makes the blocks of a conversation, live or saved. Pure, except for the clock that is passed in.

A saved conversation is written fast even with thousands of messages: nothing is parsed or wrapped yet, a
block does that when it becomes visible.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.language.translate import _, localized
from tui.core.text import clean_line
from tui.core.turn.prepared_calls import shown_result, why_of
from tui.core.turn.turn_endings import in_order
from tui.core.units import clock_time
from tui.ui.chat.transcript.blocks import (
    Note,
    Plain,
    Prose,
    Signature,
    Thinking,
    attachment_words,
    end_text,
    outcome,
    result_of,
    user_blocks,
)
from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.chat.transcript.markdown_stream import MarkdownStream, parts
from tui.ui.chat.transcript.tool_call_cards import Card
from tui.ui.widgets.markdown import Markdown

Arguments = Mapping[str, Any] | str


class Writer:
    """Makes the blocks of a conversation, live or saved, and appends them. Texts need not be clean.

    What a model writes may arrive in pieces, which are buffered until `draw`; the rest is appended at once.
    `cards` are those of the calls, by id.
    """

    def __init__(
        self,
        flow: Flow,
        append: Callable[[Block], None],
        changed: Callable[[], None],
        arrived: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        """`changed` is called after blocks of the flow have changed, `arrived` after deltas."""
        self.source: list[str] = []  # deltas of the last reply, unchanged
        self.cards: dict[str, Card] = {}
        self.flow = flow
        self._append = append
        self._changed = changed
        self._arrived = arrived
        self._clock = clock
        self._markdown: Markdown | None = None
        self._pending: list[str] = []
        self._stream: MarkdownStream | None = None
        self._tail: Block | None = None
        self._thinking: Thinking | None = None
        self._since = 0.0
        self._text_at: tuple[int, int] | None = None  # number of blocks and deltas before this step's text
        self._name = ""
        self._is_open = False  # whether a reply has begun and its step has not ended
        self._is_new = self._is_signed = True
        self._seconds = 0.0

    def user(self, text: str, at: str = "", attachments: Sequence[Attachment] = ()) -> None:
        """Add a user message, literally, with its attachments; `at` is the time of day to show."""
        self.forget()
        words = [attachment_words(one) for one in attachments]
        for block in user_blocks(text, words, clean_line(at, 20)):
            self._append(block)

    def note(self, text: str, kind: str) -> Note:
        self.close()
        note = Note(text, kind)
        self._append(note)
        return note

    def notice(self, text: str) -> None:
        """Add the line that belongs below the replies of a model, unless it is ""."""
        if text:
            self._append(Plain(clean_line(localized(text), 400), style="dim italic", gap=1))

    def call(
        self, call_id: str, server: str, tool: str, arguments: Arguments, recovered: bool = False
    ) -> Card:
        """Add a call of the model. `recovered`: it was found in the text of the reply."""
        self.close()
        blocks = self.flow.blocks
        gap = 0 if blocks and isinstance(blocks[-1], Card) else 1
        card = self.cards[call_id] = Card(server, tool, arguments, gap)
        card.recovered = recovered
        self._append(card)
        return card

    def whole_thought(self, text: str, seconds: float | None) -> None:
        thinking = Thinking()
        thinking.add(text)
        thinking.running, thinking.seconds = False, seconds
        self._append(thinking)

    def whole_text(self, text: str) -> None:
        """Add the complete text of a step. It is parsed when it becomes visible."""
        self._markdown = self._markdown or Markdown()
        for number, part in enumerate(parts(text)):
            gap = 0 if number and not part.startswith("\n") else 1
            self._append(Prose(self._markdown, part, gap=gap))

    def begin(self, name: str) -> None:
        """Start a reply, or its next step, unless one has started. The reply is signed at its end."""
        if self._is_open:
            return
        self._is_open = True
        self.close()
        self._text_at = None
        if self._is_new:
            self._is_new = False
            self._name = clean_line(localized(name), 60)
            self._seconds = 0.0
            self.source = []
        self._is_signed = False

    def text(self, delta: str) -> None:
        if not delta:
            return
        self._end_thinking()
        if self._text_at is None:
            self._text_at = (len(self.flow.blocks), len(self.source))
        self.source.append(delta)
        self._pending.append(delta)
        self._arrived()

    def reasoning(self, delta: str, replaces_text: bool = False) -> None:
        """Add thinking, collapsed to one row. `replaces_text`: the text of this step so far was thinking."""
        if replaces_text:
            self._text_was_thinking()
        if not delta:
            return
        if self._thinking is None:
            self._finish_text()
            self._thinking = Thinking()
            self._since = self._clock()
            self._append(self._thinking)
        self._thinking.add(delta)
        self._arrived()

    def _text_was_thinking(self) -> None:
        self._pending.clear()
        self._stream = self._tail = None
        if self._text_at is not None:
            blocks, said = self._text_at
            self.flow.truncate(blocks)
            del self.source[said:]
            self._text_at = None
            self._changed()

    def end(
        self, seconds: float | None, notice: str = "", partial: bool = False, *, last: bool = True
    ) -> None:
        """End a step, with `notice` below it. The `last` step is signed with the `seconds` of all steps."""
        if not self._is_open:
            return
        self._is_open = False
        self.close()
        self._seconds += seconds or 0.0
        if partial:
            self.note(_("truncated"), "info")
        if last:
            self.sign()
        self.notice(notice)

    def sign(self) -> None:
        """Add the label and the time of the reply so far, unless they are already at its end."""
        self.close()
        if not self._is_signed:
            self._is_signed = True
            self._append(Signature(self._name, self._seconds))

    def draw(self) -> None:
        """Add everything that arrived since the last call to the flow."""
        if self._thinking is not None:
            self._thinking.seconds = self._clock() - self._since
            self._thinking.width = 0
        if self._pending:
            text = "".join(self._pending)
            self._pending.clear()
            if self._stream is None:
                self._markdown = self._markdown or Markdown()
                self._stream = MarkdownStream(self._markdown, self._append)
            self._advance(self._stream, partial(self._stream.feed, text))

    def close(self) -> None:
        self._end_thinking()
        self._finish_text()

    def forget(self) -> None:
        """End the reply; the next text starts a new one."""
        self.sign()
        self._is_new = True

    def reset(self) -> None:
        """Drop everything: the flow was cleared."""
        self._pending.clear()
        self.cards.clear()
        self._stream = self._tail = self._thinking = self._text_at = None
        self._is_open, self._is_new, self._is_signed = False, True, True
        self.source = []

    def _end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.running = False
            self._thinking.seconds = self._clock() - self._since
            self._thinking.width = 0
            self._thinking = None
            self._changed()

    def _finish_text(self) -> None:
        self.draw()
        if self._stream is not None:
            self._advance(self._stream, self._stream.end)
            self._stream = self._tail = None

    def _advance(self, stream: MarkdownStream, step: Callable[[], None]) -> None:
        """Replace the unfinished block by what the stream makes of it."""
        blocks = self.flow.blocks
        if self._tail is not None and blocks and blocks[-1] is self._tail:
            self.flow.truncate(len(blocks) - 1)
        step()
        self._tail = stream.tail
        if self._tail is not None:
            self._append(self._tail)


@dataclass(slots=True)
class PastWriter:
    """Writes a saved conversation.

    `unknown` are ids of calls whose outcome is unknown; `notice` returns the line below the replies of a
    model, by its label; `note` the text of a remark, or "", and the kind of note. `now` is in seconds since
    the epoch: today's messages show no date.
    """

    writer: Writer
    messages: Sequence[Message]
    unknown: Collection[str]
    notice: Callable[[str], str]
    remarks: Sequence[Remark]
    note: Callable[[Remark], tuple[str, str]]
    now: float
    _model: str | None = None
    _reason: str = ""

    def write(self) -> list[Block]:
        """Write it; return the block with which each message starts."""
        writer, blocks = self.writer, self.writer.flow.blocks
        places: list[Block | int] = []
        explained = {one.place for one in self.remarks if one.kind in ("end", "error")}
        tools = (one for one in self.messages if isinstance(one, ToolMessage))
        unresolved = {one.call_id for one in tools if one.why == "unknown tool"}
        for place, part in in_order(self.messages, self.remarks):
            before = len(blocks)
            card = None
            if place == len(self.messages):
                writer.sign()
            match part:
                case Remark():
                    self._remark(part)
                    continue
                case CallRequest():
                    self._call(part, part.id in unresolved)
                    continue
                case UserMessage(text, attachments, at):
                    self._model, self._reason = None, ""
                    writer.user(text, clock_time(at, self.now), attachments)
                case AssistantMessage():
                    self._reply(part, place + 1 in explained)
                case ToolMessage():
                    card = self._result(part)
            places.append(card or before)
        writer.sign()
        last = len(blocks) - 1
        return [blocks[min(one, last)] if isinstance(one, int) else one for one in places]

    def _remark(self, remark: Remark) -> None:
        """Add a remark of mcptui; the reason for a retry is added only once per turn."""
        if remark.kind == "retry":
            if remark.text == self._reason:
                return
            self._reason = remark.text
        words, kind = self.note(remark)
        if words:
            if remark.kind in ("end", "error"):
                self.writer.sign()
            self.writer.note(words, kind)

    def _reply(self, message: AssistantMessage, is_explained: bool) -> None:
        writer = self.writer
        if message.model != self._model:
            self._model = message.model
            writer.forget()
        writer.begin(message.model or _("model"))
        if message.reasoning:
            writer.whole_thought(message.reasoning, message.thought or None)
        writer.whole_text(message.text)
        is_last = bool(message.text and not message.calls)
        notice = self.notice(message.model) if is_last else ""
        partial = message.partial and not is_explained  # otherwise a remark says why
        writer.end(message.seconds, notice, partial, last=is_last)

    def _call(self, call: CallRequest, is_unresolved: bool) -> None:
        server, joint, tool = call.name.partition("__")
        if is_unresolved or not joint:  # the tool is not one of that server
            server, tool = "", call.name
        card = self.writer.call(call.id, server, tool, call.arguments, call.recovered)
        state, text = ("unknown", UNKNOWN_OUTCOME) if call.id in self.unknown else ("unsent", NEVER_SENT)
        card.set(state, "", None, text)

    def _result(self, message: ToolMessage) -> Card | None:
        card = self.writer.cards.get(message.call_id)
        if card is None:
            return None
        why = why_of(message)
        state, note = outcome(why, message.is_error)
        if message.call_id in self.unknown or message.text == UNKNOWN_OUTCOME:
            state, note = "unknown", ""
        text, warning = shown_result(message)
        card.set(state, note or warning, message.seconds * 1000 or None, end_text(text, why, state))
        if message.attachments:
            card.give(result_of(message))
        return card
