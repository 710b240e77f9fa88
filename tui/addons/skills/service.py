"""The skills of one run: what its servers serve, and what the user has approved."""

from dataclasses import dataclass

from tui.addons.skills.approvals import SkillApprovals
from tui.addons.skills.entry import SkillEntry
from tui.addons.skills.server_skills import ServerSkills
from tui.runtime.runtime import Runtime
from tui.settings.locations import state_dir


@dataclass(frozen=True, slots=True)
class Skills:
    """The skills of the servers, and the approvals of the user. `close` waits until these are written."""

    servers: ServerSkills
    approvals: SkillApprovals

    def close(self) -> None:
        self.approvals.close()


def skills(runtime: Runtime) -> Skills:
    """Return the skills of a runtime that is ready."""
    host, approvals = runtime.host, _approvals()

    def seen(entry: SkillEntry) -> None:
        if (status := host.find(entry.server)) is not None:
            approvals.state(status.spec, entry)

    servers = ServerSkills(host, lambda: runtime.turn_context.limits.call_timeout, seen)
    return Skills(servers, approvals)


def forget(server: str, runtime: Runtime | None) -> None:
    """Drop the approvals of a server that was removed. Blocks without a runtime."""
    if runtime is not None and runtime.skills is not None:
        runtime.skills.approvals.forget(server)
        return
    approvals = _approvals()
    approvals.forget(server)
    approvals.close()


def _approvals() -> SkillApprovals:
    return SkillApprovals(state_dir() / "approved-skills.json")
