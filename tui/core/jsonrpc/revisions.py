"""The released revisions of MCP, and the two eras that they belong to."""

MODERN = "2026-07-28"
"""The first revision without a handshake: every request names its revision, and servers send no requests."""

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
"""Every released revision, the oldest first."""

BATCHES = "2025-03-26"
"""The only revision with JSON-RPC batches."""


def is_modern(revision: str) -> bool:
    """Return whether a revision belongs to the era without a handshake; False if it was never released."""
    return revision >= MODERN and revision in REVISIONS
