"""Writes a saved conversation, fast even for thousands of messages.

Nothing is parsed or wrapped yet: a block does that when it becomes visible.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.turn.prepared_calls import shown_result
from tui.core.turn.turn_endings import said_once
from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.chat.transcript.result_parts import outcome, result_of
from tui.ui.chat.transcript.writer import Writer
from tui.ui.widgets.times import message_time

NoteOf = Callable[[Remark], tuple[str, str]]


def write_past(
    flow: Flow,
    writer: Writer,
    messages: Sequence[Message],
    unknown: Collection[str],
    notice: Callable[[str], str],
    remarks: Sequence[Remark],
    note: NoteOf,
    now: float,
) -> list[Block]:
    """Write a conversation to a flow; return the block with which each message starts.

    `unknown` are ids of calls whose outcome is unknown; `notice` returns the line below the replies of a
    model, by its label; `note` the text of a remark, or "", and the kind of note. `now` is in seconds since
    the epoch: today's messages show no date.
    """
    reader = _Reader(writer, unknown, notice, now)
    reader.unresolved = {
        one.call_id for one in messages if isinstance(one, ToolMessage) and one.why == "unknown tool"
    }
    reader.explained = {one.place for one in remarks if one.kind in ("end", "error")}
    waiting = deque(said_once(remarks))
    places: list[Block] = []
    for place, message in enumerate(messages):
        while waiting and waiting[0].place <= place and not isinstance(message, ToolMessage):
            reader.remark(*note(waiting[0]), waiting.popleft())
        if waiting and waiting[0].place == place + 1 and _warns_of(waiting[0], message):
            reader.before_calls = note(waiting.popleft())
        before = len(flow.blocks)
        reader.take(place, message)
        card = writer.cards.get(message.call_id) if isinstance(message, ToolMessage) else None
        places.append(card or flow.blocks[min(before, len(flow.blocks) - 1)])
    writer.sign()
    for remark in waiting:
        reader.remark(*note(remark), remark)
    return places


class _Reader:
    def __init__(
        self, writer: Writer, unknown: Collection[str], notice: Callable[[str], str], now: float
    ) -> None:
        self._writer = writer
        self._unknown = unknown
        self._notice = notice
        self._now = now
        self._model: str | None = None
        self._reason = ""
        self.unresolved: Collection[str] = ()
        self.explained: Collection[int] = ()
        """Places before which a remark says why the reply is incomplete."""
        self.before_calls = ("", "")
        """Text and kind of the note to insert between the text of the next reply and its tool calls."""

    def remark(self, words: str, kind: str, remark: Remark) -> None:
        """Add a remark of mcptui; the reason for a retry is added only once per turn."""
        if remark.kind == "retry":
            if remark.text == self._reason:
                return
            self._reason = remark.text
        if words:
            if remark.kind in ("end", "error"):
                self._writer.sign()
            self._writer.note(words, kind)

    def take(self, place: int, message: Message) -> None:
        match message:
            case UserMessage(text, attachments, at):
                self._model, self._reason = None, ""
                self._writer.user(text, message_time(at, self._now), attachments)
            case AssistantMessage():
                self._reply(place, message)
            case ToolMessage():
                self._result(message)

    def _reply(self, place: int, message: AssistantMessage) -> None:
        writer = self._writer
        if message.model != self._model:
            self._model = message.model
            writer.forget()
        writer.begin(message.model or "model")
        writer.took(message.seconds)
        if message.reasoning:
            writer.whole_thought(message.reasoning, message.thought or None)
        writer.whole_text(message.text)
        if message.partial and place + 1 not in self.explained:
            writer.note("truncated", "info")
        if self.before_calls[0]:
            writer.note(*self.before_calls)
            self.before_calls = ("", "")
        for call in message.calls:
            self._call(call)
        if message.text and not message.calls:
            writer.sign()
            writer.notice(self._notice(message.model))

    def _call(self, call: CallRequest) -> None:
        server, joint, tool = call.name.partition("__")
        if call.id in self.unresolved or not joint:  # the tool is not one of that server
            server, tool = "", call.name
        card = self._writer.call(call.id, server, tool, call.arguments, call.recovered)
        state, text = ("unknown", UNKNOWN_OUTCOME) if call.id in self._unknown else ("unsent", NEVER_SENT)
        card.set(state, "", None, text)

    def _result(self, message: ToolMessage) -> None:
        card = self._writer.cards.get(message.call_id)
        if card is None:
            return
        unknown = message.call_id in self._unknown or message.text == UNKNOWN_OUTCOME
        state, note = ("unknown", "") if unknown else _state(message)
        text, warning = shown_result(message)
        card.set(state, note or warning, message.seconds * 1000 or None, text)
        if message.attachments:
            card.give(result_of(message))


def _warns_of(remark: Remark, message: Message) -> bool:
    """Return whether a remark after a message is about the model's output, not about its calls."""
    return remark.kind == "warn" and isinstance(message, AssistantMessage) and bool(message.calls)


def _state(message: ToolMessage) -> tuple[str, str]:
    """Return the state of a call and its note, if necessary derived from what the model was told."""
    if not message.is_error:
        return "done", ""
    if message.why or message.seconds:
        return outcome(message.why, message.is_error)
    for start, state in (("denied", "denied"), ("cancelled", "cancelled"), ("not run", "unsent")):
        if message.text.startswith(start):
            return state, ""
    return "failed", ""
