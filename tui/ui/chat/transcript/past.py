"""Converts saved messages to blocks, fast even for thousands of them.

Nothing is parsed or wrapped yet: a block does that when it becomes visible.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.core.text import clean, clean_line
from tui.core.turn.prepared_calls import shown_result
from tui.core.turn.turn_endings import said_once
from tui.ui.chat.transcript.blocks import (
    NOTE_CHARS,
    PIECE,
    Note,
    Plain,
    Prose,
    Signature,
    Thinking,
    user_blocks,
)
from tui.ui.chat.transcript.flow import Block
from tui.ui.chat.transcript.result_parts import attachment_words, outcome, result_of
from tui.ui.chat.transcript.tool_call_cards import Card
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols
from tui.ui.widgets.times import message_time

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class PastProse(Prose):
    """Markdown of a complete reply, cleaned only when it becomes visible."""

    __slots__ = ()

    def wrap(self, width: int) -> Sequence[Row]:
        self.text = clean(self.text)
        return super().wrap(width)


@dataclass(frozen=True, slots=True)
class Past:
    """A conversation as blocks: all blocks, each call's card by its id, and the start of each message."""

    blocks: list[Block]
    cards: dict[str, Card]
    places: list[Block]


def past_blocks(
    messages: Sequence[Message],
    unknown: Collection[str],
    symbols: Symbols,
    notice: Callable[[str], str],
    remarks: Sequence[Remark] = (),
    note: Callable[[Remark], tuple[str, str]] = lambda remark: ("", ""),
    now: float = 0.0,
) -> Past:
    """Return the blocks of a conversation.

    `unknown` are ids of calls whose outcome is unknown; `notice` returns the line below the replies of a
    model, by its label; `note` the text of a remark, or "", and the kind of note. `now` is in seconds since
    the epoch: today's messages show no date.
    """
    reader = _Reader(unknown, symbols, notice, now)
    reader.unresolved = {
        one.call_id for one in messages if isinstance(one, ToolMessage) and one.why == "unknown tool"
    }
    waiting = deque(said_once(remarks))
    for place, message in enumerate(messages):
        while waiting and waiting[0].place <= place and not isinstance(message, ToolMessage):
            reader.remark(waiting.popleft(), note)
        if waiting and waiting[0].place == place + 1 and _warns_of(waiting[0], message):
            reader.before_calls = note(waiting.popleft())
        reader.take(message)
    reader.end_reply()
    for remark in waiting:
        reader.remark(remark, note)
    return Past(reader.blocks, reader.cards, reader.places)


class _Reader:
    def __init__(
        self, unknown: Collection[str], symbols: Symbols, notice: Callable[[str], str], now: float
    ) -> None:
        self.blocks: list[Block] = []
        self.cards: dict[str, Card] = {}
        self.places: list[Block] = []
        self.unresolved: Collection[str] = ()
        self._unknown = unknown
        self._symbols = symbols
        self._notice = notice
        self._markdown = Markdown()
        self._model: str | None = None
        self._now = now
        self._text = False
        self._seconds = 0.0
        self._unsigned = False
        self._reason = ""
        self._cut: Note | None = None
        self.before_calls = ("", "")
        """Text and kind of the note to insert between the text of the next reply and its tool calls."""

    def remark(self, remark: Remark, note: Callable[[Remark], tuple[str, str]]) -> None:
        """Add a remark of mcptui; the reason for a retry is added only once per turn."""
        if remark.kind == "retry":
            if remark.text == self._reason:
                return
            self._reason = remark.text
        words, kind = note(remark)
        if words:
            if remark.kind in ("end", "error"):
                self._drop_cut()
                self.end_reply()
            self.blocks.append(note_block(words, kind, self._symbols))

    def _drop_cut(self) -> None:
        """Remove the line below an interrupted reply, because the next line gives the reason."""
        if self._cut is not None and self._cut in self.blocks and self._cut not in self.places:
            self.blocks.remove(self._cut)
        self._cut = None

    def take(self, message: Message) -> None:
        before = len(self.blocks)
        self._take(message)
        card = self.cards.get(message.call_id) if isinstance(message, ToolMessage) else None
        self.places.append(card or self.blocks[min(before, len(self.blocks) - 1)])

    def _take(self, message: Message) -> None:
        match message:
            case UserMessage(text, attachments, at):
                self.end_reply()
                self._model, self._reason = None, ""
                words = [attachment_words(one) for one in attachments]
                self.blocks += user_blocks(text, words, self._symbols, message_time(at, self._now))
            case AssistantMessage():
                self._reply(message)
            case ToolMessage():
                self._result(message)

    def _reply(self, message: AssistantMessage) -> None:
        if message.model != self._model:
            self.end_reply()
            self._model, self._seconds = message.model, 0.0
        self._seconds += message.seconds
        self._unsigned = True
        if message.reasoning:
            thinking = Thinking(self._symbols)
            thinking.add(message.reasoning)
            thinking.running, thinking.seconds = False, message.thought or None
            self.blocks.append(thinking)
        for number, part in enumerate(parts(message.text)):
            block = PastProse(self._markdown, part, gap=0 if number and not part.startswith("\n") else 1)
            self.blocks.append(block)
        self._text = bool(message.text) and not message.calls
        if message.partial:
            self._cut = Note("truncated", "info", self._symbols)
            self.blocks.append(self._cut)
        if self.before_calls[0]:
            self.blocks.append(note_block(*self.before_calls, self._symbols))
            self.before_calls = ("", "")
        for call in message.calls:
            self._call(call)
        if self._text:
            self.end_reply()

    def end_reply(self) -> None:
        """Sign the reply so far, with the required line below it."""
        if self._unsigned and self._model is not None:
            self._unsigned = False
            self.blocks.append(Signature(clean_line(self._model, 60) or "model", self._seconds))
        if self._text and self._model is not None and (notice := self._notice(self._model)):
            self.blocks.append(Plain(clean_line(notice, 400), style="dim italic", gap=1))
        self._text = self._unsigned = False

    def _call(self, call: CallRequest) -> None:
        server, joint, tool = call.name.partition("__")
        if call.id in self.unresolved:  # the tool is not one of that server
            joint = ""
        after_card = bool(self.blocks) and isinstance(self.blocks[-1], Card)
        card = Card(
            server if joint else "",
            tool if joint else call.name,
            call.arguments,
            self._symbols,
            gap=0 if after_card else 1,
        )
        card.recovered = call.recovered
        state, text = ("unknown", UNKNOWN_OUTCOME) if call.id in self._unknown else ("unsent", NEVER_SENT)
        card.set(state, "", None, text)
        self.cards[call.id] = card
        self.blocks.append(card)

    def _result(self, message: ToolMessage) -> None:
        card = self.cards.get(message.call_id)
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


def note_block(text: str, kind: str, symbols: Symbols) -> Note:
    """Return a line by mcptui; the text need not be clean."""
    return Note(clean(text).strip("\n")[:NOTE_CHARS], kind, symbols)


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


def parts(text: str) -> Iterator[str]:
    """Yield the parts of a Markdown text, none longer than a piece, split between blocks if possible.

    A split fence is closed in one part and opened again in the next.
    """
    if len(text) <= PIECE:
        if text:
            yield text
        return
    part: list[str] = []
    size, fence = 0, ""
    for line in text.split("\n"):
        for start in range(0, len(line) or 1, PIECE // 2):
            bit = line[start : start + PIECE // 2]
            if size + len(bit) > PIECE or (size > PIECE // 2 and not bit.strip() and not fence):
                yield "\n".join([*part, _closing(fence)] if fence else part)
                part, size = ([fence] if fence else []), 0
            part.append(bit)
            size += len(bit) + 1
        fence = _fence_after(line, fence)
    if part:
        yield "\n".join(part)


def _closing(fence: str) -> str:
    found = _FENCE.match(fence)
    return found.group(1) if found else ""


def _fence_after(line: str, fence: str) -> str:
    """Return the opening line of the fence that is open after `line`, or ""."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return line[:200]
    closes = found.group(1).startswith(_closing(fence)) and not found.group(2).strip()
    return "" if closes else fence
