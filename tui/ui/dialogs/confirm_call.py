"""One question before the first call of a tool that may destroy something."""

from tui.ui.dialogs.confirm import Confirm


class ConfirmCall(Confirm):
    """Gives whether the call may be made.

    Args:
        warning: what the server says, cleaned.
        asked: with what it would be called, cleaned.
    """

    def __init__(self, warning: str, asked: str) -> None:
        super().__init__(warning, yes="call it, and do not ask again here", no="do not", about=asked)
