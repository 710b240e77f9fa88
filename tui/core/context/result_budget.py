"""How much the results of one reply's calls may tell the model, shared out as they come. Pure."""

from collections.abc import Sequence

from tui.core.conversation.conversation import Attachment

RESULT_SHARE = 0.1
"""The share of the model's window that one result may take."""

BATCH_SHARE = 0.6
"""The share that all results of one reply may take together."""

UNKNOWN_WINDOW = 128_000
"""Tokens that a model is taken to read if nobody has said it."""

BYTES_PER_TOKEN = 3
"""Fewer than English text has, as many as Chinese; see `tokens.estimate`."""

MIN_BYTES = 256
PICTURE_BYTES = 4_500
"""What a picture takes of the window, counted as text."""


class Ration:
    """The rations of one reply.

    Each result may take its share of what is left for the batch; what it does not need is left to those
    that follow, so the order in which calls end does not let one of them starve.
    """

    def __init__(self, result_bytes: int, window: int | None, calls: int) -> None:
        """Take what one result may have at most, in bytes, the window in tokens, and how many will come."""
        tokens = window or UNKNOWN_WINDOW
        self._each = min(result_bytes, result_room(tokens))
        self._left = int(tokens * BATCH_SHARE) * BYTES_PER_TOKEN
        self._calls = calls

    def limit(self) -> int:
        """Return how many bytes the next result may have."""
        return max(MIN_BYTES, min(self._each, self._left // max(1, self._calls)))

    def take(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Count a result that was told."""
        self._left -= len(text.encode("utf-8", "replace")) + PICTURE_BYTES * len(attachments)
        self._calls -= 1


def result_room(window: int) -> int:
    """Return how many bytes one result may have in a window of so many tokens."""
    return max(MIN_BYTES, int(window * RESULT_SHARE) * BYTES_PER_TOKEN)
