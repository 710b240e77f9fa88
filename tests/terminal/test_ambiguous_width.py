"""Signs whose width is ambiguous, in a terminal that takes two cells for them."""

from unicodedata import east_asian_width

from tests.terminal.pty_app import TerminalApp
from tui.ui.platform.ambiguous import PROBE

F1 = "\x1bOP"
TWO_CELLS = "\x1b[2;5R"
"""Where the cursor is after the probe, whose sign took two cells and whose letters took one."""


def ambiguous(text: str) -> set[str]:
    return {sign for sign in text if east_asian_width(sign) == "A"}


def test_a_terminal_that_takes_two_cells_gets_no_sign_that_shifts_a_row(calm: TerminalApp) -> None:
    assert PROBE.encode() in bytes(calm.raw)
    assert ambiguous(calm.text)
    calm.send(TWO_CELLS)
    calm.until(lambda: not ambiguous(calm.text))
    calm.send(F1)
    calm.shows("Send, or queue")
    calm.settled()
    assert not ambiguous(calm.text)
