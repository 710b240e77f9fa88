"""redact(): the one gate for secrets on their way into a trace, a log, an export or a screen."""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

from tui.core.redact_bytes import BytesRedactor
from tui.core.traffic import Redaction

MIN_SECRET = 8
"""A configured value shorter than this is not looked for: it would match ordinary text."""

_PATTERNS = re.compile(
    r"""
    (?P<key>\bsk-[A-Za-z0-9_-]{16,})
  | (?P<github>\bgh[pousr]_[A-Za-z0-9]{20,})
  | (?P<slack>\bxox[abposr]-[A-Za-z0-9-]{10,})
  | (?P<aws>\bAKIA[0-9A-Z]{16}\b)
  | (?P<jwt>\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,})
  | (?P<pem>-----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----
      (?:[^-]|-(?!----))*(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----)?)
  | (?<=[Bb]earer[ ])(?P<bearer>[A-Za-z0-9._~+/=-]{12,})
    """,
    re.VERBOSE,
)


class Secret:
    """A value that must not be seen: its repr and str are `***`, `reveal()` gives it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value itself, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


class Redactor:
    """Replaces configured secrets and known patterns by `[redacted:NAME]`."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        names: dict[str, str] = {}
        for name, value in (secrets or {}).items():
            if len(value) >= MIN_SECRET:
                for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
                    names.setdefault(form, name)
        self._names = names
        longest_first = sorted(names, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if names else None
        self._bytes = BytesRedactor(
            {name: value for name, value in (secrets or {}).items() if len(value) >= MIN_SECRET}
        )

    def redact(self, text: str) -> str:
        """Return `text` with every secret replaced by a mark that names it, never its value."""
        if self._known is not None:
            text = self._known.sub(lambda found: f"[redacted:{self._names[found.group()]}]", text)
        return _PATTERNS.sub(lambda found: f"[redacted:{found.lastgroup}]", text)

    def redact_bytes(self, raw: bytes) -> tuple[bytes, tuple[Redaction, ...]]:
        """Return bytes with every secret replaced, and where the marks stand; all else is as it was.

        Finds configured values also escaped for JSON, for a URL, in base64 and in mixtures of these.
        """
        return self._bytes.redact(raw)
