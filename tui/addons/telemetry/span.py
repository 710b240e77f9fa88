"""A span, and a session with a server, as OpenTelemetry sees them. Values only."""

import hashlib
import re
from dataclasses import dataclass, field

Value = str | bool | int | float | list[str]
"""The value of an attribute."""

Attributes = dict[str, Value]

Session = tuple[float, Attributes]
"""The seconds and attributes of a session with a server, which has ended."""

_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")


@dataclass(slots=True)
class Span:
    """One span.

    Attributes:
        trace, id, parent: in hex; no parent is "", as is a trace that is not known yet.
        kind: as in `conventions`.
        start_ns, end_ns: nanoseconds since 1970.
        error: `error.type`, or "".
        message: words about the error, or "".
        link: another span of its trace that led to it, or "".
    """

    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: Attributes = field(default_factory=dict)
    error: str = ""
    message: str = ""
    link: str = ""

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9


def made_id(digits: int, *parts: object) -> str:
    """Return an id that is the same whenever the same traffic is exported."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:digits]


def parsed_context(traceparent: object) -> tuple[str, str]:
    """Return trace and span of a W3C `traceparent`, twice "" if it is invalid."""
    found = _TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    return (found[1], found[2]) if found else ("", "")
