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
from tui.settings.toml_edits import Document, set_value, texts_at

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
                        f"`{APPROVALS}.{old.origin}` has changed in the file, or contains a reference. "
                        "Nothing was saved.",
                        next_step="Edit the file instead.",
                    )
                replacing = [str(new) if old.origin == NEW else new.pattern] if new and in_place else []
                texts[begin : begin + 1] = replacing
                set_value(document, texts, APPROVALS, old.origin)
            if new is not None and not in_place:
                set_value(document, [*texts_at(document, APPROVALS, NEW), str(new)], APPROVALS, NEW)

        await self._configuration.change(change)
        if new is not None and new.action is Verdict.ALLOW and new not in self.rules:
            raise ConfigError("The rule is saved, but does not apply", next_step=NOT_OWN)

    async def revoke(self, approval: EarlierApproval) -> None:
        """Revoke an approval at once, then in the file. Raises McptuiError if it stays in the file."""
        policy, file = self._context.policy, self._configuration.file
        policy.revoke(approval.key)  # the file does not contain it if it could not be saved

        def change(document: Document) -> None:
            texts = texts_at(document, APPROVALS, "remembered")
            if approval.key in texts:
                left = [one for one in texts if one != approval.key]
                set_value(document, left, APPROVALS, "remembered")

        async def remove() -> None:
            await asyncio.to_thread(file.change, change)
            policy.refresh()

        if approval.always:
            await self._configuration.exclusively(remove)


def _is_rule(text: str, rule: Rule) -> bool:
    """Return whether a text in the file is the rule."""
    try:
        return parse_rule(text, None if rule.origin == NEW else Verdict(rule.origin)) == rule
    except RuleError:
        return False
