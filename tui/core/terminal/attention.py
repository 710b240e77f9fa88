"""The title of a terminal, and the notification and bell by which it calls for attention. Pure.

All functions return control sequences, or "" for a terminal that would print them or ignore them. What writes
them must know that its output is a terminal.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tui.core.text import clean_line

BELL = "\a"
_END = "\x1b\\"
_PLAIN = ("", "dumb", "unknown", "linux", "emacs")
"""Values of `TERM` without titles. The Linux console takes some of these sequences for colors."""

_OSC_9, _OSC_777 = "9", "777"
_PROGRAMS = {
    "iTerm.app": _OSC_9,
    "WezTerm": _OSC_9,
    "WarpTerminal": _OSC_9,
    "ghostty": _OSC_777,
    "contour": _OSC_777,
}
"""Notifications that programs understand, by `TERM_PROGRAM` or `LC_TERMINAL`."""

_TERMS = (
    ("xterm-kitty", _OSC_9),
    ("xterm-ghostty", _OSC_777),
    ("foot", _OSC_777),
    ("wezterm", _OSC_9),
    ("rxvt-unicode", _OSC_777),
    ("contour", _OSC_777),
)
"""The same, by the start of `TERM`."""

_VARIABLES = (
    ("ITERM_SESSION_ID", _OSC_9),
    ("KITTY_WINDOW_ID", _OSC_9),
    ("WEZTERM_PANE", _OSC_9),
    ("GHOSTTY_RESOURCES_DIR", _OSC_777),
    ("KONSOLE_VERSION", _OSC_777),
    ("VTE_VERSION", _OSC_777),
)
"""The same, by variables that the terminal sets; in tmux, only these tell which terminal is outside."""

MOST_TITLE, MOST_TEXT = 80, 160


@dataclass(frozen=True, slots=True)
class Attention:
    """What may be written when the user is needed: the settings `[ui] bell` and `[ui] notify`."""

    bell: bool = False
    notify: bool = False

    def call(self, env: Mapping[str, str], text: str, *, is_away: bool) -> str:
        """Return what to write when an answer is complete or a question is open; `is_away`: no focus."""
        notice = notification(env, "mcptui", text) if self.notify and is_away else ""
        return notice + (BELL if self.bell else "")


def has_title(env: Mapping[str, str]) -> bool:
    """Return whether the terminal has a title."""
    return env.get("TERM", "") not in _PLAIN


def title(env: Mapping[str, str], text: str) -> str:
    """Return the sequence that sets the title; "" as text removes it."""
    return f"\x1b]2;{clean_line(text, MOST_TITLE)}{_END}" if has_title(env) else ""


def kept_title(env: Mapping[str, str]) -> str:
    """Return the sequence that has the terminal remember its title (XTWINOPS), if it can."""
    return "\x1b[22;2t" if has_title(env) else ""


def restored_title(env: Mapping[str, str]) -> str:
    """Return the sequence for the remembered title. A terminal that has none keeps the empty one."""
    return f"{title(env, '')}\x1b[23;2t" if has_title(env) else ""


def notification(env: Mapping[str, str], heading: str, text: str) -> str:
    """Return the sequence of a desktop notification, "" unless the terminal is known to understand it."""
    form = _form(env)
    heading, text = clean_line(heading, MOST_TITLE).replace(";", ","), clean_line(text, MOST_TEXT)
    if not form or not has_title(env):
        return ""
    # With the heading first: OSC 9 followed by a number means something else in some terminals.
    said = f"\x1b]9;{heading}: {text}\a" if form == _OSC_9 else f"\x1b]777;notify;{heading};{text}\a"
    if env.get("TMUX"):  # passed on with `set -g allow-passthrough on`, otherwise ignored
        return "\x1bPtmux;" + said.replace("\x1b", "\x1b\x1b") + _END
    return said


def _form(env: Mapping[str, str]) -> str:
    term = env.get("TERM", "")
    if env.get("STY") or (term.startswith("screen") and not env.get("TMUX")):
        return ""  # GNU screen prints what it does not know
    for name in ("TERM_PROGRAM", "LC_TERMINAL"):
        program = env.get(name, "").replace("iTerm2", "iTerm.app")
        if program in _PROGRAMS:
            return _PROGRAMS[program]
    found = (form for start, form in _TERMS if term.startswith(start))
    return next(found, next((form for name, form in _VARIABLES if env.get(name)), ""))
