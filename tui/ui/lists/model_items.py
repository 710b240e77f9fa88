"""The rows of models that can be asked, and of those that an endpoint offers. Pure."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlsplit

from tui.core import units
from tui.core.ports import ModelChoice
from tui.core.text import clean_line
from tui.ui.lists.items import Item
from tui.ui.widgets.rows import Row, pad, spread, wrap
from tui.ui.widgets.symbols import Symbols

NAME_CELLS = 18
OFFLINE = "offline"


def fits(choice: ModelChoice, text: str) -> bool:
    """Return whether a choice has every word of `text` in it."""
    said = " ".join((choice.name, choice.model, choice.where, choice.source, *choice.facts)).casefold()
    return all(word in said for word in text.casefold().split())


def choice_item(choice: ModelChoice, symbols: Symbols) -> Item:
    """Return the rows of a model: name and model; under them what is known of it."""
    return Item(choice.name, partial(_choice_rows, choice, symbols))


def _choice_rows(choice: ModelChoice, symbols: Symbols, width: int) -> Sequence[Row]:
    sign: Row = ((f"{symbols.running} ", "accent"),) if choice.current else (("  ", ""),)
    if choice.problem:
        sign = ((f"{symbols.failed} ", "bad"),)
    name = pad(((clean_line(choice.name, 60), "text bold"),), NAME_CELLS)
    right = "asked now " if choice.current else f"{clean_line(choice.source, 40)} "
    left: Row = (*sign, *name, ("  ", ""), (clean_line(choice.model, 120), "text"))
    rows = [spread(left, ((right, "accent" if choice.current else "dim"),), width, gap=2)]
    edge: Row = (("  ", ""),)
    if choice.problem:
        rows += wrap(((clean_line(choice.problem, 400), "bad"),), width, first=edge, rest=edge)
    joint = f" {symbols.separator} "
    return [*rows, *wrap(((joint.join(facts_of(choice)), "dim"),), width, first=edge, rest=edge)]


def facts_of(choice: ModelChoice) -> list[str]:
    """Return what is known of a model, a few words each: where it runs, its window, what was learned."""
    facts = [_host(choice.where)] if choice.where else []
    if choice.window:
        facts.append(f"window {units.count(choice.window)} tokens")
    elif choice.where != OFFLINE:
        facts.append("window unknown")
    return [*facts, *(clean_line(fact, 80) for fact in choice.facts)]


def _host(where: str) -> str:
    """Return the part of an address that tells one endpoint from another."""
    try:
        host = urlsplit(where).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return clean_line(host or where, 80)


def id_item(model: str, *, current: bool, symbols: Symbols) -> Item:
    """Return the row of a model that an endpoint offers."""
    sign = f"{symbols.running} " if current else "  "
    return Item(model, lambda width: [((sign, "accent"), (clean_line(model, 200), "text"))])


def free_item(text: str) -> Item:
    """Return the row that takes what was typed as the id of a model."""
    row: Row = (("  use ", "dim"), (f"“{clean_line(text, 200)}”", "accent"), (" as the model's id", "dim"))
    return Item(text, lambda width: [row])
