"""What the title of the terminal says about the chat, and when the user is called."""

from unittest.mock import Mock

import pytest

from tests.unit.ui.chat.test_question_queue import request
from tui.ui.chat.attention import ChatAttention


class Terminal:
    """Records titles and calls."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.calls: list[str] = []

    def show_title(self, text: str) -> None:
        self.titles.append(text)

    def call(self, sequence: str) -> None:
        if sequence:
            self.calls.append(sequence)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "foot")
    monkeypatch.setattr("tui.ui.chat.attention.terminal_of", lambda app: app.terminal)
    return Terminal()


def chat(terminal: Terminal, **settings: bool) -> ChatAttention:
    """Return a chat without questions and turns, in a terminal without the focus."""
    runtime, app = Mock(), Mock(terminal=terminal, app_focus=False)
    runtime.conversations.info.title = "Milk\x1b"
    runtime.configuration.loaded.settings.ui = Mock(**{"bell": False, "notify": False, **settings})
    return ChatAttention(runtime, app, Mock(running=False, stopping=False), Mock(first=None))


def test_the_title_names_the_session_and_what_waits(terminal: Terminal) -> None:
    it = chat(terminal)
    it.look()
    it._turns.running = True
    it.look()
    it._questions.first = request("add")
    it.look()
    it._questions.first = Mock()
    it.look()
    starts = ("Milk␛", "Working: Milk␛", "Waiting for approval: Milk␛", "Waiting for an answer: Milk␛")
    assert terminal.titles == list(starts)
    assert terminal.calls == []


def test_each_question_and_each_end_of_a_turn_calls_once_but_a_stopped_turn_does_not(
    terminal: Terminal,
) -> None:
    it = chat(terminal, bell=True, notify=True)
    it._turns.running, it._questions.first = True, request("add")
    it.look()
    it.look()
    it._questions.first = None
    it.look()
    assert [call[-1] for call in terminal.calls] == ["\a"] and "approval" in terminal.calls[0]
    it._turns.running = False
    it.look()
    assert len(terminal.calls) == 2 and "Turn ended" in terminal.calls[1]
    it._turns.running = it._turns.stopping = True
    it.look()
    it._turns.running = False
    it.look()
    assert len(terminal.calls) == 2
