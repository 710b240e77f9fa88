"""A whole turn in the keep dialog: the calls that are expected of a model; and finding the selected turn."""

import asyncio
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.keep.target import Target, added_to
from tui.addons.tests.screens.keep_dialog import LONGEST_NAME, KeepDialog, Kept, open_keep_dialog
from tui.addons.tests.screens.keep_list import (
    BLANK,
    SERVER,
    Layout,
    Line,
    heading,
    sentences,
    server_of,
    switch,
)
from tui.addons.tests.turns.keep import PASSING, RUNS, MadeTurn, TurnKeeping, made_turn
from tui.core.conversation.conversation import AssistantMessage, UserMessage
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import clean_line
from tui.runtime.copies.origin import Origin
from tui.traffic.spans.span_values import CallSpan, TurnSpan
from tui.ui.keys.action_table import Context
from tui.ui.widgets.rows import Row, spread
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.ui.chat.parts import ChatParts


@dataclass(slots=True)
class KeptTurn(Kept[TurnKeeping]):
    """The turn that the dialog keeps."""

    @property
    def name(self) -> str:
        return self.keeping.name

    @property
    def placeholder(self) -> str:
        return clean_line(self.keeping.turn.question, LONGEST_NAME)

    def title(self) -> tuple[Row, Row]:
        left: Row = ((_("KEEP THE TURN AS A TEST") + "  ", "dim bold"), (self.placeholder, "text bold"))
        number = n_("{n} call", "{n} calls", len(self.keeping.turn.calls))
        return left, ((f"{symbols_for().done} {number}", "dim"),)

    def lines(self, layout: Layout) -> list[Line]:
        return turn_lines(self.keeping, self.target, layout.width)

    def note(self) -> tuple[str, bool]:
        if problem := self.keeping.problem(self.target):
            return localized(problem), True
        return _("new file") if self.target.is_new else added_to(self.target), False

    def switch(self, key: Hashable, dialog: KeepDialog) -> None:
        if key == SERVER:
            self.keeping = self.keeping.for_next_server()
            dialog.propose_file()
        elif isinstance(key, tuple):
            self.keeping = self.keeping.switched(*key)

    async def keep(self) -> str:
        return await asyncio.to_thread(self.keeping.keep, self.target)


def turn_lines(keeping: TurnKeeping, target: Target, width: int) -> list[Line]:
    """Return the lines for a turn: the server, each call and argument that may be expected, and the runs."""
    server, more = server_of(target), _("space: another server") if len(keeping.servers) > 1 else ""
    lines = [
        heading(_("SERVER")),
        Line(lambda cells: spread(((server, "text"),), ((more, "dim"),), cells), SERVER if more else None),
        BLANK,
        heading(_("EXPECTED CALLS")),
        *sentences(_("In this order, others may come between."), width),
    ]
    for at, call in enumerate(keeping.calls):
        lines.append(switch(clean_line(str(call), 400), "", (at,), is_on=call.is_on))
        for place, one in enumerate(call.arguments if call.is_on else ()):
            why, text = "" if one.is_said else _("not in the question"), clean_line(str(one.pattern), 400)
            lines.append(switch(text, why, (at, place), is_on=one.is_on, indent=2))
    runs = _(
        "{n} runs, of which {share} % must pass. The answer is not compared.",
        n=RUNS,
        share=round(PASSING * 100),
    )
    return [*lines, BLANK, *sentences(runs, width)]


STILL_RUNS = N_("The turn is still running.")


def selected_turn(parts: "ChatParts") -> int | None:
    """Return the index of the question of the selected turn; None if a call is selected, or nothing."""
    if parts.regions.focus_context is Context.TRACE:
        span = parts.navigator.selected
        return _question_of(parts, span) if isinstance(span, TurnSpan) else None
    return None if parts.regions.conversation.marked_call else parts.navigator.question()


def _question_of(parts: "ChatParts", turn: TurnSpan) -> int | None:
    if turn.place >= 0:
        return turn.place
    numbers = parts.runtime.conversations.now.turn_numbers
    return next((place for place, number in numbers.items() if number == turn.traffic), None)


def place_of_call(parts: "ChatParts", span: CallSpan) -> int | None:
    """Return the index of the message with a call, or None."""
    messages = parts.runtime.conversations.messages
    found = (
        at
        for at in range(len(messages) - 1, -1, -1)
        if isinstance(message := messages[at], AssistantMessage)
        and any(call.id == span.id for call in message.calls)
    )
    return next(found, None)


def keep_turn_at(parts: "ChatParts", at: int, server: str = "") -> None:
    """Open the dialog that keeps the turn of a message, for the suite of a server that was called."""
    app = parts.regions.screen.app
    messages = parts.runtime.conversations.messages
    is_last = not any(isinstance(one, UserMessage) for one in messages[at + 1 :])
    if parts.turns.running and is_last:
        app.notify(_(STILL_RUNS), timeout=4)
    else:
        app.run_worker(_opened(parts, at, server), name="keep a turn", exit_on_error=True)


async def _opened(parts: "ChatParts", at: int, server: str) -> None:
    app, runtime = parts.regions.screen.app, parts.runtime

    statuses, current = runtime.host.statuses(), os.getcwd()
    tools = [tool for status in statuses for tool in runtime.workbench.tools(status.name)]
    turn = made_turn(list(runtime.conversations.messages), at, tools)
    if turn is None:
        app.notify(_("Select a question or an answer first."), timeout=4)
        return
    is_configured = not runtime.is_unconfigured
    origins = {one.name: Origin.of_spec(one.spec, current, configured=is_configured) for one in statuses}
    try:
        keeping, target = await asyncio.to_thread(_proposed, runtime, turn, origins, server)
    except (McptuiError, OSError) as error:
        app.notify(localized(error), severity="warning", timeout=8)
        return
    open_keep_dialog(app, KeptTurn(keeping, target))


def _proposed(
    runtime: "Runtime", turn: MadeTurn, origins: Mapping[str, Origin], server: str
) -> "tuple[TurnKeeping, Target]":
    keeping = TurnKeeping.of(turn, origins, Path.cwd(), runtime.redactor.redact, server)
    target = keeping.target()
    return keeping.named(keeping.free_name(target)), target
