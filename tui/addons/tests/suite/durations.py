"""Durations as a suite writes them: "800ms", "2s", "1m". Pure."""

import re

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s?(ms|s|m)", re.ASCII)
_WRITTEN = re.compile(r"\d+(?:\.\d+)?\s?(?:ms|s|m)", re.ASCII)
_MS = {"ms": 1.0, "s": 1_000.0, "m": 60_000.0}
MAX_MS = 86_400_000.0


def milliseconds(text: str) -> float | None:
    """Return a duration in milliseconds, or None if it is not one, is 0 or is more than a day."""
    if (found := _DURATION.fullmatch(text.strip())) is None:
        return None
    ms = float(found[1]) * _MS[found[2]]
    return ms if 0 < ms <= MAX_MS else None


def is_duration(text: str) -> bool:
    """Return whether a text is written as a duration, of any length."""
    return _WRITTEN.fullmatch(text.strip()) is not None


def duration_text(ms: float) -> str:
    """Return milliseconds as the shortest exact duration."""
    for unit in ("m", "s"):
        if ms >= _MS[unit] and ms % _MS[unit] == 0:
            return f"{ms / _MS[unit]:.0f}{unit}"
    return f"{f'{ms:.3f}'.rstrip('0').rstrip('.')}ms"
