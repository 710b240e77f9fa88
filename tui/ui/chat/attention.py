"""What the terminal shows about the chat outside its screen: a title, and calls for the user."""

import os
from typing import Any

from textual.app import App

from tui.core.language.translate import _
from tui.core.ports import ApprovalRequest
from tui.core.terminal.attention import Attention
from tui.core.text import clean_line
from tui.runtime.runtime import Runtime
from tui.ui.chat.question_queue import QuestionQueue
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.platform.textual_internals import terminal_of


class ChatAttention:
    """Shows in the title what runs or waits, and calls the user when an answer or a question waits."""

    def __init__(self, runtime: Runtime, app: App[Any], turns: TurnQueue, questions: QuestionQueue) -> None:
        self._runtime = runtime
        self._app = app
        self._turns = turns
        self._questions = questions
        self._asked: object = None
        self._runs = self._was_stopped = False

    def look(self) -> None:
        """Show and tell changes, cheap if there are none."""
        terminal = terminal_of(self._app)
        if terminal is None or not self._runtime.is_ready:
            return
        info = self._runtime.conversations.info
        name = (clean_line(info.title) if info is not None else "") or "mcptui"
        asked, runs = self._questions.first, self._turns.running
        if isinstance(asked, ApprovalRequest):
            said = _("Waiting for approval: {title}", title=name)
        elif asked is not None:
            said = _("Waiting for an answer: {title}", title=name)
        else:
            said = _("Working: {title}", title=name) if runs else name
        terminal.show_title(said)
        is_new = asked is not None and asked is not self._asked
        if self._runs and not runs and not self._was_stopped:
            is_new, said = True, _("Turn ended: {title}", title=name)
        self._asked, self._runs, self._was_stopped = asked, runs, self._turns.stopping
        if is_new:
            terminal.call(self._attention.call(os.environ, said, is_away=not self._app.app_focus))

    @property
    def _attention(self) -> Attention:
        loaded = self._runtime.configuration.loaded
        return Attention(bool(loaded.settings.ui.bell), loaded.settings.ui.notify) if loaded else Attention()
