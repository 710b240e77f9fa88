"""Makes the hidden characters of a command line visible, so that the user sees all of it. Pure."""

import re
import unicodedata
from itertools import groupby

from tui.core.hidden_text.readable import in_numbers

_SPACES = re.compile(" {5,}")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159"
)
"""Letters and marks that are not visible."""


def visible(text: str) -> str:
    """Return `text` with hidden characters as code points, `[U+200B ×2]`, and runs of spaces as a count.

    Unlike in other texts, line ends and unusual blanks are made visible too.
    """
    if text.isascii() and text.isprintable():
        return _counted(text)
    runs = ((hidden, "".join(run)) for hidden, run in groupby(text, is_hidden))
    return _counted("".join(in_numbers(run) if hidden else run for hidden, run in runs))


def is_hidden(char: str) -> bool:
    """Return whether a character is invisible, or looks like a space without being one."""
    if char == " ":
        return False
    kind = unicodedata.category(char)
    is_selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return kind in _HIDDEN or kind == "Zs" or char in _BLANK or is_selector


def has_hidden(text: str) -> bool:
    """Return whether any character of a text is hidden."""
    return not (text.isascii() and text.isprintable()) and any(map(is_hidden, text))


def _counted(text: str) -> str:
    return _SPACES.sub(lambda found: f"[{len(found[0])} blanks]", text) if "     " in text else text
