"""Whether an agent may act: a rule decides, otherwise the user of a running mcptui, otherwise it may not.

What mcptui does itself for an agent is a tool of the server `mcptui` in rules: `allow mcptui/run_tests`.
"""

import asyncio
import glob
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.errors import McptuiError
from tui.core.permission.rules import Rule, Rules, Verdict
from tui.core.ports import (
    BY_DEFAULT,
    BY_KEY,
    BY_LIMIT,
    DecisionKind,
    DecisionLog,
    DecisionRecord,
    digest_of,
)
from tui.core.questions import Action, AgentQuestion, QuestionAnswer
from tui.core.text import clean_line
from tui.core.units import exact

OWN = "mcptui"
"""The server of what mcptui does itself, in rules."""

SECONDS = 300.0
"""How long the user has to answer."""

MOST_ASKED = 100_000
"""Maximum characters of arguments that a user is asked to review."""

OWN_ACTS = {
    "run_tests": "run the tests of a folder, which start servers and call tools",
    "keep_as_test": "write a recorded call into a test file",
    "restart_server": "restart a server",
}

Ask = Callable[[AgentQuestion], Awaitable[QuestionAnswer]]


class NotAllowed(McptuiError):
    """An agent may not do this. The message says who decided, the next step what allows it."""


@dataclass(frozen=True, slots=True)
class Act:
    """What an agent that names itself `agent` wants to do.

    `is_own`: mcptui does it, and `server` is `OWN`, which a server may be named, too.
    `digest` is that of the definition of a tool and what runs it, so that a lasting yes ends with either; for
    an act of mcptui it is the folder.
    """

    agent: str
    server: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    is_own: bool = False

    @property
    def by(self) -> str:
        """Who asks, in recordings and decisions."""
        return f"agent {self.agent}"

    @property
    def key(self) -> str:
        """The key of a yes until mcptui quits. It never covers a call of the model."""
        return f"{self.by}: {self.server}/{self.tool}@{self.digest}"

    @property
    def question(self) -> AgentQuestion:
        act = OWN_ACTS[self.tool] if self.is_own else self.tool
        return AgentQuestion(self.agent, "" if self.is_own else self.server, act, self.arguments)

    def line(self, path: str) -> str:
        """Return the step that allows it without a question."""
        rule = Rule(Verdict.ALLOW, glob.escape(self.server), glob.escape(self.tool))
        written = json.dumps(clean_line(str(rule), 300), ensure_ascii=False)
        return (
            "To allow it, the user answers in a running mcptui, or adds a line to [approvals] in "
            f"{path}: rules = [{written}]"
        )


@dataclass(slots=True)
class Permission:
    """Decides about acts, and records each decision.

    `granted` are the keys of earlier answers. Without `ask`, nobody can be asked. `path` is that of the
    configuration whose `rules` apply.
    """

    rules: Callable[[], Rules]
    granted: set[str]
    log: DecisionLog
    path: str
    ask: Ask | None = None

    def _deciding(self, act: Act) -> Rule | None:
        """Return the rule that decides. An `allow` for all servers is none for what mcptui does itself."""
        found = self.rules().matching(act.server, act.tool, act.arguments)
        return next(
            (one for one in found if not act.is_own or one.action is not Verdict.ALLOW or one.server == OWN),
            None,
        )

    async def require(self, act: Act) -> None:
        """Return if the agent may do it. Raises NotAllowed."""
        rule = self._deciding(act)
        by = f"rule {rule}" if rule is not None else BY_DEFAULT
        if rule is not None and rule.action is Verdict.DENY:
            self._record(act, by, allowed=False)
            raise NotAllowed("Denied: a rule of the configuration forbids it.")
        if rule is not None and rule.action is Verdict.ALLOW:
            return self._record(act, by, allowed=True)
        if act.key in self.granted:
            return self._record(act, f"{BY_KEY} (allowed earlier, until mcptui quits)", allowed=True)
        await self._asked(act, by, "" if rule is None else f"The rule “{rule}” asks for approval.")

    async def _asked(self, act: Act, by: str, why: str) -> None:
        answer, question = None, replace(act.question, why=why)
        if self.ask is not None:
            if len(question.text) > MOST_ASKED:
                self._record(act, f"{BY_LIMIT} (arguments too long)", allowed=False)
                raise NotAllowed(
                    f"Refused: the user can review {exact(MOST_ASKED)} characters of arguments, not "
                    f"{exact(len(question.text))}.",
                    next_step=act.line(self.path),
                )
            try:
                async with asyncio.timeout(SECONDS):
                    answer = await self.ask(question)
            except TimeoutError:
                self._record(act, f"{BY_LIMIT} (no answer)", allowed=False, asked=True)
                raise NotAllowed(
                    f"Refused: the user did not answer within {SECONDS / 60:.0f} minutes.",
                    next_step=act.line(self.path),
                ) from None
        if answer is not None and answer.by == BY_LIMIT:
            self._record(act, f"{BY_LIMIT} (too many questions)", allowed=False)
            raise NotAllowed(
                "Refused without a question: others wait for the user, or the user has refused several.",
                next_step=f"Do one thing at a time, and try again in 5 minutes. {act.line(self.path)}",
            )
        if answer is None or answer.by == BY_DEFAULT:
            self._record(act, by if why else f"{BY_DEFAULT} (nobody to ask)", allowed=False)
            raise NotAllowed("Refused: it needs the user's consent.", next_step=act.line(self.path))
        now = self._deciding(act)  # a rule may have been added meanwhile
        allowed = answer.action is Action.ACCEPT and (now is None or now.action is not Verdict.DENY)
        self._record(act, answer.by, allowed=allowed, asked=True)
        if not allowed:
            raise NotAllowed("Refused by the user.")
        if answer.lasts:
            self.granted.add(act.key)

    def _record(self, act: Act, by: str, *, allowed: bool, asked: bool = False) -> None:
        self.log.add(
            DecisionRecord(
                DecisionKind.CALL,
                act.server,
                act.tool,
                allowed,
                by,
                act.by,
                asked=asked,
                digest=digest_of(act.arguments),
            )
        )
