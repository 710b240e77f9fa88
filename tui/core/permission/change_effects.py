"""The effects of a change of a definition, from harmless to harmful. Pure."""

from enum import StrEnum
from typing import Any, Final

from tui.core.language.translate import N_


class ChangeEffect(StrEnum):
    """The effect of a change on callers and models."""

    COSMETIC = N_("cosmetic")
    """No caller and no model notices it."""
    COMPATIBLE = N_("compatible")
    ROUTING = N_("routing")
    """A text or name by which the model chooses: no call fails, but the model may call something else."""
    BREAKING = N_("breaking")
    SUSPICIOUS = N_("suspicious")


ORDER: Final = tuple(ChangeEffect)
"""From harmless to harmful."""

ABSENT: Final[Any] = object()
"""Stands for a missing value; null is a value."""


def is_harmless(effect: ChangeEffect) -> bool:
    """Return whether existing calls still work, and no text is suspicious."""
    return ORDER.index(effect) < ORDER.index(ChangeEffect.BREAKING)
