"""What a server says of a tool, a resource or a prompt, as the rows over its form. Pure."""

from collections.abc import Iterator

from tui.core import units
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.workbench import ResourceInfo
from tui.ui.widgets.rows import Row, wrap
from tui.ui.workbench.items import PINNED, Item
from tui.ui.workbench.overview import prose

FOLDED_ROWS = 4
"""So much of a description stands over a form; the rest unfolds."""


def about_rows(item: Item, columns: int, *, unfolded: bool, promise: bool) -> tuple[list[Row], str]:
    """Return the rows, and what the line that unfolds the rest says, "" if nothing is folded.

    Args:
        item: what it is about.
        columns: cells in a row.
        unfolded: the whole description is shown.
        promise: the tool has an output schema.
    """
    title = clean_line(item.about.title, 120)
    head: Row = ((f"  {item.label}", "text bold"),)
    if title and title != item.label:
        head = (*head, (f"   {title}", "dim"))
    rows = [head]
    hints = tuple(_hints(item, promise))
    if hints:
        row: list[tuple[str, str]] = [("  ", "")]
        for number, (words, style) in enumerate(hints):
            row += [(" · " if number else "", "dim"), (words, style)]
        rows.append(tuple(row))
    if item.mark:
        style = "dim" if item.mark == PINNED else "warn"
        rows += wrap(((f"For the model: {item.mark}", style),), max(8, columns - 2), first=(("  ", ""),))
    said = item.said.strip()
    if not said:
        return rows, ""
    lines = prose(said, columns, "  ")
    if unfolded or len(lines) <= FOLDED_ROWS + 1:
        return rows + lines, ""
    return rows + lines[:FOLDED_ROWS], f"… {units.plural(len(lines) - FOLDED_ROWS, 'more line')}"


def _hints(item: Item, promise: bool) -> Iterator[tuple[str, str]]:
    about = item.about
    match about:
        case Tool():
            said = list(_tool_hints(about))
            yield from said
            if said and not about.trusted:
                yield "so it says, and is not trusted", "warn"
            if promise:
                yield "structured results", "dim"
        case ResourceInfo():
            yield clean_line(about.uri, 400), "tool"
            if about.mime:
                yield clean_line(about.mime, 60), "dim"
            if about.size is not None:
                yield units.size(about.size), "dim"


def _tool_hints(tool: Tool) -> Iterator[tuple[str, str]]:
    if tool.read_only:
        yield "reads only", "ok"
    if tool.destructive:
        yield "! destructive", "warn"
    elif tool.destructive is False and not tool.read_only:
        yield "destroys nothing", "ok"
    if tool.idempotent:
        yield "twice is as once", "dim"
