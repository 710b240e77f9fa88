"""Asks for approvals on a terminal without a screen: one line in, one decision out."""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from tui.commands.run_output import arguments_line
from tui.core.ports import Answer, ApprovalRequest, Decision
from tui.core.text import clean, clean_line

KEYS = "y once, t this session, a always, n no, or type a reason to decline"
_WORDS = {
    "y": Answer.ONCE,
    "yes": Answer.ONCE,
    "t": Answer.SESSION,
    "a": Answer.ALWAYS,
}


def decision_of(line: str) -> Decision:
    """Return the decision that a typed line means. Any other text refuses, with that reason."""
    word = line.strip()
    if word.lower() in _WORDS:
        return Decision(_WORDS[word.lower()])
    return Decision(Answer.NO, "" if word.lower() in ("", "n", "no") else word)


def question(request: ApprovalRequest) -> str:
    """Return the whole question: what would run, with which arguments, and why it asks."""
    tool = request.tool
    head = f"? {clean_line(tool.server, 80)} › {clean_line(tool.name, 120)}   {request.why}"
    return f"{head}\n{_arguments(request.arguments)}\n  {KEYS}: "


def _arguments(arguments: Mapping[str, Any]) -> str:
    lines = (f"    {clean(arguments_line({name: value}, 2000))}" for name, value in arguments.items())
    return "\n".join(lines) or "    (no arguments)"


class TerminalApprover:
    """`core.ports.Approver` on the controlling terminal, whatever stdin and stdout are."""

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Without a terminal, refuse with a reason."""
        try:
            terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            reason = "no terminal to ask on (see --approve)"
            return Decision(Answer.NO, reason, by_person=False)
        try:
            self._out.write(question(request))
            self._out.flush()
            return decision_of(await read_line(terminal))
        finally:
            os.close(terminal)


async def read_line(terminal: int) -> str:
    """Return what is typed, "" at the end of the terminal. Cancelling leaves nothing behind."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(terminal, ready.set)
    typed = b""
    try:
        while not typed.endswith(b"\n"):
            await ready.wait()
            ready.clear()
            try:
                piece = os.read(terminal, 4096)
            except BlockingIOError:
                continue
            if not piece:
                break
            typed += piece
    finally:
        loop.remove_reader(terminal)
    return typed.decode("utf-8", "replace")
