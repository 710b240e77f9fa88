"""How a row of the tree looks, and what the rows are made of. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tui.core import units
from tui.core.jsonrpc import lazy_json
from tui.core.jsonrpc.lazy_json import Kind, Value
from tui.core.text import clean, clean_line
from tui.core.traffic import Redaction
from tui.ui.widgets import images
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.signs import Signs

OPEN_BYTES = 32 * 1024
"""Larger containers are neither unfolded by themselves nor told by their keys."""

LONG = 160
"""Bytes of a string beyond which it can be unfolded into lines."""

DEEPEST = 24
"""Indentation grows no further."""


@dataclass(slots=True, eq=False)
class Node:
    """A row of the tree.

    Attributes:
        value: where it stands in `data`; None for a line of text or a remark.
        data: the document that it is in: the body, or a string of it that is JSON itself.
        depth: how far it is indented.
        parent: the node that it is in.
        line: what stands in a row without a value.
        is_open: it is unfolded.
    """

    value: Value | None
    data: bytes = b""
    depth: int = 0
    parent: "Node | None" = None
    line: Row = field(default=EMPTY)
    is_open: bool = False


def folds(node: Node) -> bool:
    """Return whether a row can be folded or unfolded."""
    value = node.value
    if value is None:
        return False
    if value.is_container:
        return value.size > 2
    if value.kind is Kind.STRING:
        if node.is_open or value.size > LONG or node.data[value.start + 1] in b"{[":
            return value.size > 4
        is_image = value.size > images.LEAST and images.ending(encoded(node, images.HEAD)) in images.PICTURES
        return is_image or b"\\n" in node.data[value.start : value.end]
    return value.kind is Kind.MORE


def encoded(node: Node, size: int) -> bytes:
    """Return the first `size` bytes of a string as it is written."""
    assert node.value is not None
    return node.data[node.value.start + 1 : min(node.value.start + 1 + size, node.value.end - 1)]


class TreeLook:
    """Draws rows.

    Args:
        data: the body.
        redactions: where secrets stood in it.
        signs: what the terminal can show.
    """

    def __init__(self, data: bytes, redactions: Sequence[Redaction], signs: Signs) -> None:
        self._data = data
        self._redactions = redactions
        self._signs = signs

    def row(self, node: Node, width: int) -> Row:
        """Return the row of a node."""
        indent = " " * (2 * min(node.depth, DEEPEST))
        value = node.value
        if value is None:
            return ((indent, ""), *node.line) if node.depth else node.line
        if value.kind is Kind.MORE:
            return ((f"{indent}{self._signs.folded} ", "accent"), (f"more, from {value.position} on", "dim"))
        sign = (self._signs.unfolded if node.is_open else self._signs.folded) if folds(node) else " "
        return ((f"{indent}{sign} ", "dim"), *_key(node), *self._told(node, width))

    def _told(self, node: Node, width: int) -> Row:
        value = node.value
        assert value is not None
        hidden = self._hidden(node)
        if value.is_container:
            row: Row = ((_summary(node), "dim"),)
        elif value.kind is Kind.STRING:
            row = _string(node, width)
        else:
            word = clean_line(lazy_json.text(node.data, value, 200))
            row = ((word, "dim" if word == "null" else "warn" if word in ("true", "false") else "model"),)
        if hidden:
            row = (*row, (f"  hidden: {hidden}", "warn"))
        return (*row, ("  cut off here", "warn")) if value.is_cut else row

    def _hidden(self, node: Node) -> str:
        value = node.value
        if value is None or value.is_container or node.data is not self._data:
            return ""
        found = [one for one in self._redactions if one.start < value.end and one.end > value.start]
        return ", ".join(clean_line(one.name, 40) for one in found)


def _key(node: Node) -> Row:
    value, parent = node.value, node.parent
    if value is None or parent is None or parent.value is None:
        return ()
    if parent.value.kind is Kind.OBJECT:
        return ((clean_line(value.key, 80) or '""', "tool"), ("  ", ""))
    return ((f"{value.position}", "dim"), ("  ", "")) if parent.value.kind is Kind.ARRAY else ()


def _summary(node: Node) -> str:
    value = node.value
    assert value is not None
    brackets = "{}" if value.kind is Kind.OBJECT else "[]"
    if value.size <= 2:
        return brackets
    if node.is_open:
        return ""
    words = units.size(value.size)
    if value.size > OPEN_BYTES:
        return f"{brackets}  {words}"
    found = lazy_json.members(node.data, value)
    if value.kind is Kind.ARRAY:
        return f"{units.plural(len(found), 'item')}, {words}"
    keys = ", ".join(clean_line(one.key, 30) for one in found[:6])
    return f"{keys}{', …' if len(found) > 6 else ''}"


def _string(node: Node, width: int) -> Row:
    value = node.value
    assert value is not None
    if value.size > images.LEAST and (image := images.look(encoded(node, images.HEAD))):
        return ((f"{image}, {units.size(value.size * 3 / 4)}", "model"), ("   w saves it", "dim"))
    shown = lazy_json.text(node.data, value, min(2000, max(LONG, width)))
    line = clean(shown).replace("\n", "⏎").replace("\t", "⇥")
    note = f"  {units.size(value.size)}" if value.size > LONG * 2 else ""
    return ((f'"{line}"' if not note else f'"{line[: max(20, width - 30)]}…', "text"), (note, "dim"))
