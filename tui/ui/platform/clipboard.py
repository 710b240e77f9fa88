"""Copies to the clipboard with the system's own tool, tmux, or the terminal (OSC 52).

A tool reports whether it accepted the text. A terminal does not: some ignore OSC 52, some ask the user. So a
text that was sent to the terminal is never reported as copied.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from textual.app import App

from tui.core.background import in_daemon_thread
from tui.core.language.translate import _
from tui.core.programs import find_program

SECONDS = 2.0
"""Timeout of a tool, in seconds."""

_PASSED_ON = frozenset(
    "PATH HOME USER LANG TMPDIR DISPLAY XAUTHORITY WAYLAND_DISPLAY XDG_RUNTIME_DIR TMUX TMUX_TMPDIR".split()
)
"""Environment variables for a tool. Some tools stay alive to serve the text, so they get no API keys."""


def tools(
    env: Mapping[str, str], which: Callable[[str], str | None], platform: str = sys.platform
) -> Iterator[tuple[str, ...]]:
    """Yield the commands of the tools that reach the user's clipboard, the best first.

    Over ssh, `pbcopy` and `wl-copy` would reach the remote machine's clipboard; X11 may be forwarded.
    """
    is_remote = bool(env.get("SSH_CONNECTION") or env.get("SSH_TTY"))
    found: list[tuple[str, ...]] = []
    if platform == "darwin" and not is_remote:
        found.append(("pbcopy",))
    if env.get("WAYLAND_DISPLAY") and not is_remote:
        found.append(("wl-copy",))
    if env.get("DISPLAY"):
        found += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if env.get("TMUX"):
        found.append(("tmux", "load-buffer", "-w", "-"))
    yield from (command for command in found if which(command[0]))


async def put(text: str, env: Mapping[str, str]) -> str:
    """Pass a text to the first tool that accepts it, and return the name of that tool; "" if none does."""
    given = {name: value for name, value in env.items() if name in _PASSED_ON or name.startswith("LC_")}
    for name, *options in tools(env, partial(find_program, env=env)):
        command = (find_program(name, env) or name, *options)
        if await in_daemon_thread("clipboard", partial(_accepted, command, text, given)):
            return name
    return ""


def copy(app: App[Any], text: str, what: str) -> None:
    """Copy a text in an app; our own apps also show where it is."""
    ours: Callable[[str, str], None] | None = getattr(app, "copy", None)
    if ours is not None:
        ours(text, what)
    else:
        app.copy_to_clipboard(text)


def note(what: str, tool: str) -> str:
    """Return a message about where a text was copied; `what` is "the reply"."""
    if tool == "tmux":
        return _("Copied {what} to the tmux buffer.", what=what)
    if tool:
        return _("Copied {what} to the clipboard ({tool}).", what=what, tool=tool)
    return _("Sent {what} to the terminal's clipboard (OSC 52). Some terminals ignore it.", what=what)


def _accepted(command: Sequence[str], text: str, env: Mapping[str, str]) -> bool:
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,  # a tool that stays alive would keep a pipe open
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            env=env,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
