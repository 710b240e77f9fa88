"""The key that keeps a call: finds the call that is selected on a screen, and opens the dialog."""

from typing import Any


def keep(owner: Any) -> None:
    """Keep the selected call of a screen, or of the chat screen (`ChatParts`)."""
