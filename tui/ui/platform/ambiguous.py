"""Signs whose width terminals do not agree on: one cell, or two, as in many terminals set up for Chinese.

Unicode calls the width of `·`, `…`, `─` or `●` ambiguous. Textual counts one cell; if the terminal takes two,
the rest of the row is shifted. So the terminal is asked, and gets similar signs of one cell. Letters with an
ambiguous width, Greek and Cyrillic, stay: they have no substitute.
"""

import unicodedata

from textual.geometry import Offset

PROBE = "\x1b[2;1H·\x1b[6n\x1b[2K\x1b[1;1H"
"""Writes a sign, asks where the cursor is, and erases the sign.

In the second row, because a terminal reports the first row like f3 with ctrl or shift.
"""

_ANSWERS = (Offset(1, 1), Offset(2, 1))
"""Positions that a terminal may report, for one and for two cells."""


def cells_at(position: Offset) -> int | None:
    """Return the cells that the sign of the probe took, by the reported position; None if it is no answer."""
    return _ANSWERS.index(position) + 1 if position in _ANSWERS else None


_SIMILAR = {
    **dict(zip("·•…–—―‖“”„‘’‚″´¨¯¸", '∙∗⋯---|"""\'\'\'"\'"-,', strict=True)),
    **dict(zip("●○◎◐◑★☆◆◇■□▣▲△▶▷▼▽◀◁", "*oo|/**ooooo^^>>vv<<", strict=True)),
    **dict(zip("→←↑↓⇒⇔↔↕×÷±°§¶†‡«»¬®©", "><^v>==|x/+∘SP+#<>-RC", strict=True)),
    **dict(zip("¹²³⁴₁₂₃₄½¼¾∞≈≠≡≤≥√∑∏∫", "12341234///8~!=<>VEPJ", strict=True)),
    "Δ": "d",
    "�": "?",
}
_HORIZONTAL, _VERTICAL = "─━┄┅┈┉╌╍═╴╶╸╺╼╾", "│┃┆┇┊┋╎╏║╵╷╹╻╽╿"


def _substitutes() -> dict[int, str]:
    lines = dict.fromkeys(range(0x2500, 0x2580), "+") | {ord("╱"): "/", ord("╲"): "\\", ord("╳"): "x"}
    lines |= dict.fromkeys(map(ord, _HORIZONTAL), "-") | dict.fromkeys(map(ord, _VERTICAL), "|")
    blocks = dict.fromkeys(range(0x2580, 0x25A0), "#") | dict.fromkeys(map(ord, "▏▎▍▌▐▕"), "|")
    every = lines | blocks | {ord(sign): similar for sign, similar in _SIMILAR.items()}
    return {code: to for code, to in every.items() if unicodedata.east_asian_width(chr(code)) == "A"}


class Substitutes:
    """Replaces the signs once the terminal is known to take two cells for them."""

    def __init__(self) -> None:
        self._table: dict[int, str] = {}

    def use(self, cells: int) -> bool:
        """Set the cells that the terminal takes; return whether that changes what is written."""
        changes = (cells == 2) != bool(self._table)
        if changes:
            self._table = _substitutes() if cells == 2 else {}
        return changes

    def of(self, text: str) -> str:
        """Return what to write for a text, in as many cells."""
        return text.translate(self._table) if self._table and not text.isascii() else text
