"""Asks for approval on a terminal without a screen. Each typed line is one decision.

Input that was typed before the question appeared is discarded.
"""

import asyncio
import getpass
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from shlex import quote
from typing import Any

from tui.core.errors import UsageError
from tui.core.hidden_text.readable import readable
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.text import clean_line, quoted_name

KEYS_ONCE = "y once, n deny, or type a reason to deny"
KEYS = "y once, t this run, a always, n deny, or type a reason to deny"
YES_OR_NO = "y yes, n no, or just enter to decide later: "
"""End of a consent question."""

MAX_SHOWN = 64 * 1024
"""Maximum characters of arguments to show. A call with more can only be denied."""

TOO_LONG = "The arguments are too long to be shown in full: n deny, or type a reason to deny"
_LONG = 20
"""From this many lines on, the argument names are repeated at the end."""

_COLUMNS = 80
_WORDS = {"y": Answer.ONCE, "yes": Answer.ONCE, "t": Answer.SESSION, "a": Answer.ALWAYS}


def is_terminal() -> bool:
    """Return whether there is a terminal to ask on."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirm(question: str, *, yes: bool, otherwise: str = "nothing written") -> bool:
    """Return whether the user confirms; raises UsageError if there is no terminal to ask on.

    `otherwise` says what that means.
    """
    if yes:
        return True
    if not is_terminal():
        raise UsageError(f"{otherwise}: no terminal to ask on.", next_step="Add --yes.")
    return yes_or_no(typed_answer(f"{question} [y/N] ") or "") is True


def decision_of(line: str, *, once_only: bool = False) -> Decision:
    """Return the decision for a typed line. Any other text denies, and is the reason.

    With `once_only`, only an answer for this one call allows it.
    """
    word = line.strip()
    if word.lower() in _WORDS:
        answer = _WORDS[word.lower()]
        return Decision(Answer.NO if once_only and answer is not Answer.ONCE else answer)
    return Decision(Answer.NO, "" if word.lower() in ("", "n", "no") else word)


def question(request: ApprovalRequest) -> str:
    """Return the question: what would run, with which arguments, and why approval is needed."""
    tool = request.tool
    head = f"? {clean_line(tool.server, 80)} › {clean_line(tool.name, 120)}   {request.why}"
    warning = f"    ! {clean_line(request.warning, 400)}\n" if request.warning else ""
    texts = shown_arguments(request.arguments)
    lines = [f"    {name}={value}" for name, value in texts]
    shown = "\n".join(lines)[:MAX_SHOWN] or "    (no arguments)"
    if sum(1 + len(line) // _COLUMNS for line in lines) > _LONG:
        shown += f"\n    {len(texts)} arguments above: {', '.join(name for name, _ in texts)}"
    keys = KEYS_ONCE if request.once_only else KEYS
    return f"{head}\n{shown}\n{warning}  {keys if can_show(request) else TOO_LONG}: "


def can_show(request: ApprovalRequest) -> bool:
    """Return whether the question shows all arguments of the call."""
    return sum(len(name) + len(value) for name, value in shown_arguments(request.arguments)) <= MAX_SHOWN


def trust_text(question: TrustQuestion) -> str:
    """Return the question whether to trust a server, with the effect of each answer."""
    server, tool = quoted_name(question.server, 60), quoted_name(question.tool, 80)
    return (
        f"? Trust the server {server}? It marks its tool {tool} as read-only. mcptui cannot check that.\n"
        "    y  tools that it marks as read-only run without approval. Calls to other servers after its\n"
        "       results need no extra approval\n"
        "    n  each of its calls needs approval. So do calls to other servers after its results\n"
        "  y yes, n no: "
    )


def shown_arguments(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of arguments, one line each, with hidden characters made visible."""

    def text(value: Any) -> str:
        try:
            return json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):
            return repr(value)

    def line(value: str) -> str:
        return " ".join(readable(value).splitlines())

    return [(line(str(name)), line(text(value))) for name, value in arguments.items()]


class TerminalApprover:
    """`core.ports.Approver` on the controlling terminal, even if stdin and stdout are redirected."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Ask for a decision. Without a terminal, deny with a reason."""
        line = await asked_line(question(request))
        if line is not None:
            decision = decision_of(line, once_only=request.once_only)
            if decision.answer is Answer.NO or can_show(request):
                return decision
            return Decision(Answer.NO, "the arguments are too long to be shown in full")
        allow = "all"
        if request.tool.read_only:
            allow = f"reads --trust {quote(clean_line(request.tool.server, 60))}"
        why = f"needs approval, and there is no terminal to ask on ({request.why})"
        why += ". No option allows it" if request.by_skill else f". To allow it, use --approve {allow}"
        return Decision(Answer.NO, why, by_user=False)

    async def trust(self, question: TrustQuestion) -> bool | None:
        """Ask whether to trust a server. Without a terminal, there is no answer."""
        line = await asked_line(trust_text(question))
        return None if line is None else yes_or_no(line)


async def asked_line(text: str) -> str | None:
    """Show a question on stderr; return the line typed after it, None without a controlling terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        question, newline, prompt = text.rpartition("\n")
        print(question, end=newline, file=sys.stderr, flush=True)
        _drop_typed(terminal)
        print(prompt, end="", file=sys.stderr, flush=True)
        return await _read_line(terminal)
    finally:
        os.close(terminal)


def _drop_typed(terminal: int) -> None:
    try:
        import termios
    except ImportError:  # Windows
        import msvcrt  # type: ignore[import-not-found,unused-ignore]

        while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
            msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
        return
    with suppress(OSError, termios.error):
        termios.tcflush(terminal, termios.TCIFLUSH)


def yes_or_no(line: str) -> bool | None:
    """Return the answer in a typed line; None unless it is yes or no."""
    return {"y": True, "yes": True, "n": False, "no": False}.get(line.strip().lower())


def typed_answer(text: str, *, hidden: bool = False) -> str | None:
    """Ask on stdout; return what the user typed on stdin after the question appeared, `hidden` if secret.

    None if the input ended before that (Ctrl-D), or cannot be read.
    """
    question, newline, prompt = text.rpartition("\n")
    print(question, end=newline, flush=True)
    with suppress(OSError):
        _drop_typed(sys.stdin.fileno())
    try:
        if hidden:
            return getpass.getpass(prompt)
        print(prompt, end="", flush=True)
        return input("").strip()
    except (EOFError, OSError, KeyboardInterrupt) as error:
        print(file=sys.stderr)  # after the prompt
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


async def _read_line(terminal: int) -> str:
    """Return the typed line, "" at the end of input. Cancelling removes the reader."""
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
