"""Judges calls of the model, asks the user, and records the decision."""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.context.built_in_tools import is_resource_read
from tui.core.conversation.conversation import CallRequest, Conversation, Journal
from tui.core.events import ApprovalAsked, ApprovalGiven, CallJudged, Emit
from tui.core.permission.approval_policy import (
    Judgement,
    Policy,
    Verdict,
    is_listed,
    source_of,
    untrusted_sources,
)
from tui.core.ports import (
    BY_DEFAULT,
    BY_KEY,
    BY_LIMIT,
    MODEL,
    Answer,
    ApprovalRequest,
    Approver,
    Decision,
    DecisionKind,
    DecisionLog,
    DecisionRecord,
    TrustQuestion,
    digest_of,
)
from tui.core.time_limits import TimeLimits
from tui.core.tools import Tool

_ANSWERS = {
    Answer.ONCE: "once",
    Answer.SESSION: "until mcptui quits",
    Answer.ALWAYS: "always",
    Answer.NO: "",
}


Arguments = Mapping[str, Any]


def call_record(
    tool: Tool, arguments: Arguments, *, allowed: bool, by: str, asked: bool = False
) -> DecisionRecord | None:
    """Return the record of a decision about a call of the model, None for a tool of mcptui's own."""
    if not (server := source_of(tool, arguments)):
        return None
    digest = digest_of(arguments)
    return DecisionRecord(
        DecisionKind.CALL, server, tool.name, allowed, by, MODEL, asked=asked, digest=digest
    )


def decider_of(decision: Decision, rule: str) -> str:
    """Return what decided about a call that needed approval; `rule` is the one that asked, or "".

    If nobody could answer, the rule denied the call.
    """
    if not decision.by_user:
        return f"rule {rule}" if rule else f"{BY_DEFAULT} ({decision.reason})"
    how = _ANSWERS[decision.answer]
    return f"{BY_KEY} ({how})" if how else BY_KEY


class CallApproval:
    """Decides about the calls of a turn. `answers` are those of the user, by call id.

    `conversation` may have content from untrusted servers.
    """

    def __init__(
        self,
        approver: Approver,
        policy: Policy,
        decisions: DecisionLog,
        journal: Journal | None,
        clocks: TimeLimits,
        emit: Emit,
        conversation: Conversation,
    ) -> None:
        self._approver = approver
        self._policy = policy
        self._decisions = decisions
        self._journal = journal
        self._clocks = clocks
        self._emit = emit
        self._conversation = conversation
        self.answers: dict[str, str] = {}

    def runs_in_parallel(self, call: CallRequest, tool: Tool, arguments: Arguments) -> bool:
        """Whether a call only reads and needs no approval, so that it can run in parallel with others."""
        return self._policy.only_reads(tool) and self._judge(call, tool, arguments).verdict is Verdict.ALLOW

    async def refusal(self, step: int, call: CallRequest, tool: Tool, arguments: Arguments) -> str:
        """Return the text for the model if a call may not run, or "" if it may."""
        await self._ask_trust(call, tool, arguments)
        judgement = self.judged(step, call, tool, arguments)
        if judgement.verdict is Verdict.ASK:
            if refusal := await self._ask(step, call.id, tool, arguments, judgement):
                return refusal
            if self._judge(call, tool, arguments).verdict is Verdict.DENY:  # a rule was added meanwhile
                judgement = self.judged(step, call, tool, arguments)
        return f"denied: {judgement.why}" if judgement.verdict is Verdict.DENY else ""

    def judged(self, step: int, call: CallRequest, tool: Tool, arguments: Arguments) -> Judgement:
        """Judge a call, and report and record the judgement."""
        found = self._judge(call, tool, arguments)
        self._emit(CallJudged(step, call.id, found.verdict, found.why, found.by, found.rule))
        if found.verdict is not Verdict.ASK:
            allowed = found.verdict is Verdict.ALLOW
            self._record(tool, arguments, allowed=allowed, by=found.by)
        return found

    def limited(self, tool: Tool, arguments: Arguments) -> None:
        """Record a call that a limit of the turn prevents."""
        self._record(tool, arguments, allowed=False, by=BY_LIMIT)

    def _record(
        self, tool: Tool, arguments: Arguments, *, allowed: bool, by: str, asked: bool = False
    ) -> None:
        if (record := call_record(tool, arguments, allowed=allowed, by=by, asked=asked)) is not None:
            self._decisions.add(record)

    def _judge(self, call: CallRequest, tool: Tool, arguments: Arguments) -> Judgement:
        return self._policy.judge(
            tool,
            arguments,
            guessed=call.recovered,
            after=self._untrusted(),
            listed=self._is_listed(tool, arguments),
        )

    def _is_listed(self, tool: Tool, arguments: Arguments) -> bool:
        return is_resource_read(tool) and is_listed(self._conversation, tool, arguments)

    def _untrusted(self) -> Sequence[str]:
        return untrusted_sources(self._conversation, self._policy.trust)

    async def _ask_trust(self, call: CallRequest, tool: Tool, arguments: Arguments) -> None:
        """Ask whether to trust a server if only its read-only mark would let a call run."""
        judgement, trust = self._judge(call, tool, arguments), self._policy.trust
        if judgement.verdict is Verdict.ASK and judgement.by_mark and trust.is_open(tool.server):
            with self._clocks.standing_still():
                answer = await self._approver.trust(TrustQuestion(tool.server, tool.name))
            if answer is not None:
                trust.decide(tool.server, answer)

    async def _ask(
        self, step: int, call_id: str, tool: Tool, arguments: Arguments, judgement: Judgement
    ) -> str:
        listed = self._is_listed(tool, arguments)
        can_last = self._policy.can_last(tool, arguments, self._untrusted(), listed=listed)
        request = ApprovalRequest(call_id, tool, arguments, judgement.why, once_only=not can_last)
        self._emit(ApprovalAsked(step, call_id, request))
        with self._clocks.standing_still():
            decision = await self._approver.ask(request)
        if self._journal is not None:
            self._journal.decision(call_id, decision.answer, decision.reason)
        self.answers[call_id] = decision.answer
        allowed, by = decision.answer is not Answer.NO, decider_of(decision, judgement.rule)
        self._record(tool, arguments, allowed=allowed, by=by, asked=decision.by_user)
        self._emit(ApprovalGiven(step, call_id, decision.answer, decision.reason))
        if decision.answer is Answer.NO:
            denied = "denied by the user" if decision.by_user else "denied"
            return f"{denied}: {decision.reason}" if decision.reason else denied
        self._policy.remember(tool, decision.answer, self._untrusted(), arguments)
        return ""
