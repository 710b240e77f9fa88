"""Why a skill or one of its files is not used."""

from enum import StrEnum

from tui.core.errors import McptuiError


class Why(StrEnum):
    """The kind of reason."""

    NOT_OFFERED = "not offered"
    """The server does not declare the extension, or does not run."""
    UNKNOWN = "unknown"
    """The server serves no such skill."""
    DECLINED = "declined"
    """Its entry is invalid, or exceeds a limit."""
    MISMATCH = "mismatch"
    """Bytes or front matter are not what the entry says."""
    UNLISTED = "unlisted"
    """The file is not in the manifest."""
    REFERENCE = "reference"
    """The reference leaves the folder of the skill."""
    UNREADABLE = "unreadable"
    """The server returned an error, or something that cannot be used."""
    LATE = "late"
    """The server did not answer in time."""


class SkillProblem(McptuiError):
    """A skill, or one of its files, is not used. Holds nothing of its content."""

    def __init__(self, why: Why, message: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.why = why

    @property
    def is_stale(self) -> bool:
        """Whether the skill may have changed since its entry was read, so that reading it again may help."""
        return self.why in (Why.MISMATCH, Why.UNLISTED)
