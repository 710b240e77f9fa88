"""Tells whether a text has enough invisible characters to encode something. Pure, linear."""

import re

from tui.core.hidden_text.readable import hidden_runs

LONG_RUN = 4
"""Invisible characters in a row that are not a typing mistake."""

MANY = 8
"""Invisible characters in a text that can encode something: one letter in bits."""

_CONCEAL = re.compile("(?:\x1b\\[|\x9b)(?:[0-9;:]{0,32}[;:])?0?8m")


_HONEST = re.compile(
    "(?<=\\w)\u00ad(?=\\w)"  # where a word may be hyphenated
    "|(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b(?=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])"
    "|(?<=[\u1820-\u1878\u1880-\u18aa])[\u180b-\u180f]"
    "|(?<=[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])\ufe0e"
    "|(?<=[\u3001-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff])"
    "[\ufe00-\ufe02\U000e0100-\U000e0103]"
)
"""Matches single invisible characters that a script or a font uses."""


def is_text(text: str) -> bool:
    """Return whether a text has enough invisible characters to encode something."""
    runs = [end - start for start, end in hidden_runs(_HONEST.sub("", text))]
    return max(runs, default=0) >= LONG_RUN or sum(runs) >= MANY


def is_concealed(text: str) -> bool:
    """Return whether a text contains the escape sequence that makes a terminal hide what follows."""
    return bool(_CONCEAL.search(text))
