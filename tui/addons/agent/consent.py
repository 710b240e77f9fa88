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

    def line(self, path: str, asks: Rule | None = None) -> str:
        """Return the step that allows it without a question, unless a rule `asks`, which wins."""
        if asks is not None:
            return f"The rule “{clean_line(str(asks), 300)}” in {path} asks the user of a running mcptui."
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
            raise self._refused(act, by, "Denied: a rule of the configuration forbids it.")
        if rule is not None and rule.action is Verdict.ALLOW:
            return self._record(act, by)
        if act.key in self.granted:
            return self._record(act, f"{BY_KEY} (allowed earlier, until mcptui quits)")
        line = act.line(self.path, rule)
        answer = await self._asked(act, "" if rule is None else f"The rule “{rule}” asks for approval.", line)
        if answer is None or answer.by == BY_DEFAULT:
            by = by if rule is not None else f"{BY_DEFAULT} (nobody to ask)"
            raise self._refused(act, by, "Refused: it needs the user's consent.", line)
        if answer.by == BY_LIMIT:
            said = "Refused without a question: others wait for the user, or the user has refused several."
            line = f"Do one thing at a time, and try again in 5 minutes. {line}"
            raise self._refused(act, f"{BY_LIMIT} (too many questions)", said, line)
        now = self._deciding(act)  # a rule may have been added meanwhile
        if answer.action is not Action.ACCEPT or (now is not None and now.action is Verdict.DENY):
            raise self._refused(act, answer.by, "Refused by the user.", asked=True)
        self._record(act, answer.by, asked=True)
        if answer.lasts:
            self.granted.add(act.key)

    async def _asked(self, act: Act, why: str, line: str) -> QuestionAnswer | None:
        """Return the answer of the user, None if nobody can be asked. Raises NotAllowed."""
        question = replace(act.question, why=why)
        if self.ask is None:
            return None
        if (length := len(question.text)) > MOST_ASKED:
            most = f"{exact(MOST_ASKED)} characters of arguments, not {exact(length)}"
            said = f"Refused: the user can review {most}."
            raise self._refused(act, f"{BY_LIMIT} (arguments too long)", said, line)
        try:
            async with asyncio.timeout(SECONDS):
                return await self.ask(question)
        except TimeoutError:
            said = f"Refused: the user did not answer within {SECONDS / 60:.0f} minutes."
            raise self._refused(act, f"{BY_LIMIT} (no answer)", said, line, asked=True) from None

    def _refused(self, act: Act, by: str, said: str, step: str = "", *, asked: bool = False) -> NotAllowed:
        self._record(act, by, allowed=False, asked=asked)
        return NotAllowed(said, next_step=step)

    def _record(self, act: Act, by: str, *, allowed: bool = True, asked: bool = False) -> None:
        what, digest = (DecisionKind.CALL, act.server, act.tool), digest_of(act.arguments)
        self.log.add(DecisionRecord(*what, allowed, by, act.by, asked=asked, digest=digest))
