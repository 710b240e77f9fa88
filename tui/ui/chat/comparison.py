"""Compares two answers to a question: the earlier one on the left, on the right the branch on screen."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui.core import units
from tui.core.conversation.conversation import Message, Remark, Usage
from tui.core.events import EndReason
from tui.core.language.translate import _, localized, message, n_
from tui.core.text import clean_line
from tui.traffic.spans.span_values import END_WORDS, CallSpan, Span, StepSpan, TurnSpan
from tui.traffic.spans.spans import past_turns
from tui.ui.chat.bridge import note_of
from tui.ui.chat.regions import Regions
from tui.ui.chat.transcript.transcript import Transcript
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.widgets import rows, times
from tui.ui.widgets.bar import GAP, PartsBar
from tui.ui.widgets.rows import Row

if TYPE_CHECKING:
    from tui.model.endpoints.profile import ModelProfile
    from tui.runtime.runtime import Runtime


REPLACED = -1
"""Instead of a number of `Conversations.opened`, while another branch replaces the right column."""


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """The left column: a conversation up to the end of the answer to the message at `question`.

    `session` is its id, "" if it is not saved. `model` is its label if the messages do not say it, `effort`
    the reasoning effort that was requested, or "".
    """

    session: str
    question: int
    messages: Sequence[Message]
    remarks: Sequence[Remark]
    unknown: frozenset[str]
    model: str
    effort: str


class FiguresLine(PartsBar):
    """The figures of one answer, in as many lines as they need, below its column."""

    DEFAULT_CSS = "FiguresLine { width: 1fr; padding: 0 1; background: $surface; }"

    def __init__(self, key: str, *, id: str) -> None:
        super().__init__((), id=id)
        self._key = key

    def show_figures(self, figures: Sequence[str], *, lit: bool) -> None:
        """Show the model and figures of an answer; `lit`: its column has the focus."""
        head: Row = ((f"{self._key} ", "text bold"), (figures[0], "accent bold" if lit else "text"))
        parts = (head, *(((one, "dim"),) for one in figures[1:]))
        if parts != self._parts:
            height = len(rows.flowed(self._parts, GAP, self.size.width))
            self._parts = parts
            self.refresh(layout=len(rows.flowed(parts, GAP, self.size.width)) != height)


class Comparison:
    """Shows two answers side by side while `is_open`. The right one is the conversation itself."""

    def __init__(self, runtime: "Runtime", regions: Regions, turns: TurnQueue) -> None:
        self._runtime = runtime
        self._regions = regions
        self._turns = turns
        self._left: EarlierAnswer | None = None
        self._figures: Sequence[str] = ()
        self._lines: tuple[FiguresLine, FiguresLine] | None = None
        self._opened = REPLACED  # `Conversations.opened` of the right column
        self._turn = 0  # `TurnQueue.started` of its turn
        self._profiles: dict[str, ModelProfile | None] = {}
        self._is_answering = self._scrolls_apart = self._is_scrolling = False

    @property
    def is_open(self) -> bool:
        return self._left is not None

    @property
    def left(self) -> EarlierAnswer | None:
        return self._left

    def why_none(self) -> str:
        return "" if self.is_open else message("no answers are compared")

    def earlier(self, question: int, end: int, effort: str) -> EarlierAnswer:
        """Return the answer of the conversation on screen to a message, before a branch replaces it.

        While answers to that message are compared, it is the one on the left, which stays.
        """
        self._turn, self._is_answering = self._turns.started + 1, True
        if self._left is not None and self._left.question == question:
            self._opened = REPLACED
            return self._left
        conversations = self._runtime.conversations
        info = conversations.info
        remarks = [one for one in conversations.remarks if one.place <= end]
        return EarlierAnswer(
            info.id if info is not None and not conversations.problem else "",
            question,
            conversations.messages[:end],
            remarks,
            conversations.now.unknown,
            self._runtime.model_label,
            effort,
        )

    async def open(self, left: EarlierAnswer) -> None:
        """Show an earlier answer beside the conversation, whose next turn is the other answer."""
        regions, runtime = self._regions, self._runtime
        self._opened = runtime.conversations.opened
        if left is not self._left:
            self.close()
            key_of = regions.key_of
            pane = Transcript(id="compared")
            self._lines = tuple(  # type: ignore[assignment]
                FiguresLine(key_of(f"compare.{name}"), id=f"figures-{name}") for name in ("left", "right")
            )
            # Only the compared turn: a message that steered it begins no other one.
            messages = left.messages[left.question :]
            remarks = [replace(one, place=one.place - left.question) for one in left.remarks]
            spans = past_turns(messages, [one for one in remarks if one.place > 0])
            self._left, self._profiles = left, {}
            self._figures = self._figures_of(last_turn(spans, past=True), left.model, left.effort)
            await regions.show_beside(pane, left.messages, self._lines or ())
            go_on = key_of("chat.continue")
            pane.show_past(
                left.messages, left.unknown, lambda _: "", left.remarks, lambda one: note_of(one, go_on)
            )
            pane.show_message(left.question)
            pane.call_later(pane.select_reply)
            # Registered at the pane, so that they end with it.
            pane.watch(pane, "scroll_y", lambda: self._scroll(pane, regions.conversation), init=False)
            pane.watch(
                regions.conversation, "scroll_y", lambda: self._scroll(regions.conversation, pane), init=False
            )
        self.show()

    def close(self) -> None:
        """Show only the conversation."""
        if self._left is not None:
            self._left = self._lines = None
            self._regions.remove_beside()

    def show(self) -> None:
        """Show changes, cheap if there are none. Closes once the conversation goes on, or is another one."""
        if self._left is None or self._lines is None:
            return
        is_another = self._opened not in (REPLACED, self._runtime.conversations.opened)
        if is_another or self._turns.started > self._turn:
            self.close()
            return
        entries, effort = self._regions.trace.spans.entries, self._runtime.conversations.effort
        right = self._figures_of(last_turn(entries), self._runtime.model_label, effort)
        if self._is_answering and self._turns.started == self._turn and not self._turns.running:
            self._is_answering = False
            self._regions.conversation.select_reply()
        columns = self._regions.compared, self._regions.conversation
        for line, shown, pane in zip(self._lines, (self._figures, right), columns, strict=True):
            line.show_figures(shown, lit=pane is self._regions.screen.focused)

    def toggle_scrolling(self) -> None:
        self._scrolls_apart = not self._scrolls_apart
        apart = self._scrolls_apart
        told = _("The answers scroll apart.") if apart else _("The answers scroll together.")
        self._regions.notify(told, timeout=3)

    def _scroll(self, source: Transcript, other: Transcript) -> None:
        """Scroll the other column to the same distance from the question."""
        streams = source.following and self._turns.running  # then it moves by itself
        if self._scrolls_apart or self._is_scrolling or streams or not self.is_open:
            return
        self._is_scrolling = True
        try:
            y = other.question_row + source.scroll_offset.y - source.question_row
            other.scroll_to(y=max(0, y), animate=False, immediate=True)
        finally:
            self._is_scrolling = False

    def _figures_of(self, entries: Sequence[Span], model: str, effort: str) -> Sequence[str]:
        turn = next((one for one in entries if isinstance(one, TurnSpan)), None)
        label = (turn.model if turn is not None else "") or model
        if label not in self._profiles:
            self._profiles[label] = self._runtime.conversations.active_model.profile_of(label)
        found = figures(entries, label, self._profiles[label])
        return [found[0], _("effort {effort}", effort=effort), *found[1:]] if effort else found


def last_turn(spans: Sequence[Span], *, past: bool = False) -> list[Span]:
    """Return the spans of the last turn, if it was read from saved messages (`past`), or if it was not."""
    turns = [span for span in spans if isinstance(span, TurnSpan)]
    number = turns[-1].number if turns and turns[-1].past is past else 0
    return [one for one in spans if (one.number if isinstance(one, TurnSpan) else one.turn) == number]


def figures(entries: Sequence[Span], model: str, profile: "ModelProfile | None") -> list[str]:
    """Return the model of an answer, and its steps, calls, tokens, cost and time, as far as they are known.

    The time is that of the model and of the tools. It does not include the time in which the user was asked.
    """
    found = [clean_line(localized(model), 40) or _("model")]
    turn = next((one for one in entries if isinstance(one, TurnSpan)), None)
    if turn is None:
        return [*found, _("waiting")]
    steps = [one for one in entries if isinstance(one, StepSpan)]
    calls = [one for one in entries if isinstance(one, CallSpan)]
    usage = sum((one.usage for one in steps if one.usage is not None), Usage())
    found.append(n_("{n} step", "{n} steps", len(steps)))
    found += [n_("{n} call", "{n} calls", len(calls))] if calls else []
    if usage.prompt or usage.completion:
        about = "~" if usage.estimated else ""
        found.append(_("{tokens} in", tokens=about + units.count(usage.prompt)))
        found.append(_("{tokens} out", tokens=about + units.count(usage.completion)))
        cost = profile.cost_of(usage) if profile is not None else None
        if profile is not None and cost is not None:
            found.append(about + units.money(cost, profile.currency))
    if turn.ms is None and not turn.past:
        return [*found, times.clock((time.monotonic_ns() - turn.started_ns) / 1e9)]
    if took := sum(one.ms or 0.0 for one in steps) + sum(one.ms or 0.0 for one in calls):
        found.append(times.duration(took))
    if turn.reason not in (None, EndReason.ANSWERED):
        found.append(_(END_WORDS[turn.reason]))
    return found
