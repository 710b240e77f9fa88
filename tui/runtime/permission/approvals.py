"""Rules and approvals: those in the configuration file, which processes share, and the questions for them.

A file that is not the user's own may have been written to allow calls, so only its rules that ask or deny
apply, unless the user trusts it (`--trust-config`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tui.core.background import first_of
from tui.core.context.built_in_tools import built_in
from tui.core.errors import ConfigError, McptuiError, sentences
from tui.core.files import Stamp
from tui.core.language.translate import message
from tui.core.permission.approval_policy import Judgement, Policy
from tui.core.permission.rules import Rule, RuleError, Rules, Verdict, parse_rule
from tui.core.ports import Answer, ApprovalRequest, Approver, Decision, TrustQuestion
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.text import quoted_name
from tui.core.tools import Tool
from tui.settings.save import Document, set_value, texts_at

if TYPE_CHECKING:
    from tui.runtime.configuration import Configuration
    from tui.settings.load import Loaded

T = TypeVar("T")

NOT_OWN = message(
    "This is not your own configuration file. To use what it allows, start with --trust-config."
)
SAVED_LATER = message("mcptui saves it with the next tool that you always allow.")
APPROVALS, REMEMBERED = "approvals", "remembered"
NEW = "rules"
"""The list that new rules are added to."""


def applicable_rules(loaded: "Loaded", *, trust: bool) -> Rules:
    """Return the rules of a file that apply. Those that allow need the user's own file, or `trust`."""
    from tui.settings.specs import approval_rules

    found = approval_rules(loaded.settings.approvals)
    if trust or not loaded.source:
        return found
    return Rules(tuple(rule for rule in found.rules if rule.action is not Verdict.ALLOW))


@dataclass(slots=True)
class TurnApprover:
    """Shows the user a call without secrets, and withdraws the question once its server is gone.

    The call itself keeps its secrets. `closed` returns once a server is removed or replaced: an answer would
    be for a server that the user has changed.
    """

    _inner: Approver
    _closed: Callable[[str], Awaitable[object]]
    _redactor: Redactor

    async def ask(self, request: ApprovalRequest) -> Decision:
        shown = self._inner.ask(without_secrets(request, self._redactor.redact_spoken))
        if built_in(request.tool):
            return await shown
        server = request.tool.server
        why = message("the server {server} was removed or changed", server=quoted_name(server))
        gone = Decision(Answer.NO, why, by_user=False)
        return await self._while_there(server, shown, gone)

    async def trust(self, question: TrustQuestion) -> bool | None:
        shown = replace(question, tool=self._redactor.redact(question.tool))
        return await self._while_there(question.server, self._inner.trust(shown), None)

    async def _while_there(self, server: str, asking: Coroutine[Any, Any, T], gone: T) -> T:
        asked = asyncio.ensure_future(asking)
        await first_of(asked, self._closed(server))
        return gone if asked.cancelled() else asked.result()


class Approvals:
    """Rules and approvals: changed by the user, and synchronized with the configuration file.

    The file counts only as far as it may allow calls.
    """

    def __init__(self, configuration: "Configuration", policy: Policy, *, trust: bool) -> None:
        self._configuration = configuration
        self._policy = policy
        self._trust = trust
        self._saved = set[str]()
        self._stamp: Stamp = None

    @property
    def _may_allow(self) -> bool:
        """Whether the file may allow calls: it is the user's own, or trusted."""
        return self._trust or not self._configuration.file.source

    def applicable(self, loaded: "Loaded") -> Rules:
        """Return the rules of the file that apply."""
        return applicable_rules(loaded, trust=self._trust)

    def begin(self, loaded: "Loaded", stamp: Stamp) -> None:
        """Take over the rules and approvals of the file at `stamp`."""
        policy = self._policy
        self._saved = set(loaded.settings.approvals.remembered) if self._may_allow else set()
        self._stamp = stamp
        policy.rules, policy.always, policy.refresh = self.applicable(loaded), set(self._saved), self.refresh

    def refresh(self) -> None:
        """Reload the approvals if the file has changed, because an approval may have been revoked."""
        stamp = self._configuration.file.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        # None count if the file cannot be read, so that tools need approval.
        texts = self._configuration.file.table(APPROVALS).get(REMEMBERED) if self._may_allow else None
        self._take_over({one for one in texts if isinstance(one, str)} if isinstance(texts, list) else set())

    async def save(self) -> str:
        """Add new approvals to the file, and apply its changes. Return what failed, or ""."""
        return await self._configuration.exclusively(self._save)

    async def _save(self) -> str:
        if not self._may_allow:
            return sentences(message("The approval lasts until mcptui quits."), NOT_OWN)
        unsaved = self._policy.always - self._saved
        saved: set[str] = set()

        def add(document: Document) -> None:
            present = texts_at(document, APPROVALS, REMEMBERED)
            saved.update(present, unsaved)
            if saved != set(present):
                set_value(document, sorted(saved), APPROVALS, REMEMBERED)

        loaded, path = self._configuration.loaded, self._configuration.file.path
        try:
            if loaded is not None and loaded.exists and not path.exists():
                # One with a single setting would replace all others.
                raise ConfigError(message("file not found"), where=str(path))
            await asyncio.to_thread(self._configuration.file.change, add)
        except McptuiError as error:
            return sentences(
                message("The approval only lasts until mcptui quits: {error}", error=str(error)), SAVED_LATER
            )
        self._take_over(saved)
        return ""

    def _take_over(self, found: set[str]) -> None:
        always = self._policy.always
        always -= self._saved - found
        always |= found
        self._saved = found

    @property
    def path(self) -> str:
        """The configuration file."""
        return str(self._configuration.file.path)

    @property
    def rules(self) -> Sequence[Rule]:
        return self._policy.rules.rules

    @property
    def earlier(self) -> dict[str, bool]:
        """The keys of approvals from earlier answers, and whether they last after mcptui quits."""
        policy = self._policy
        policy.refresh()
        session = sorted(policy.session - policy.always)
        return dict.fromkeys(sorted(policy.always), True) | dict.fromkeys(session, False)

    def try_call(
        self, tools: Sequence[Tool], server: str, name: str, arguments: Mapping[str, Any]
    ) -> tuple[Judgement, Sequence[Rule]]:
        """Return what would happen if the model made this call, and the matching rules, strictest first."""
        found = (one for one in tools if (one.server, one.name) == (server, name))
        tool = next(found, Tool(server, name))
        matching = tuple(self._policy.rules.matching(server, name, arguments))
        return self._policy.judge(tool, arguments), matching

    async def add(self, text: str) -> None:
        """Add a rule. Raises McptuiError."""
        await self._change(parse_rule(text), None)

    async def replace(self, rule: Rule, text: str) -> None:
        """Replace a rule: in its place, or at the end of the new ones if its list has another action.

        Raises McptuiError.
        """
        await self._change(parse_rule(text), rule)

    async def remove(self, rule: Rule) -> None:
        """Remove a rule. Raises McptuiError."""
        await self._change(None, rule)

    async def _change(self, new: Rule | None, old: Rule | None) -> None:
        """Put `new` in the place of `old`. Raises McptuiError, also if the saved rule does not apply."""
        in_place = old is not None and new is not None and (old.origin == NEW or new.action is old.action)

        def change(document: Document) -> None:
            if old is not None:
                texts, begin = texts_at(document, APPROVALS, old.origin), old.number - 1
                if not 0 <= begin < len(texts) or not _is_rule(texts[begin], old):
                    raise ConfigError(
                        message(
                            "`{name}` has changed in the file, or contains a reference. Nothing was saved.",
                            name=f"{APPROVALS}.{old.origin}",
                        ),
                        next_step=message("Edit the file instead."),
                    )
                replacing = [str(new) if old.origin == NEW else new.pattern] if new and in_place else []
                texts[begin : begin + 1] = replacing
                set_value(document, texts, APPROVALS, old.origin)
            if new is not None and not in_place:
                set_value(document, [*texts_at(document, APPROVALS, NEW), str(new)], APPROVALS, NEW)

        await self._configuration.change(change)
        if new is not None and new.action is Verdict.ALLOW and new not in self.rules:
            raise ConfigError(message("The rule is saved, but does not apply"), next_step=NOT_OWN)

    async def revoke(self, key: str) -> None:
        """Revoke an approval at once, then in the file. Raises McptuiError if it stays in the file."""
        policy = self._policy
        is_kept = key in policy.always
        policy.revoke(key)  # the file does not contain it if it could not be saved

        def change(document: Document) -> None:
            texts = texts_at(document, APPROVALS, REMEMBERED)
            if key in texts:
                set_value(document, [one for one in texts if one != key], APPROVALS, REMEMBERED)

        async def remove() -> None:
            await asyncio.to_thread(self._configuration.file.change, change)
            policy.refresh()

        if is_kept:
            await self._configuration.exclusively(remove)


def _is_rule(text: str, rule: Rule) -> bool:
    try:
        return parse_rule(text, None if rule.origin == NEW else Verdict(rule.origin)) == rule
    except RuleError:
        return False
