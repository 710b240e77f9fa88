"""Signs whose width terminals do not agree on: one cell, or two, as in many terminals set up for Chinese.

Unicode calls the width of `·`, `…`, `─` or `●` ambiguous. Textual counts one cell; if the terminal takes two,
the rest of the row is shifted. So the terminal is asked, and gets similar signs of one cell. What has no
substitute is counted as two cells: Greek and Cyrillic letters, some accented ones, and numbers such as `①`.
"""

import unicodedata
from itertools import chain
from typing import Any

import rich.cells
from textual.geometry import Offset

PROBE = "\x1b[2;1H·яя\x1b[6n\x1b[2K\x1b[1;1H"
"""Writes a sign and twice a letter, asks where the cursor is, and erases them.

In the second row, because a terminal reports the first row like f3 with ctrl or shift.
"""

_ANSWERS = {Offset(sign + 2 * letter, 1): (sign, letter) for sign in (1, 2) for letter in (1, 2)}


def cells_at(position: Offset) -> tuple[int, int] | None:
    """Return the cells of a sign and of a letter, by the position that a terminal reports after the probe.

    None if it is no answer.
    """
    return _ANSWERS.get(position)


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

    def use(self, cells: int, letter: int) -> bool:
        """Set the cells that the terminal takes for a sign and a letter; return whether that is new."""
        changes = (cells == 2) != bool(self._table)
        if changes:
            self._table = _substitutes() if cells == 2 else {}
        return _count_letters(letter == 2) or changes

    def of(self, text: str) -> str:
        """Return what to write for a text, in as many cells."""
        return text.translate(self._table) if self._table and not text.isascii() else text


_load_table: Any = getattr(rich.cells, "load_cell_table")  # noqa: B009
_is_narrow = rich.cells._is_single_cell_widths


def _count_letters(wide: bool) -> bool:
    """Count letters and numbers with an ambiguous width as two cells, or one; return whether that is new."""
    if wide == (rich.cells._is_single_cell_widths is not _is_narrow):
        return False
    table, narrow = _load_table(), _is_narrow
    if wide:
        replaced = _substitutes()
        found = [
            code for code in chain(range(0xA0, 0x3300), range(0x1F100, 0x1F1B0)) if _is_wide(code, replaced)
        ]
        table = table._replace(widths=sorted([*table.widths, *((code, code, 2) for code in found)]))
        narrow = rich.cells._SINGLE_CELLS.difference(map(chr, found)).issuperset
    setattr(rich.cells, "load_cell_table", lambda version="auto": table)  # noqa: B010
    rich.cells._is_single_cell_widths = narrow
    for cached in (rich.cells.get_character_cell_size, rich.cells.cached_cell_len):
        cached.cache_clear()
    return True


def _is_wide(code: int, replaced: dict[int, str]) -> bool:
    sign = chr(code)
    is_ambiguous = unicodedata.east_asian_width(sign) == "A" and unicodedata.category(sign)[0] in "LNS"
    return is_ambiguous and code not in replaced and rich.cells.get_character_cell_size(sign) == 1
