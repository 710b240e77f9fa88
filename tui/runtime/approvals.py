"""Approvals given for good: stored in the configuration file, and shared with other processes by it."""

import asyncio

from tui.core.errors import McptuiError, sentences
from tui.core.turn.approval_policy import Policy
from tui.settings.config_file import ConfigFile

SAVED_LATER = "It will be saved with the next tool that you always allow."


class RememberedApprovals:
    """Synchronizes the approvals of a policy with those of the configuration file."""

    def __init__(self, config: ConfigFile) -> None:
        self._config = config
        self._policy = Policy()
        self._saved: set[str] = set()
        self._stamp = (0, 0, 0)
        self._saving = asyncio.Lock()

    def begin(self, policy: Policy, stamp: tuple[int, int, int]) -> None:
        """Synchronize a policy that has the approvals the file had at `stamp`."""
        self._policy, self._saved, self._stamp = policy, set(policy.always), stamp

    def refresh(self) -> None:
        """Take over the approvals of the file if it has changed: one may have been revoked."""
        stamp = self._config.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._take_over(set(self._config.remembered()))

    async def save(self) -> str:
        """Add new approvals to the file, and take over its changes. Return what failed, or ""."""
        async with self._saving:
            unsaved = self._policy.always - self._saved
            try:
                saved = set(await asyncio.to_thread(self._config.add, "approvals.remembered", unsaved))
            except McptuiError as error:
                return sentences(f"The approval is valid for this session only: {error}", SAVED_LATER)
            self._take_over(saved)
            return ""

    def _take_over(self, found: set[str]) -> None:
        always = self._policy.always
        always -= self._saved - found
        always |= found
        self._saved = found
