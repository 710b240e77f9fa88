"""Questions of plain mode: lines to read, choices by number, or a text. One question at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from operator import not_
from time import monotonic
from typing import Any, TypeVar

from tui.addons.plain.inputs import Inputs
from tui.addons.plain.transcript import ERROR, QUESTION, Transcript
from tui.commands.permission.terminal_approver import shown_arguments
from tui.core.errors import UsageError
from tui.core.language.translate import _, listed, localized, message
from tui.core.permission.rules import Verdict
from tui.core.ports import BY_KEY, hand_call
from tui.core.text import clean_line, quoted_name
from tui.runtime.runtime import Runtime

MORE, ALL = "/more", "all"
T = TypeVar("T")

WITHDRAWN_SECONDS = 1.5
"""A line that is typed within this time after a question was withdrawn was meant for it."""


class Asking:
    """Asks on the transcript, and takes the next line as the answer.

    `is_asking`: an answer is awaited. `read` runs a command that only shows something, before an answer, and
    returns whether the line is one. `ended` is called after each question.
    """

    def __init__(self, transcript: Transcript, inputs: Inputs) -> None:
        self._transcript, self._inputs = transcript, inputs
        self._lock = asyncio.Lock()
        self._shown = list[str]()
        self._withdrawn = -WITHDRAWN_SECONDS
        self.is_asking = False
        self.read: Callable[[str], Awaitable[bool]] | None = None
        self.ended: Callable[[], object] = lambda: None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Keep other questions out, and ring."""
        async with self._lock:
            self._transcript.ring()
            self.is_asking = True
            try:
                yield
            except asyncio.CancelledError:
                self._withdrawn = monotonic()
                self.say(_("This question is withdrawn. It needs no answer."))
                raise
            finally:
                self.is_asking = False
                self._shown = []
                self._transcript.forget()
                self.ended()

    def show(self, lines: Iterable[str]) -> None:
        """Write the lines of a question, a page at a time."""
        self._shown = [
            line.rstrip() for text in lines for line in localized(text).split("\n") if line.strip()
        ]
        self._transcript.say_pages(((QUESTION, line) for line in self._shown), QUESTION)

    def say(self, text: str) -> None:
        self._transcript.say(QUESTION, text)

    def warn(self, text: str) -> None:
        """Say what went wrong and needs no answer."""
        self._transcript.say(ERROR, text)

    async def choose(
        self, lines: Iterable[str], choices: Sequence[tuple[str, T]], harmless: Callable[[T], bool] = not_
    ) -> T | None:
        """Show a question, and return the value of the chosen line; None at the end of input.

        Only a `harmless` value may be chosen before all was shown.
        """
        self.show(lines)
        unread = [at for at, (_text, value) in enumerate(choices) if harmless(value)]
        index = await self.choice([text for text, _value in choices], unread=unread)
        return None if index is None else choices[index][1]

    async def sends(self, lines: Iterable[str]) -> bool:
        """Ask whether to send what the lines say."""
        choices = [(_("Send it."), True), (_("Do not send it."), False)]
        return await self.choose(lines, choices) is True

    async def choice(self, choices: Sequence[str], *, unread: Sequence[int] = ()) -> int | None:
        """Return the index of the chosen line; None at the end of input.

        Those of `unread` may be chosen before all pages were read. An empty line repeats the question.
        """
        answer = _("Answer with a number, 1 to {n}.", n=len(choices))
        numbered = [*(f"{number}. {localized(text)}" for number, text in enumerate(choices, 1)), answer]
        self.say("\n".join(numbered))
        while (line := await self.line()) is not None:
            word = line.strip().rstrip(".")
            index = int(word) - 1 if word.isascii() and word.isdigit() and len(word) < 6 else -1
            if not word:
                self._transcript.forget()
                self.show(self._shown)
                self.say("\n".join(numbered))
            elif self.read is not None and await self.read(line):
                self.say(_("The question is still open: {question}", question="".join(self._shown[:1])))
                self.say(answer)
            elif self._transcript.is_terminal and monotonic() - self._withdrawn < WITHDRAWN_SECONDS:
                self._withdrawn = -WITHDRAWN_SECONDS
                self.say(_("Not taken, because the question before was withdrawn just now. Answer this one."))
            elif not 0 <= index < len(choices):
                self.say(
                    _(
                        "“{line}” is not an answer. Type a number, 1 to {n}. An empty line repeats all.",
                        line=clean_line(line, 60),
                        n=len(choices),
                    )
                )
            elif self._transcript.unread and index not in unread:
                self.say(_("Not all of it was shown yet. Type /more to read on, then answer."))
            else:
                return index
        return None

    async def may_call(
        self, runtime: Runtime, called: tuple[str, str, Mapping[str, Any]], head: str, *, is_risky: bool
    ) -> bool:
        """Ask before a call by hand that is risky or that a rule is about, and record the decision."""
        server, tool, arguments = called
        rule = runtime.turn_context.policy.rules.deciding(server, tool, arguments)
        asks = rule is not None and rule.action is not Verdict.ALLOW
        is_yes, asked = True, is_risky or asks
        if asked:
            lines = [head, *(f"{name} = {value}" for name, value in shown_arguments(arguments))]
            if asks:
                lines.append(_("This rule applies to the call: {rule}.", rule=clean_line(str(rule), 200)))
            async with self.turn():
                is_yes = await self.sends(lines)
        runtime.decisions.add(hand_call(server, tool, arguments, by=BY_KEY, allowed=is_yes, asked=asked))
        return is_yes

    async def line(self) -> str | None:
        """Return the next line that does not ask for a page; None at the end of input."""
        while (line := await self._inputs.answer()) is not None and line.strip() == MORE:
            if not self._transcript.more():
                self.say(_("Everything was shown."))
        return line


def named(runtime: Runtime, name: str, usage: str) -> str:
    """Return the name of a configured server. Raises UsageError, which names them, for any other."""
    names = [one.name for one in runtime.host.statuses()]
    if name not in names:
        what = message("no server is named {name}", name=quoted_name(name))
        what = what if name else message("the name of a server is required")
        known = listed(clean_line(one, 60) for one in names[:20]) or message("none")
        raise UsageError(what, where=usage, next_step=message("Servers: {names}.", names=known))
    return name
