"""The rows of models, and of models that an endpoint offers. Pure."""

from collections.abc import Sequence
from functools import partial

from tui.core import units
from tui.core.ports import ModelChoice
from tui.core.text import clean_line
from tui.ui.lists.finder_list import FinderItem
from tui.ui.widgets.rows import Row, crop, pad, wrap
from tui.ui.widgets.symbols import Symbols

NAME_CELLS, WINDOW_CELLS, PRICE_CELLS, CAN_CELLS = 16, 8, 16, 29
WITH_CAPABILITIES = 90
"""Minimum number of columns for showing a model's capabilities."""

OFFLINE = "offline"


def fits(choice: ModelChoice, text: str) -> bool:
    """Return whether a model matches every word of `text`."""
    searchable = " ".join(
        (choice.name, choice.model, choice.where, choice.source, *choice.facts, *choice.learned)
    ).casefold()
    return all(word in searchable for word in text.casefold().split())


def choice_item(choice: ModelChoice, symbols: Symbols) -> FinderItem:
    """Return the rows of a model: its columns, then its problem and what was learned about it."""
    return FinderItem(choice.name, partial(_choice_rows, choice, symbols))


def _choice_rows(choice: ModelChoice, symbols: Symbols, width: int) -> Sequence[Row]:
    sign: Row = ((f"{symbols.running} ", "accent"),) if choice.current else (("  ", ""),)
    if choice.problem:
        sign = ((f"{symbols.failed} ", "bad"),)
    name, model = clean_line(choice.name, 60), clean_line(choice.model, 120)
    window = units.count(choice.window) if choice.window else ""
    price = "free" if choice.where == OFFLINE else choice.price
    can = ", ".join(clean_line(fact, 80) for fact in choice.facts)
    rows = [_columns((name, model, window, price, can), width, sign, ("text bold", "text", "text"))]
    edge: Row = (("  ", ""),)
    if choice.problem:
        rows += wrap(((clean_line(choice.problem, 400), "bad"),), width, first=edge, rest=edge)
    if choice.learned:
        learned = f" {symbols.separator} ".join(clean_line(fact, 80) for fact in choice.learned)
        rows += wrap((("learned  ", "dim"), (learned, "warn")), width, first=edge, rest=edge)
    return rows


def _columns(cells: Sequence[str], width: int, sign: Row, styles: Sequence[str]) -> Row:
    """Return a row of profile, model, window, price and capabilities, aligned with the other rows."""
    name, model, window, price, can = cells
    ends = f"{window:>{WINDOW_CELLS}}", f"{price:>{PRICE_CELLS}}"
    last = crop((("   ", ""), (can, "dim")), CAN_CELLS if width >= WITH_CAPABILITIES else 0)
    room = max(8, width - NAME_CELLS - 4 - WINDOW_CELLS - PRICE_CELLS - (CAN_CELLS if last else 0))
    return (
        *sign,
        *pad(crop(((name, styles[0]),), NAME_CELLS), NAME_CELLS + 2),
        *pad(crop(((model, styles[1]),), room), room),
        (ends[0], styles[2]),
        (ends[1], "dim"),
        *last,
    )


HEADINGS = FinderItem(
    "",
    lambda width: [
        _columns(("profile", "model", "window", "per M tokens", ""), width, (("  ", ""),), ("dim",) * 3)
    ],
)
"""The column headings."""


def id_item(model: str, *, current: bool, symbols: Symbols) -> FinderItem:
    """Return the row of a model that an endpoint offers."""
    sign = f"{symbols.running} " if current else "  "
    return FinderItem(model, lambda width: [((sign, "accent"), (clean_line(model, 200), "text"))])


def free_item(text: str) -> FinderItem:
    """Return the row that uses the typed text as a model id."""
    row: Row = (("  use ", "dim"), (f"“{clean_line(text, 200)}”", "accent"), (" as the model ID", "dim"))
    return FinderItem(text, lambda width: [row])
