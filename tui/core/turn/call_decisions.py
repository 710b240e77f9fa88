"""The decisions about the model's calls, for the record."""

from collections.abc import Mapping
from typing import Any

from tui.core.ports import (
    BY_DEFAULT,
    BY_KEY,
    BY_LIMIT,
    MODEL,
    Answer,
    Decision,
    DecisionKind,
    DecisionLog,
    DecisionRecord,
    digest_of,
)
from tui.core.tools import Tool
from tui.core.turn.untrusted_content import source_of

_ANSWERS = {
    Answer.ONCE: "once",
    Answer.SESSION: "until mcptui quits",
    Answer.ALWAYS: "always",
    Answer.NO: "",
}


class CallDecisions:
    """Records which calls of the model were allowed or denied, and by what."""

    def __init__(self, log: DecisionLog) -> None:
        self._log = log

    def judged(self, tool: Tool, arguments: Mapping[str, Any], *, allowed: bool, by: str) -> None:
        """Record a call that was decided without a question."""
        self._add(tool, arguments, allowed=allowed, by=by, asked=False)

    def answered(
        self, tool: Tool, arguments: Mapping[str, Any], decision: Decision, *, rule: str = ""
    ) -> None:
        """Record a call that needed approval, whether or not a user could answer.

        `rule` is the one that asks for approval. If nobody could answer, it denied the call.
        """
        allowed = decision.answer is not Answer.NO
        if not decision.by_user:
            by = f"rule {rule}" if rule else f"{BY_DEFAULT} ({decision.reason})"
        else:
            how = _ANSWERS[decision.answer]
            by = f"{BY_KEY} ({how})" if how else BY_KEY
        self._add(tool, arguments, allowed=allowed, by=by, asked=decision.by_user)

    def limited(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Record a call that a limit of the turn prevented."""
        self._add(tool, arguments, allowed=False, by=BY_LIMIT, asked=False)

    def _add(self, tool: Tool, arguments: Mapping[str, Any], *, allowed: bool, by: str, asked: bool) -> None:
        server = source_of(tool, arguments)
        if not server:  # a tool of mcptui's own
            return
        digest = digest_of(arguments)
        self._log.add(
            DecisionRecord(
                DecisionKind.CALL, server, tool.name, allowed, by, MODEL, asked=asked, digest=digest
            )
        )
