"""Tries and changes the rules for tool calls while mcptui runs. Every change is written to the file."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.errors import ConfigError
from tui.core.permission.approval_policy import Judgement
from tui.core.permission.rules import Rule, RuleError, Verdict, parse_rule
from tui.core.tools import Tool
from tui.runtime.permission.approvals import NOT_OWN

if TYPE_CHECKING:
    from tui.runtime.configuration import Configuration
    from tui.runtime.turn import TurnContext

APPROVALS = "approvals"
NEW = "rules"
"""The list that new rules are added to."""


@dataclass(frozen=True, slots=True)
class EarlierApproval:
    """A tool that the user has allowed, `always` or until mcptui quits."""

    key: str
    always: bool

    @property
    def tool(self) -> str:
        """Server and tool, "notes/add_note"."""
        return self.key.rpartition("@")[0]


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome for a call: the verdict and the matching rules, with the deciding one first."""

    judgement: Judgement
    matching: Sequence[Rule]


class RuleChanges:
    """Lists, tries and changes rules.

    Args:
        configuration: the file, and changing it.
        context: has the current policy, and the tools of the running servers.
    """

    def __init__(self, configuration: "Configuration", context: "TurnContext") -> None:
        self._configuration = configuration
        self._context = context

    @property
    def path(self) -> str:
        """The configuration file."""
        return str(self._configuration.file.path)

    @property
    def rules(self) -> Sequence[Rule]:
        return self._context.policy.rules.rules

    @property
    def approvals(self) -> Sequence[EarlierApproval]:
        """The approvals from earlier answers."""
        policy = self._context.policy
        policy.refresh()
        always = [EarlierApproval(key, True) for key in sorted(policy.always)]
        return always + [EarlierApproval(key, False) for key in sorted(policy.session - policy.always)]

    def try_call(self, server: str, name: str, arguments: Mapping[str, Any]) -> Trial:
        """Return what would happen if the model made this call."""
        policy = self._context.policy
        known = (one for one in self._context.toolbox.tools() if (one.server, one.name) == (server, name))
        tool = next(known, Tool(server, name))
        matching = tuple(policy.rules.matching(server, name, arguments))
        return Trial(policy.judge(tool, arguments), matching)

    async def add(self, text: str) -> None:
        """Add a rule. Raises McptuiError."""
        from tui.settings.save_list import add_item

        rule = parse_rule(text)
        path = self._configuration.file.path
        await self._configuration.change(lambda: add_item(path, (APPROVALS, NEW), str(rule)))
        self._require_in_force(rule)

    def _require_in_force(self, rule: Rule) -> None:
        if rule.action is Verdict.ALLOW and rule not in self.rules:
            raise ConfigError("The rule is saved, but does not apply", next_step=NOT_OWN)

    async def replace(self, rule: Rule, text: str) -> None:
        """Replace a rule. Raises McptuiError."""
        new = parse_rule(text)
        if rule.origin == NEW or new.action is rule.action:
            await self._change(rule, str(new) if rule.origin == NEW else new.pattern)
            self._require_in_force(new)
        else:  # its list has another action
            await self.add(text)
            await self._change(rule, None)

    async def remove(self, rule: Rule) -> None:
        """Remove a rule. Raises McptuiError."""
        await self._change(rule, None)

    async def _change(self, rule: Rule, item: str | None) -> None:
        from tui.settings.save_list import change_item

        key = (APPROVALS, rule.origin)
        is_meant = _IsRule(rule)
        path = self._configuration.file.path
        await self._configuration.change(lambda: change_item(path, key, rule.number, is_meant, item))

    async def revoke(self, approval: EarlierApproval) -> None:
        """Revoke an approval at once, then in the file. Raises McptuiError if it stays in the file."""
        from tui.settings.save_list import remove_items

        policy, path = self._context.policy, self._configuration.file.path
        policy.revoke(approval.key)  # the file does not contain it if it could not be saved

        async def remove() -> None:
            await asyncio.to_thread(remove_items, path, (APPROVALS, "remembered"), approval.key)
            policy.refresh()

        if approval.always:
            await self._configuration.exclusively(remove)


@dataclass(frozen=True, slots=True)
class _IsRule:
    """Tells whether a text in the file is the rule."""

    rule: Rule

    def __call__(self, text: str) -> bool:
        try:
            action = None if self.rule.origin == NEW else Verdict(self.rule.origin)
            return parse_rule(text, action) == self.rule
        except RuleError:
            return False
