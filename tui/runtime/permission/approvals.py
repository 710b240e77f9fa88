"""Approvals: those in the configuration file, which processes share, and the questions for them.

A file that is not the user's own may have been written to allow calls, so only its rules that ask or deny
apply, unless the user trusts it (`--trust-config`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tui.core.context.built_in_tools import BUILT_IN
from tui.core.errors import McptuiError, sentences
from tui.core.permission.approval_policy import Policy
from tui.core.permission.rules import Rules, Verdict
from tui.core.ports import Answer, ApprovalRequest, Approver, Decision, TrustQuestion
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.text import quoted_name
from tui.host.waits import first_of
from tui.settings.config_file import ConfigFile
from tui.settings.toml_edits import Document, set_value, texts_at

if TYPE_CHECKING:
    from tui.runtime.configuration import Configuration
    from tui.settings.load import Loaded

T = TypeVar("T")

NOT_OWN = "This is not your own configuration file. To use what it allows, start with --trust-config."
SAVED_LATER = "mcptui saves it with the next tool that you always allow."


def applicable_rules(loaded: "Loaded", file: ConfigFile, *, trust: bool) -> Rules:
    """Return the rules of a file that apply. Those that allow need the user's own file, or `trust`."""
    from tui.settings.specs import approval_rules

    found = approval_rules(loaded.settings.approvals)
    if trust or not file.source:
        return found
    return Rules(tuple(rule for rule in found.rules if rule.action is not Verdict.ALLOW))


class RememberedApprovals:
    """Synchronizes the approvals of a policy with the configuration file, if the file may allow calls."""

    def __init__(self, configuration: "Configuration", *, trust: bool = False) -> None:
        self._configuration = configuration
        self._config = configuration.file
        self._trust = trust
        self._policy = Policy()
        self._saved: set[str] = set()
        self._stamp = (0, 0, 0)

    @property
    def may_allow(self) -> bool:
        """Whether the file may allow calls: it is the user's own, or trusted."""
        return self._trust or not self._config.source

    def rules(self, loaded: "Loaded") -> Rules:
        """Return the rules of the file that apply."""
        return applicable_rules(loaded, self._config, trust=self._trust)

    def remembered(self, loaded: "Loaded") -> set[str]:
        """Return the approvals of the file that apply."""
        return set(loaded.settings.approvals.remembered) if self.may_allow else set()

    def begin(self, policy: Policy, stamp: tuple[int, int, int]) -> None:
        """Start synchronizing a policy whose approvals are those of the file at `stamp`."""
        self._policy, self._saved, self._stamp = policy, set(policy.always), stamp

    def refresh(self) -> None:
        """Reload the approvals if the file has changed, because an approval may have been revoked."""
        stamp = self._config.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._take_over(self._in_file() if self.may_allow else set())

    async def save(self) -> str:
        """Add new approvals to the file, and apply its changes. Return what failed, or ""."""
        return await self._configuration.exclusively(self._save)

    async def _save(self) -> str:
        if not self.may_allow:
            return f"The approval lasts until mcptui quits. {NOT_OWN}"
        unsaved = self._policy.always - self._saved
        try:
            self._configuration.refuse_deleted()
            saved = await asyncio.to_thread(self._added, unsaved)
        except McptuiError as error:
            return sentences(f"The approval only lasts until mcptui quits: {error}", SAVED_LATER)
        self._take_over(saved)
        return ""

    def _in_file(self) -> set[str]:
        """Return the approvals in the file, none if it cannot be read, so that tools need approval."""
        texts = self._config.table("approvals").get("remembered")
        return {one for one in texts if isinstance(one, str)} if isinstance(texts, list) else set()

    def _added(self, unsaved: set[str]) -> set[str]:
        """Add approvals to those in the file, which may have changed, and return all."""
        saved: set[str] = set()

        def add(document: Document) -> None:
            present = texts_at(document, "approvals", "remembered")
            saved.update(present, unsaved)
            if saved != set(present):
                set_value(document, sorted(saved), "approvals", "remembered")

        self._config.change(add)
        return saved

    def _take_over(self, found: set[str]) -> None:
        always = self._policy.always
        always -= self._saved - found
        always |= found
        self._saved = found


class TurnApprover:
    """Shows the user a call without secrets, and withdraws the question once its server is gone.

    The call itself keeps its secrets. `closed` returns once a server is removed or replaced: an answer would
    be for a server that the user has changed.
    """

    def __init__(
        self, inner: Approver, closed: Callable[[str], Awaitable[object]], redactor: Redactor
    ) -> None:
        self._inner = inner
        self._closed = closed
        self._redactor = redactor

    async def ask(self, request: ApprovalRequest) -> Decision:
        shown = self._inner.ask(without_secrets(request, self._redactor.redact_spoken))
        if request.tool.digest.startswith(BUILT_IN):
            return await shown
        server = request.tool.server
        gone = Decision(Answer.NO, f"the server {quoted_name(server)} was removed or changed", by_user=False)
        return await self._while_there(server, shown, gone)

    async def trust(self, question: TrustQuestion) -> bool | None:
        shown = replace(question, tool=self._redactor.redact(question.tool))
        return await self._while_there(question.server, self._inner.trust(shown), None)

    async def _while_there(self, server: str, asking: Coroutine[Any, Any, T], gone: T) -> T:
        asked = asyncio.ensure_future(asking)
        await first_of(asked, self._closed(server))
        return gone if asked.cancelled() else asked.result()
