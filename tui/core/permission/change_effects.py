"""The effects of a change of a definition, from harmless to harmful. Pure."""

from enum import StrEnum
from typing import Any, Final


class ChangeEffect(StrEnum):
    """The effect of a change on callers and models."""

    COSMETIC = "cosmetic"
    """No caller and no model notices it."""
    COMPATIBLE = "compatible"
    ROUTING = "routing"
    """A text or name by which the model chooses: no call fails, but the model may call something else."""
    BREAKING = "breaking"
    SUSPICIOUS = "suspicious"


ORDER: Final = tuple(ChangeEffect)
"""From harmless to harmful."""

ABSENT: Final[Any] = object()
"""Stands for a missing value; null is a value."""


def is_harmless(effect: ChangeEffect) -> bool:
    """Return whether existing calls still work, and no text is suspicious."""
    return ORDER.index(effect) < ORDER.index(ChangeEffect.BREAKING)
