"""Asks for approvals on a terminal without a screen: one line in, one decision out."""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from tui.commands.run_output import arguments_line
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.text import clean, clean_line

KEYS = "y once, t this run, a always, n deny, or type a reason to deny"
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
    warning = f"    ! {clean_line(request.warning, 400)}\n" if request.warning else ""
    return f"{head}\n{_arguments(request.arguments)}\n{warning}  {KEYS}: "


def trust_text(question: TrustQuestion) -> str:
    """Return the question whether to trust a server, with what each answer does."""
    server, tool = clean_line(question.server, 60), clean_line(question.tool, 80)
    return (
        f"? Trust the server {server}? It marks {tool} as read-only. mcptui cannot check that.\n"
        f"    y  tools that {server} marks as read-only run without approval. Its results are trusted\n"
        f"    n  calls to {server} need approval. After its results, so do calls to other servers\n"
        "  y yes, n no: "
    )


def _arguments(arguments: Mapping[str, Any]) -> str:
    lines = (f"    {clean(arguments_line({name: value}, 2000))}" for name, value in arguments.items())
    return "\n".join(lines) or "    (no arguments)"


class TerminalApprover:
    """`core.ports.Approver` on the controlling terminal, whatever stdin and stdout are."""

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Without a terminal, refuse with a reason."""
        line = await self._answer(question(request))
        if line is not None:
            return decision_of(line)
        trust = f" and --trust {clean_line(request.tool.server, 60)}" if request.tool.read_only else ""
        why = f"{request.why}. No terminal to ask on (see --approve{trust})"
        return Decision(Answer.NO, why, by_person=False)

    async def trust(self, question: TrustQuestion) -> bool | None:
        """Without a terminal, there is no answer."""
        line = await self._answer(trust_text(question))
        return (
            None
            if line is None
            else {"y": True, "yes": True, "n": False, "no": False}.get(line.strip().lower())
        )

    async def _answer(self, text: str) -> str | None:
        """Return the line that is typed after a question, None without a terminal."""
        try:
            terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            return None
        try:
            self._out.write(text)
            self._out.flush()
            return await read_line(terminal)
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
