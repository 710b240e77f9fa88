"""Decides which calls run, which ask, and which never run, and asks.

An approval is stored under a digest of what runs and of the definition that the model read, never under a
name: a tool whose description changes after its approval asks again. Content of an untrusted server in a
conversation may have been written to make the model call other servers, so such calls need approval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tui.core.context.built_in_tools import READ, built_in
from tui.core.context.skill_texts import (
    LOAD_SKILL,
    READ_SKILL_FILE,
    SkillMark,
    foreign_words,
    window_words,
)
from tui.core.conversation.conversation import (
    CallRequest,
    Conversation,
)
from tui.core.events import ApprovalAsked, ApprovalGiven, CallJudged, Emit
from tui.core.language.translate import message
from tui.core.permission.content_sources import (
    is_listed,
    loaded_skills,
    source_of,
    untrusted_sources,
    untrusted_words,
)
from tui.core.permission.rules import STRICTEST_FIRST, Rule, Rules
from tui.core.permission.rules import Verdict as Verdict
from tui.core.ports import (
    BY_DEFAULT,
    BY_KEY,
    MODEL,
    Answer,
    ApprovalRequest,
    Approver,
    Decision,
    DecisionKind,
    DecisionLog,
    DecisionRecord,
    TrustQuestion,
    TrustStore,
    Undecided,
    digest_of,
)
from tui.core.text import clean_line
from tui.core.time_limits import TimeLimits
from tui.core.tools import Tool

if TYPE_CHECKING:  # only needed once a server has skills
    from tui.core.context.skill_tools import SkillSource

_SENDING = (READ, LOAD_SKILL, READ_SKILL_FILE)
"""mcptui's own tools that may send a text of the model to a server."""


class Mode(StrEnum):
    """Which calls run without approval; the values of `--approve`."""

    ASK = "ask"
    READS = "reads"
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its reason, in words for the user (ask) or for the model (deny).

    `by` is what decided, as in `DecisionRecord`; `rule` is the rule that decided or asked, or "". `by_mark`:
    the call would run if the server were trusted. `by_skill`: it asks because a skill is loaded, so no option
    allows it.
    """

    verdict: Verdict
    why: str = ""
    by: str = BY_DEFAULT
    rule: str = ""
    by_mark: bool = False
    by_skill: bool = False


FORBIDDEN = message("a rule in the configuration forbids this call")
"""The reason for the model, which does not reveal the pattern."""

Arguments = Mapping[str, Any]
NO_ARGUMENTS: Arguments = MappingProxyType({})


@dataclass(slots=True)
class Policy:
    """Decides about calls; all modes but ASK decide without asking.

    `always` are keys of permanent approvals; `refresh` reloads them, and is cheap. `cleared` are pairs of
    such a key and a server after whose content the approval was given. `undecided`: servers about whose
    trust the next run asks again.
    """

    rules: Rules = field(default_factory=Rules)
    mode: Mode = Mode.ASK
    server_digest: Callable[[str], str] = lambda server: server
    always: set[str] = field(default_factory=set)
    session: set[str] = field(default_factory=set)
    refresh: Callable[[], None] = lambda: None
    cleared: set[tuple[str, str]] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)
    trust: TrustStore = field(kw_only=True)

    def key(self, tool: Tool, arguments: Mapping[str, Any] = NO_ARGUMENTS) -> str:
        """Return the key of an approval. Reads of resources have a key per server."""
        server = source_of(tool, arguments) or tool.server
        return f"{server}/{tool.name}@{self.server_digest(server)}.{tool.digest}"

    def judge(
        self,
        tool: Tool,
        arguments: Mapping[str, Any] = NO_ARGUMENTS,
        *,
        guessed: bool = False,
        after: Sequence[str] = (),
        listed: bool = False,
        skills: Sequence[SkillMark] = (),
    ) -> Judgement:
        """Return the verdict on a call of `tool`.

        `guessed`: the call was found in text or repaired; an earlier approval does not cover it unless the
        tool is read-only and its server trusted. `after`: servers that are not trusted, whose content the
        model may have read; an earlier approval covers the call only if it was given after the same content.
        `listed`: it reads a resource that its server has listed, so its URI sends no information to the
        server. `skills` are loaded: no rule and no earlier approval covers a call that they may have caused.
        """
        if self.mode is Mode.NONE:
            why = message("no tool is allowed (--approve none)")
            return Judgement(Verdict.DENY, why, "option --approve none")
        rule = self.rule_for(tool, arguments)
        if rule is not None and rule.action is Verdict.DENY:
            return Judgement(Verdict.DENY, FORBIDDEN, f"rule {rule}", str(rule))
        # A URI that is not listed is text of the model, which the server of the resource receives.
        is_read = built_in(tool) in _SENDING
        sends = is_read and not listed and not self.trust.trusted(source_of(tool, arguments))
        judgement = self._judge_by_hints(tool, arguments, rule, sends=sends)
        if guessed and judgement.verdict is Verdict.ALLOW and not self.only_reads(tool):
            why = message("the call was found in text or repaired. Check its arguments")
            judgement = Judgement(Verdict.ASK, why)
        judgement, untrusted = self._after_content(judgement, tool, arguments, after, sends=sends)
        judgement = self._after_skills(judgement, tool, arguments, skills)
        if judgement.verdict is not Verdict.ASK:
            return judgement
        match self.mode:
            case Mode.ALL if judgement.by_skill:  # not even this: the skill may have caused the call
                return judgement
            case Mode.ALL:
                return Judgement(Verdict.ALLOW, by="option --approve all")
            case Mode.READS if judgement.by_skill:
                why = message("{why} (--approve reads)", why=judgement.why)
                return Judgement(Verdict.DENY, why, "option --approve reads")
            case Mode.READS if judgement.rule:
                why = message("a rule asks for approval, and nobody can answer (--approve reads)")
                return Judgement(Verdict.DENY, why, judgement.by, judgement.rule)
            case Mode.READS:
                denied = self._why_no_read(tool, source_of(tool, arguments) if sends else "")
                return Judgement(Verdict.DENY, _and_then(denied, untrusted), "option --approve reads")
            case _:
                return judgement

    def rule_for(self, tool: Tool, arguments: Mapping[str, Any]) -> Rule | None:
        """Return the rule that decides a call. A read of a resource is also a call of its server."""
        owner = source_of(tool, arguments)
        found = [
            rule
            for server in dict.fromkeys((tool.server, owner or tool.server))
            if (rule := self.rules.deciding(server, tool.name, arguments)) is not None
        ]
        return min(found, key=lambda rule: STRICTEST_FIRST.index(rule.action), default=None)

    def _judge_by_hints(
        self, tool: Tool, arguments: Mapping[str, Any], rule: Rule | None, *, sends: bool
    ) -> Judgement:
        if rule is not None:
            asks = rule.action is Verdict.ASK
            why = message("the rule “{rule}” asks for approval", rule=str(rule)) if asks else ""
            return Judgement(rule.action, why, f"rule {rule}", str(rule))
        self.refresh()
        if (key := self.key(tool, arguments)) in self.always:
            return Judgement(Verdict.ALLOW, by=message("key (always allowed earlier)"))
        if key in self.session:
            return Judgement(Verdict.ALLOW, by=message("key (allowed earlier, until mcptui quits)"))
        if sends:
            if built_in(tool) == READ_SKILL_FILE:
                why = message("reads a file that its untrusted server does not list")
            else:
                why = message("reads a resource that its untrusted server does not list")
            return Judgement(Verdict.ASK, why)
        if tool.destructive and not tool.read_only:
            return Judgement(Verdict.ASK, message("may delete or overwrite data, according to the server"))
        if self.only_reads(tool):
            return Judgement(Verdict.ALLOW, by=message("default (marked read-only by a trusted server)"))
        if tool.read_only:
            why = message("its server marks it as read-only, which counts only if you trust the server")
            return Judgement(Verdict.ASK, why, by_mark=True)
        if tool.destructive is False and self.trust.trusts(tool):
            why = message("adds or changes data. Deletes nothing, according to the server")
            return Judgement(Verdict.ASK, why)
        return Judgement(Verdict.ASK, message("may change something"))

    def _after_content(
        self,
        judgement: Judgement,
        tool: Tool,
        arguments: Mapping[str, Any],
        after: Sequence[str],
        *,
        sends: bool,
    ) -> tuple[Judgement, str]:
        """Return the judgement after untrusted content, and a remark about that content, or ""."""
        owner = source_of(tool, arguments) or tool.server
        others = [one for one in after if one != owner]
        key = self.key(tool, arguments) if others else ""
        is_cleared = not sends and all((key, one) in self.cleared for one in others)
        if (
            not others
            or judgement.verdict is Verdict.DENY
            or (self.only_reads(tool) and not sends)
            # A written rule is intentional.
            or (judgement.verdict is Verdict.ALLOW and (judgement.rule or is_cleared))
        ):
            return judgement, ""
        said = untrusted_words(others)
        why = _and_then(judgement.why, said)
        return replace(judgement, verdict=Verdict.ASK, why=why, by=BY_DEFAULT), said

    def _after_skills(
        self, judgement: Judgement, tool: Tool, arguments: Mapping[str, Any], skills: Sequence[SkillMark]
    ) -> Judgement:
        """Return the judgement while skills are loaded, which may have caused the call."""
        owner = source_of(tool, arguments)
        if built_in(tool) in (READ, LOAD_SKILL):
            foreign = [one for one in skills if one.server != owner]
            said = foreign_words(foreign, owner) if foreign else ""
        else:
            said = window_words(skills) if skills and not self.only_reads(tool) else ""
        if not said or judgement.verdict is Verdict.DENY:
            return judgement
        why = _and_then(judgement.why, said)
        rule = judgement.rule if judgement.verdict is Verdict.ASK else ""
        # Not the moment to ask whether to trust the server: the skill may be what asks for it.
        return replace(
            judgement, verdict=Verdict.ASK, why=why, by=BY_DEFAULT, rule=rule, by_mark=False, by_skill=True
        )

    def only_reads(self, tool: Tool) -> bool:
        """Whether a tool is marked read-only by a trusted server."""
        return tool.read_only and self.trust.trusts(tool)

    def can_last(
        self, tool: Tool, arguments: Mapping[str, Any], after: Sequence[str] = (), **content: Any
    ) -> bool:
        """Whether a lasting answer would let a call run without asking, because no rule asks about it."""
        key = self.key(tool, arguments)
        cleared = self.cleared | {(key, one) for one in after}
        approved = replace(self, session=self.session | {key}, cleared=cleared)
        return approved.judge(tool, arguments, after=after, **content).verdict is Verdict.ALLOW

    def _why_no_read(self, tool: Tool, owner: str) -> str:
        """Return why a call is denied; `owner` is the server that would receive the model's URI, or ""."""
        if not owner and (not tool.read_only or self.trust.trusts(tool)):
            return message("only read-only tools are allowed (--approve reads)")
        server = clean_line(owner or tool.server, 60)
        if owner:
            only = message("only resources that their server lists are allowed (--approve reads)")
        else:
            only = message("only read-only tools of trusted servers are allowed (--approve reads)")
        hint = message(
            "“{server}” is not trusted: see --trust {server}, or trusted = true in its configuration",
            server=server,
        )
        return _and_then(only, hint)

    def remember(
        self,
        tool: Tool,
        answer: Answer,
        after: Sequence[str] = (),
        arguments: Mapping[str, Any] = NO_ARGUMENTS,
    ) -> None:
        key = self.key(tool, arguments)
        if answer in (Answer.SESSION, Answer.ALWAYS):
            self.cleared |= {(key, one) for one in after}
        if answer is Answer.SESSION:
            self.session.add(key)
        elif answer is Answer.ALWAYS:
            self.always.add(key)

    def revoke(self, key: str) -> None:
        """Forget an approval, and the content after which it was given."""
        self.session.discard(key)
        self.always.discard(key)
        self.cleared = {pair for pair in self.cleared if pair[0] != key}


def _and_then(why: str, more: str) -> str:
    """Return two reasons as one, without a full stop; either may be ""."""
    return message("{why}. {more}", why=why, more=more) if why and more else why or more


_ANSWERS = {Answer.ONCE: "once", Answer.SESSION: "until mcptui quits", Answer.ALWAYS: "always", Answer.NO: ""}


def decider_of(decision: Decision, rule: str) -> str:
    """Return what decided about a call that needed approval; `rule` is the one that asked, or "".

    If nobody could answer, the rule denied the call.
    """
    if not decision.by_user:
        return f"rule {rule}" if rule else f"{BY_DEFAULT} ({decision.reason})"
    how = _ANSWERS[decision.answer]
    return f"{BY_KEY} ({how})" if how else BY_KEY


@dataclass(frozen=True, slots=True)
class TurnPermission:
    """The approver, the calls that need no question, the record of decisions, and the approval of skills."""

    approver: Approver
    policy: Policy
    decisions: DecisionLog = field(default_factory=Undecided)
    skills: "Callable[[], SkillSource | None]" = lambda: None

    def record(
        self, tool: Tool, arguments: Arguments, *, allowed: bool, by: str, asked: bool = False
    ) -> None:
        """Record a decision about a call of the model, unless the tool is mcptui's own.

        Whether a skill may be loaded is a decision of its own, which follows.
        """
        if allowed and built_in(tool) == LOAD_SKILL:
            return
        if server := source_of(tool, arguments):
            kind = DecisionKind.CALL
            digest = digest_of(arguments)
            self.decisions.add(
                DecisionRecord(kind, server, tool.name, allowed, by, MODEL, asked=asked, digest=digest)
            )


@dataclass(slots=True)
class CallApproval:
    """Judges the calls of a turn, asks the user, and records the decisions.

    `answers` are those of the user, by call id. `conversation` may have content from untrusted servers.
    """

    permission: TurnPermission
    clocks: TimeLimits
    emit: Emit
    conversation: Conversation
    answers: dict[str, str] = field(default_factory=dict, init=False)

    def runs_in_parallel(self, call: CallRequest, tool: Tool, arguments: Arguments) -> bool:
        """Whether a call only reads and needs no approval, so that it can run in parallel with others."""
        return (
            self.permission.policy.only_reads(tool)
            and self._judge(call, tool, arguments).verdict is Verdict.ALLOW
        )

    async def refusal(self, step: int, call: CallRequest, tool: Tool, arguments: Arguments) -> str:
        """Return the text for the model if a call may not run, or "" if it may."""
        await self._ask_trust(call, tool, arguments)
        judgement = self.judged(step, call, tool, arguments)
        if judgement.verdict is Verdict.ASK:
            if refusal := await self._ask(step, call.id, tool, arguments, judgement):
                return refusal
            if self._judge(call, tool, arguments).verdict is Verdict.DENY:  # a rule was added meanwhile
                judgement = self.judged(step, call, tool, arguments)
        if judgement.verdict is Verdict.DENY:
            return f"denied: {judgement.why}"
        skills = self.permission.skills() if built_in(tool) == LOAD_SKILL else None
        if skills is None:
            return ""
        why = await skills.refusal(str(arguments["server"]), str(arguments["skill"]), self.clocks)
        return f"denied: {why}" if why else ""

    def judged(self, step: int, call: CallRequest, tool: Tool, arguments: Arguments) -> Judgement:
        found = self._judge(call, tool, arguments)
        self.emit(CallJudged(step, call.id, found.verdict, found.why, found.by, found.rule))
        if found.verdict is not Verdict.ASK:
            self.permission.record(tool, arguments, allowed=found.verdict is Verdict.ALLOW, by=found.by)
        return found

    def _judge(self, call: CallRequest, tool: Tool, arguments: Arguments) -> Judgement:
        content = self._content(tool, arguments)
        return self.permission.policy.judge(tool, arguments, guessed=call.recovered, **content)

    def _content(self, tool: Tool, arguments: Arguments) -> dict[str, Any]:
        """Return what the conversation contains that a judgement depends on."""
        untrusted = untrusted_sources(self.conversation, self.permission.policy.trust)
        is_read = built_in(tool) in _SENDING
        listed = is_read and is_listed(self.conversation, tool, arguments)
        return {"after": untrusted, "listed": listed, "skills": loaded_skills(self.conversation)}

    async def _ask_trust(self, call: CallRequest, tool: Tool, arguments: Arguments) -> None:
        """Ask once whether to trust a server if only its read-only mark would let a call run."""
        judgement, policy = self._judge(call, tool, arguments), self.permission.policy
        is_open = tool.server not in policy.undecided and policy.trust.trusted(tool.server) is None
        if judgement.verdict is Verdict.ASK and judgement.by_mark and is_open:
            with self.clocks.standing_still():
                answer = await self.permission.approver.trust(TrustQuestion(tool.server, tool.name))
            if answer is None:
                policy.undecided.add(tool.server)
            else:
                policy.trust.decide(tool.server, answer)

    async def _ask(
        self, step: int, call_id: str, tool: Tool, arguments: Arguments, judgement: Judgement
    ) -> str:
        policy = self.permission.policy
        can_last = policy.can_last(tool, arguments, **self._content(tool, arguments))
        request = ApprovalRequest(call_id, tool, arguments, judgement.why, not can_last, judgement.by_skill)
        self.emit(ApprovalAsked(step, call_id, request))
        with self.clocks.standing_still():
            decision = await self.permission.approver.ask(request)
        if (journal := self.conversation.journal) is not None:
            journal.decision(call_id, decision.answer, decision.reason)
        self.answers[call_id] = decision.answer
        allowed = decision.answer is not Answer.NO
        by = decider_of(decision, judgement.rule)
        self.permission.record(tool, arguments, allowed=allowed, by=by, asked=decision.by_user)
        self.emit(ApprovalGiven(step, call_id, decision.answer, decision.reason))
        if decision.answer is Answer.NO:
            return decision.refusal
        policy.remember(tool, decision.answer, untrusted_sources(self.conversation, policy.trust), arguments)
        return ""
