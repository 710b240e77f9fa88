"""Transcript: the whole conversation in one widget.

Its methods are called for each event; no messages are posted per token. Text is buffered and drawn at most
`FRAMES` times a second, less often when drawing is expensive, without a layout pass.
"""

from asyncio import TimerHandle, get_running_loop
from collections import deque
from collections.abc import Callable, Collection, Sequence
from time import monotonic, thread_time, time
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message as Posted
from textual.strip import Strip

from tui.core.conversation.conversation import Message, Remark
from tui.core.library_imports import importing
from tui.core.ports import ApprovalRequest
from tui.core.text import clean_line
from tui.core.tools import BinaryContent, LinkContent, ToolResult
from tui.runtime.example_questions import Example
from tui.ui.chat.transcript.blocks import (
    Fold,
    Label,
    Note,
    Question,
    Signature,
    Summary,
    Thinking,
    Welcome,
)
from tui.ui.chat.transcript.flow import Block, FlowPane
from tui.ui.chat.transcript.tool_call_cards import Card
from tui.ui.chat.transcript.writer import PastWriter, Writer
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.platform.textual_internals import paint_now
from tui.ui.widgets import code
from tui.ui.widgets.markdown import Markdown

MOST_GIVEN = 32 * 1024 * 1024
"""Maximum base64 characters of results to store for viewing; what the model was sent is always stored."""

FRAMES = 20
SHARE = 12
"""Drawing and painting may use one part in this many of the time."""

SOON_SECONDS = 0.002
"""How long text waits for more if nothing was drawn for a while."""

SLOWEST_SECONDS, MOST_SHARE = 0.25, 3
"""If this makes the updates too rare to read along, they may use more."""

Choice = str | tuple[str, LinkContent] | None
"""An example question, a link in a result with its server, or the selected message."""


class Transcript(FlowPane):
    """The conversation, updated live. All texts may be uncleaned: they are cleaned in this class."""

    DEFAULT_CSS = "Transcript { padding: 0 1; }"

    class Chosen(Posted):
        """The user chose something in the conversation."""

        def __init__(self, what: Choice) -> None:
            super().__init__()
            self.what = what

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.CONVERSATION, Context.QUESTION)

    LETTERS_MOVE_FOCUS = True
    """After a letter that starts a message, the next key is for the composer."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = monotonic,
        keys_of: Callable[[str], str] | None = None,
        id: str | None = None,
    ) -> None:
        """`keys_of` returns the keys of an answer to a question; by default the default keys."""
        super().__init__(id=id)
        self._keys_of = keys_of or KeyOverrides().answers_of
        self._writer = writer = Writer(self.flow, self._append, self.flow_changed, self._plan_draw, clock)
        self.add_user, self.add_call = writer.user, writer.call
        self.add_text, self.add_reasoning = writer.text, writer.reasoning
        self.begin_reply, self.end_reply, self.sign_reply = writer.begin, writer.end, writer.sign
        self._welcome: Welcome | None = None
        self._soon: TimerHandle | None = None
        self._cost = self._drawn = 0.0
        self.cards = writer.cards
        self._places: list[Block] = []
        self._summary: Summary | None = None
        self._waiting: Note | None = None
        self._asked: Card | None = None
        self._given: deque[tuple[Card, int]] = deque()

    def show_waiting(self, text: str) -> None:
        """Show at the end what the turn is waiting for, replacing the previous text; "" removes it."""
        if self._waiting is not None:
            self.drop_note(self._waiting)
        self._waiting = Note(text, "wait") if text else None
        if self._waiting is not None:
            self._append(self._waiting)

    def add_note(self, text: str, kind: str = "info") -> Block:
        """Add a line by mcptui; `kind` is info, warn or bad.

        Before the first message it is added to the welcome.
        """
        if self._welcome is None or self._welcome not in self.flow.blocks:
            return self._writer.note(text, kind)
        note = Note(text, kind)
        self._welcome.notes.append(note)
        self._touch(self._welcome)
        return note

    def drop_note(self, note: Block) -> None:
        """Remove a line by mcptui, if it still exists."""
        if note in self.flow.blocks:
            self.flow.replace(self.flow.index_of(note), ())
            self._target = None
            self.flow_changed()

    def set_call(
        self,
        call_id: str,
        state: str,
        note: str = "",
        ms: float | None = None,
        preview: str | None = None,
        share: float | None = None,
    ) -> None:
        """Change the state of a call; an unknown id is ignored. `preview` may be of any size.

        `share` is the progress of a running call, from 0 to 1, or None if unknown.
        """
        if (card := self.cards.get(call_id)) is not None:
            card.set(state, note, ms, preview, share)
            self._touch(card)

    def show_rule(self, call_id: str, rule: str) -> None:
        """Show the rule that decided whether a call runs; an unknown id is ignored."""
        if (card := self.cards.get(call_id)) is not None:
            card.rule = clean_line(rule, 300)
            self._touch(card)

    def ask(self, request: ApprovalRequest) -> None:
        """Show the approval of a call with all its arguments, and scroll to it."""
        card = self.cards.get(request.call_id)
        if card is None:
            tool = request.tool
            self.add_call(request.call_id, tool.server, tool.name, request.arguments)
            card = self.cards[request.call_id]
        card.ask(request, self._keys_of)
        card.has_keys = self.has_focus
        self._asked = card
        self._aim(None)  # select the newest block, whatever was selected when the focus came
        self._touch(card)
        self.call_later(self.show_block, card)

    def show_unseen(self, request: ApprovalRequest) -> str:
        """Return which part of an approval has not been on screen, as text, or ""; expand the approval."""
        card = self.cards.get(request.call_id)
        if card is None or not (unseen := card.unseen):
            return ""
        if not card.open:
            card.open = True
            self.following = False
            self._touch(card)
            self.call_later(self._go_to, card)
            return unseen
        is_above = self._row_of(card, card.first_unseen) < self.scroll_offset.y
        return f"{unseen} ({'pgup' if is_above else 'pgdn'})"

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint a part of the pane, and record which rows of an approval were on screen."""
        strips = super().render_lines(crop)
        card, flow = self._asked, self.flow
        if card is not None and card.state == "asking" and card.unseen and card in flow.blocks:
            index = flow.index_of(card)
            if not flow.stale(index):
                top = self.scroll_offset.y - flow.top(index) - card.gap
                card.saw(top + crop.y, top + crop.bottom)
        return strips

    def set_welcome(
        self, lines: Sequence[str], examples: Sequence[Example] = (), keys: Sequence[tuple[str, str]] = ()
    ) -> None:
        blocks = self.flow.blocks
        before = self._welcome.notes if self._welcome is not None and self._welcome in blocks else []
        notes = [*before, *(block for block in blocks if isinstance(block, Note))]
        is_empty = all(isinstance(block, Note | Welcome) for block in blocks)
        cleaned = [clean_line(line, 400) for line in lines]
        offered = [Example(clean_line(one.question), clean_line(one.tool)) for one in examples]
        self._welcome = Welcome(cleaned, offered, keys)
        if is_empty:
            self._welcome.notes = notes
            self.flow.truncate(0)
            self._target = None
            self.flow.append(self._welcome)
            self._size_welcome()
            self.flow_changed()

    def reply_text(self) -> str:
        """Return the last reply as the model wrote it, or ""."""
        return "".join(self._writer.source)

    @staticmethod
    def warm() -> None:
        """Import the modules for drawing a reply; called in a thread, after the first frame."""
        with importing():
            Markdown()
            code.warm()

    def show_past(
        self,
        messages: Sequence[Message],
        unknown: Collection[str],
        notice: Callable[[str], str],
        remarks: Sequence[Remark],
        note: Callable[[Remark], tuple[str, str]],
    ) -> None:
        """Show a saved conversation at its end, or the welcome; arguments as for `PastWriter`."""
        self._writer.reset()
        self._target = None
        self._given.clear()
        self._summary = self._waiting = self._asked = None
        self.flow.truncate(0)
        self._places = []
        if messages or remarks:
            self._places = PastWriter(self._writer, messages, unknown, notice, remarks, note, time()).write()
        elif self._welcome is not None:
            self._welcome.notes.clear()
            self.flow.append(self._welcome)
            self._size_welcome()
        self.following = True
        self.flow_changed()

    def show_message(self, index: int) -> None:
        """Scroll to a message of the conversation that `show_past` has shown."""
        if 0 <= index < len(self._places):
            block = self._places[index]
            self.following = False
            self.call_later(self._go_to, block)

    def _go_to(self, block: Block) -> None:
        if block not in self.flow.blocks:
            return
        self.show_block(block)
        self._place(self.flow.top(self.flow.index_of(block)))  # the user reads the text below, too
        if block.targets:
            self._aim((block, block.targets[0]))

    def show_summary(self, words: str, text: str) -> None:
        """Show, at the end, the summary that replaces older messages for the model; "" removes it."""
        if self._summary is not None:
            self.drop_note(self._summary)
        self._summary = None
        if words:
            self._writer.close()
            self._summary = Summary(words, text)
            self.flow.append(self._summary)
        self.flow_changed()

    @property
    def marked_label(self) -> Label | None:
        """The question or signature of the selected message, or of the last one."""
        blocks = self.flow.blocks
        if self._target is not None and self.has_focus and self._target[0] in blocks:
            at = self.flow.index_of(self._target[0])
            if not isinstance(blocks[at], Label | Fold):
                later = next((one for one in blocks[at:] if isinstance(one, Label)), None)
                if isinstance(later, Signature):
                    return later
            blocks = blocks[: at + 1]
        return next((one for one in reversed(blocks) if isinstance(one, Label)), None)

    def select_reply(self) -> None:
        """Select the newest block, if the selection is still at the question before it."""
        if self._target is not None and isinstance(self._target[0], Question):
            self._aim(None)
            self.flow_changed()

    @property
    def question_row(self) -> int:
        """The first row of the last question; 0 without one."""
        flow = self.flow
        places = range(len(flow.blocks) - 1, -1, -1)
        return next((flow.top(at) for at in places if isinstance(flow.blocks[at], Question)), 0)

    @property
    def marked_question(self) -> tuple[str, int] | None:
        """The user message of the selected message, if any, and how often it has been repeated since."""
        label = self.marked_label
        before = self.flow.blocks[: self.flow.index_of(label) + 1] if label is not None else []
        asked = next((one for one in reversed(before) if isinstance(one, Question)), None)
        if asked is None:
            return None
        behind = self.flow.blocks[len(before) :]
        return asked.said, sum(isinstance(one, Question) and one.said == asked.said for one in behind)

    @property
    def marked_call(self) -> str:
        """The id of the call whose card is selected, or ""."""
        target = self._target[0] if self._target is not None else None
        return next((call_id for call_id, card in self.cards.items() if card is target), "")

    @property
    def selected_call(self) -> str:
        """The id of the call whose card is selected, or of the last call."""
        return self.marked_call or next(reversed(self.cards), "")

    def give_result(self, call_id: str, result: ToolResult) -> None:
        """Store the result of a call for showing its non-text parts; large ones are only kept while new."""
        card = self.cards.get(call_id)
        if card is None:
            return
        card.give(result)
        self._given.append(
            (card, sum(len(one.data) for one in result.content if isinstance(one, BinaryContent)))
        )
        while len(self._given) > 1 and sum(size for _, size in self._given) > MOST_GIVEN:
            self._given.popleft()[0].gave = None
        self._touch(card)

    def _touch(self, block: Block) -> None:
        block.width = 0
        self.flow_changed()

    def _append(self, block: Block) -> None:
        flow = self.flow
        if self._welcome is not None and flow.blocks and flow.blocks[0] is self._welcome:
            flow.truncate(0)
            flow.extend(self._welcome.notes)
        flow.append(block)
        self.flow_changed()

    def _plan_draw(self) -> None:
        if self._soon is None and self.is_mounted:
            seldom = max(SLOWEST_SECONDS, self._cost * MOST_SHARE)
            period = max(1 / FRAMES, min(self._cost * SHARE, seldom))
            wait = max(SOON_SECONDS, self._drawn + period - monotonic())
            # A timer of Textual is a task and inspects its callback each time, which costs a sixth of the
            # drawing.
            draw = events.Callback(callback=self._draw)
            self._soon = get_running_loop().call_later(wait, self.post_message, draw)

    def _draw(self) -> None:
        self._soon = None
        self._drawn, started = monotonic(), thread_time()
        self._planned = True  # the changes of the writer are settled below
        self._writer.draw()
        self.settle()
        if self.screen.is_current:
            # Included in the measured time, since it takes most of it.
            paint_now(self.screen, (self, self.vertical_scrollbar))
        self._cost = thread_time() - started

    def target_chosen(self, block: Block, row: int) -> None:
        match block:
            case Card() if (link := block.link_at(row)) is not None:
                self.post_message(self.Chosen((block.server, link)))
            case Card() | Thinking() | Summary():
                block.open = not block.open
                self.following = False
                self._touch(block)
                self.call_later(self.show_block, block)
            case Question() | Signature():
                self.post_message(self.Chosen(None))
            case Fold():
                self.flow.replace(self.flow.index_of(block), block.unfolded())
                self.following = False
                self.flow_changed()
            case Welcome():
                self.post_message(self.Chosen(block.examples[list(block.targets).index(row)].question))

    def row_clicked(self, index: int, x: int) -> None:
        position = self.flow.find(index) if self.flow.blocks else 0
        block = self.flow.blocks[position] if self.flow.blocks else None
        if isinstance(block, Card) and (
            found := block.action_at(index - self.flow.top(position) - block.gap, x)
        ):
            self.app.call_later(self.app.run_action, action(found).method)
        else:
            super().row_clicked(index, x)

    def on_focus(self) -> None:
        self.call_later(self._show_keys)  # the pane only has the focus after this handler

    def on_blur(self) -> None:
        self.call_later(self._show_keys)

    def _show_keys(self) -> None:
        """Show the keys of a question only while they work."""
        card = self._asked
        if card is not None and card.state == "asking" and card.has_keys is not self.has_focus:
            card.has_keys = self.has_focus
            self._touch(card)

    def _size_welcome(self) -> None:
        if self._welcome is not None:
            self._welcome.room = self.scrollable_content_region.height
            self._welcome.width = 0

    def on_resize(self, event: events.Resize) -> None:
        self._size_welcome()
        super().on_resize(event)
