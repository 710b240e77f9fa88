"""Whether characters without a shape are enough to be a text of their own. Pure, linear."""

import re

from tui.core.hidden_text.readable import hidden_runs

LONG_RUN = 4
"""Invisible characters in a row that are no slip of a keyboard."""

MANY = 8
"""Invisible characters of a text that can spell something: a letter in bits."""

_CONCEAL = re.compile("(?:\x1b\\[|\x9b)(?:[0-9;:]{0,32}[;:])?0?8m")


_HONEST = re.compile(
    "(?<=\\w)\u00ad(?=\\w)"  # where a word may be divided
    "|(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b(?=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])"
    "|(?<=[\u1820-\u1878\u1880-\u18aa])[\u180b-\u180f]"
    "|(?<=[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])\ufe0e"
    "|(?<=[\u3001-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff])"
    "[\ufe00-\ufe02\U000e0100-\U000e0103]"
)
"""Single ones that a script or a font has a use for."""


def is_text(text: str) -> bool:
    """Return whether the invisible characters of a text are many enough to say something."""
    runs = [end - start for start, end in hidden_runs(_HONEST.sub("", text))]
    return max(runs, default=0) >= LONG_RUN or sum(runs) >= MANY


def is_concealed(text: str) -> bool:
    """Return whether a text has the escape sequence with which a terminal hides what follows."""
    return bool(_CONCEAL.search(text))
