"""What makes a text of a server suspicious when it is new. Pure."""

import re

from tui.core.text import clean

MAX_READ = 64 * 1024
"""Characters that are read of a text; no honest description has more."""

_IMPERATIVE = re.compile(
    r"<\s*(?:important|secret|system|instructions?)\b"
    r"|\b(?:do not|don't|never|without)\s+(?:mention|tell|inform|telling|informing|mentioning|reveal)"
    r"|\bignore\s+(?:all\s+|any\s+)?(?:the\s+)?(?:previous|prior|other|above|earlier)\b"
    r"|\b(?:before|instead of|after)\s+(?:using|calling|running)\s+(?:any|the|all|every)\s+other\b"
    r"|\b(?:important|note to (?:the )?(?:model|assistant))\s*:?\s+(?:you must|first|always|before)\b"
    r"|~?/\.(?:ssh|aws|gnupg|netrc|env)\b|\bid_(?:rsa|ed25519)\b",
    re.IGNORECASE,
)


def suspicion(text: str) -> str:
    """Return what is suspicious about a text, in a few words, or ""."""
    head = text[:MAX_READ]
    if clean(head.replace("\t", " ").replace("\r", "")) != head.replace("\t", " ").replace("\r", ""):
        return "invisible or control characters"
    if _IMPERATIVE.search(head):
        return "tells the model what to do or to hide"
    if len(text) > MAX_READ:
        return "longer than a description"
    return ""
