"""Title, notification and bell: what is written for which terminal."""

import pytest

from tests.cases import each_case
from tui.core.terminal.attention import Attention, notification, restored_title, title

ITERM = {"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}
FOOT = {"TERM": "foot"}


@pytest.mark.parametrize("term", ["", "dumb", "linux"])
def test_a_terminal_without_titles_gets_none(term: str) -> None:
    env = {**ITERM, "TERM": term}
    assert title(env, "x") == restored_title(env) == notification(env, "mcptui", "x") == ""


@each_case(
    ("env", "written"),
    [
        (ITERM, "\x1b]9;mcptui: Turn ended\a"),
        (FOOT, "\x1b]777;notify;mcptui;Turn ended\a"),
        ({"TERM": "xterm-kitty"}, "\x1b]9;mcptui: Turn ended\a"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "\x1b]777;notify;mcptui;Turn ended\a"),
        ({"TERM": "tmux-256color", "TMUX": "/t,1,0"}, ""),
        (
            {"TERM": "tmux-256color", "TMUX": "/t,1,0", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1"},
            "\x1bPtmux;\x1b\x1b]9;mcptui: Turn ended\a\x1b\\",
        ),
        ({**ITERM, "TERM": "screen", "STY": "1.pts"}, ""),
        ({"TERM": "xterm-256color"}, ""),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, ""),
    ],
)
def test_a_notification_is_only_sent_to_a_terminal_that_is_known_to_understand_it(
    env: dict[str, str], written: str
) -> None:
    assert notification(env, "mcptui", "Turn ended") == written


def test_no_text_ends_a_sequence_or_starts_another_one() -> None:
    evil = "a;b\x07\x1b\\\x9c\x1b]52;c;eA==\x07\n" + "long " * 100
    for written in (title(ITERM, evil), notification(ITERM, evil, evil), notification(FOOT, evil, evil)):
        assert written.count("\x1b") <= 2 and written.count("\a") <= 1
        assert not set(written) & {"\x9c", "\n"}
        assert len(written) < 300
    assert notification(FOOT, "a;b", "c;d") == "\x1b]777;notify;a,b;c;d\a"


@pytest.mark.parametrize(
    ("settings", "is_away", "written"),
    [
        (Attention(), True, ""),
        (Attention(bell=True), False, "\a"),
        (Attention(notify=True), False, ""),
        (Attention(notify=True, bell=True), True, "\x1b]9;mcptui: x\a\a"),
    ],
)
def test_the_settings_say_what_calls_the_user(settings: Attention, is_away: bool, written: str) -> None:
    assert settings.call(ITERM, "x", is_away=is_away) == written
