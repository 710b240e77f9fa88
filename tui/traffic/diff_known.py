"""Values that differ from one run to the next and mean nothing: times, UUIDs, ids, durations. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

LONG_TEXT = 64 * 1024
"""Longer texts are compared as they are."""

Path = tuple[str | int, ...]


class Known(StrEnum):
    """A kind of value that is known to change."""

    TIME = "time"
    UUID = "uuid"
    ID = "id"
    DURATION = "duration"


_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_TIME = re.compile(
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b"
)
_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|milliseconds?)\b")
_PATTERNS = ((Known.UUID, _UUID), (Known.TIME, _TIME), (Known.DURATION, _DURATION))

_ID_KEYS = frozenset(
    {"id", "token", "cursor", "nextcursor", "requeststate", "etag", "nonce", "traceparent", "progresstoken"}
)
_TIME_KEYS = re.compile(r"(?:^|_)(?:time|timestamp|date|now|at)$|(?:Time|Timestamp|Date|At)$|^lastModified$")
_DURATION_KEYS = re.compile(
    r"(?:^|_)(?:ms|duration|elapsed|latency|seconds|took|uptime|ttl)$"
    r"|(?:Ms|Millis|Duration|Elapsed|Latency|Seconds|Uptime)$"
)


def is_known(path: Path, before: Any, after: Any, kinds: frozenset[Known]) -> bool:
    """Whether two different values differ only in what changes from run to run.

    Args:
        path: where they stand; the last name in it says whether a bare number is an id, time or duration.
        before: one value, neither object nor list.
        after: the other.
        kinds: what may change.
    """
    if isinstance(before, bool) or isinstance(after, bool):
        return False
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if Known.ID in kinds and _is_id(name) and _scalars(before, after):
        return True
    if isinstance(before, int | float) and isinstance(after, int | float):
        if Known.TIME in kinds and _TIME_KEYS.search(name) and min(before, after) > 1e8:
            return True
        return Known.DURATION in kinds and bool(_DURATION_KEYS.search(name))
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) <= LONG_TEXT:
        return _bare(before, kinds) == _bare(after, kinds)
    return False


def _is_id(name: str) -> bool:
    return name.lower() in _ID_KEYS or name.endswith(("Id", "ID", "_id", "-id", "Token", "_token"))


def _scalars(before: Any, after: Any) -> bool:
    return isinstance(before, str | int | float) and isinstance(after, str | int | float)


def _bare(text: str, kinds: frozenset[Known]) -> str:
    for kind, pattern in _PATTERNS:
        if kind in kinds:
            text = pattern.sub(f"<{kind}>", text)
    return text


@dataclass(frozen=True, slots=True)
class Masks:
    """What a comparison passes over.

    Attributes:
        paths: patterns of paths as `path_text` writes them; `*` is (part of) a step, `**` any number.
        kinds: kinds of values that are known to change.
    """

    paths: tuple[str, ...] = ()
    kinds: frozenset[Known] = frozenset()

    def hides(self, path: Path) -> bool:
        """Whether everything at this path and below is passed over."""
        if not self.paths:
            return False
        text = path_text(path)
        return any(_pattern(glob).fullmatch(text) for glob in self.paths)


RUN_TO_RUN = Masks(kinds=frozenset(Known))
"""Passes over all that is known to change from one run to the next."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def path_text(path: Path) -> str:
    """Return a path as text: `result.content[0].text`, `params["a name"]`; "" for the whole value."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{quoted}"]')
    return "".join(parts)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """Return what a pattern of paths matches; `**` also nothing, with the dot behind or before it."""
    made = ""
    for piece in re.findall(r"\*\*\.?|\*|\[\*\]|[^*]", glob):
        made += {"**.": r"(?:.*[.\]])?", "**": ".*", "*": r"[^.\[\]]*", "[*]": r"\[\d+\]"}.get(
            piece
        ) or re.escape(piece)
    return re.compile(made, re.DOTALL)
