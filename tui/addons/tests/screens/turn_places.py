"""Finds the turn that is selected in the conversation or the trace, and opens the dialog that keeps it."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.keep.home import Origin
from tui.addons.tests.screens.keep_dialog import KeepDialog
from tui.addons.tests.screens.keep_turn import KeptTurn
from tui.addons.tests.turns.keep import MadeTurn, made_turn
from tui.addons.tests.turns.turn_keeping import TurnKeeping
from tui.core.conversation.conversation import AssistantMessage, UserMessage
from tui.core.errors import McptuiError
from tui.traffic.spans.span_values import CallSpan, TurnSpan
from tui.ui.keys.action_table import Context
from tui.ui.platform.key_order import open_once

if TYPE_CHECKING:
    from tui.addons.tests.keep.target import Target
    from tui.runtime.runtime import Runtime
    from tui.ui.chat.parts import ChatParts

STILL_RUNS = "The turn is still running."


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
        app.notify(STILL_RUNS, timeout=4)
    else:
        app.run_worker(_opened(parts, at, server), name="keep a turn", exit_on_error=True)


async def _opened(parts: "ChatParts", at: int, server: str) -> None:
    app, runtime = parts.regions.screen.app, parts.runtime

    def kept(said: str | None) -> None:
        if said:
            app.notify(said, timeout=6)

    statuses, current = runtime.host.statuses(), os.getcwd()
    tools = [tool for status in statuses for tool in runtime.workbench.tools(status.name)]
    turn = made_turn(list(runtime.conversations.messages), at, tools)
    if turn is None:
        app.notify("Select a question or an answer first.", timeout=4)
        return
    is_configured = not runtime.is_unconfigured
    origins = {one.name: Origin.of_spec(one.spec, current, configured=is_configured) for one in statuses}
    try:
        keeping, target = await asyncio.to_thread(_proposed, runtime, turn, origins, server)
    except (McptuiError, OSError) as error:
        app.notify(str(error), severity="warning", timeout=8)
        return
    open_once(app, KeepDialog(KeptTurn(keeping, target)), kept)


def _proposed(
    runtime: "Runtime", turn: MadeTurn, origins: Mapping[str, Origin], server: str
) -> "tuple[TurnKeeping, Target]":
    keeping = TurnKeeping.of(turn, origins, Path.cwd(), runtime.redactor.redact, server)
    target = keeping.target()
    return keeping.named(keeping.free_name(target)), target
