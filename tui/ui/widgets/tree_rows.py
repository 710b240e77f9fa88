"""The rows of a tree: how they are drawn, and the pictures of images. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from tui.core import units
from tui.core.jsonrpc.skimmer import JsonKind, JsonValue, child_values, value_text
from tui.core.text import clean, clean_line
from tui.core.traffic import Redaction
from tui.ui.widgets import pictures
from tui.ui.widgets.page import WantedPicture
from tui.ui.widgets.pictures import Picture
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import Symbols

OPEN_BYTES = 32 * 1024
"""Larger containers are not unfolded at first, and not summarized by their keys."""

LONG = 160
"""Minimum bytes of a string that can be unfolded into lines."""

DEEPEST = 24
"""Maximum indentation level."""


@dataclass(slots=True, eq=False)
class Node:
    """A row of the tree.

    Attributes:
        value: the value in `data`; None for a line of text or a remark.
        data: the document: the body, or a string in it that is JSON itself.
    """

    value: JsonValue | None
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
    if value.kind is JsonKind.STRING:
        if node.is_open or value.size > LONG or node.data[value.start + 1] in b"{[":
            return value.size > 4
        is_image = (
            value.size > pictures.LEAST and pictures.ending(encoded(node, pictures.HEAD)) in pictures.PICTURES
        )
        return is_image or b"\\n" in node.data[value.start : value.end]
    return value.kind is JsonKind.MORE


def encoded(node: Node, size: int) -> bytes:
    """Return the first `size` bytes of a string, with escapes unresolved."""
    assert node.value is not None
    return node.data[node.value.start + 1 : min(node.value.start + 1 + size, node.value.end - 1)]


class TreeLook:
    """Draws rows."""

    def __init__(self, data: bytes, redactions: Sequence[Redaction], symbols: Symbols) -> None:
        self._data = data
        self._redactions = redactions
        self._symbols = symbols

    def row(self, node: Node, width: int) -> Row:
        indent = " " * (2 * min(node.depth, DEEPEST))
        value = node.value
        if value is None:
            return ((indent, ""), *node.line) if node.depth else node.line
        if value.kind is JsonKind.MORE:
            return (
                (f"{indent}{self._symbols.folded} ", "accent"),
                (f"more, starting at {value.position}", "dim"),
            )
        sign = (self._symbols.unfolded if node.is_open else self._symbols.folded) if folds(node) else " "
        return ((f"{indent}{sign} ", "dim"), *_key(node), *self._value(node, width))

    def _value(self, node: Node, width: int) -> Row:
        value = node.value
        assert value is not None
        hidden = self._hidden(node)
        if value.is_container:
            row: Row = ((_summary(node), "dim"),)
        elif value.kind is JsonKind.STRING:
            row = _string(node, width)
        else:
            word = clean_line(value_text(node.data, value, 200))
            row = ((word, "dim" if word == "null" else "warn" if word in ("true", "false") else "model"),)
        if hidden:
            row = (*row, (f"  hidden: {hidden}", "warn"))
        return (*row, ("  truncated", "warn")) if value.is_cut else row

    def _hidden(self, node: Node) -> str:
        value = node.value
        if value is None or value.is_container or node.data is not self._data:
            return ""
        found = [each for each in self._redactions if each.start < value.end and each.end > value.start]
        return ", ".join(clean_line(each.name, 40) for each in found)


def _key(node: Node) -> Row:
    value, parent = node.value, node.parent
    if value is None or parent is None or parent.value is None:
        return ()
    if parent.value.kind is JsonKind.OBJECT:
        return ((clean_line(value.key, 80) or '""', "tool"), ("  ", ""))
    return ((f"{value.position}", "dim"), ("  ", "")) if parent.value.kind is JsonKind.ARRAY else ()


def _summary(node: Node) -> str:
    value = node.value
    assert value is not None
    brackets = "{}" if value.kind is JsonKind.OBJECT else "[]"
    if value.size <= 2:
        return brackets
    if node.is_open:
        return ""
    words = units.size(value.size)
    if value.size > OPEN_BYTES:
        return f"{brackets}  {words}"
    found = child_values(node.data, value)
    if value.kind is JsonKind.ARRAY:
        return f"{units.plural(len(found), 'item')}, {words}"
    keys = ", ".join(clean_line(child.key, 30) for child in found[:6])
    return f"{keys}{', …' if len(found) > 6 else ''}"


def _string(node: Node, width: int) -> Row:
    value = node.value
    assert value is not None
    if value.size > pictures.LEAST and (image := pictures.look(encoded(node, pictures.HEAD))):
        return ((f"{image}, {units.size(value.size * 3 / 4)}", "model"), ("   w saves it", "dim"))
    shown = value_text(node.data, value, min(2000, max(LONG, width)))
    line = clean(shown).replace("\n", "⏎").replace("\t", "⇥")
    note = f"  {units.size(value.size)}" if value.size > LONG * 2 else ""
    return ((f'"{line}"' if not note else f'"{line[: max(20, width - 30)]}…', "text"), (note, "dim"))


FIRST = 3
"""Number of pictures that are unfolded at first."""


class TreePictures:
    """The images of a tree. Before `begin`, they are shown as strings."""

    def __init__(self, nodes: Sequence[Node], unfold: Callable[[Node, list[Node]], None]) -> None:
        self._nodes = nodes
        self._unfold = unfold
        self._width = 80
        self._shows = False
        self._queue: list[Node] = []
        self._known: dict[Node, Picture | str] = {}

    def begin(self) -> None:
        if self._shows:
            return
        self._shows = True
        found = [node for node in self._nodes if self.is_picture(node) and not node.is_open]
        for node in found[:FIRST]:
            self._unfold(node, self.rows_of(node))

    def is_picture(self, node: Node | None) -> bool:
        if node is None or not self._shows or node.value is None or node.value.kind is not JsonKind.STRING:
            return False
        return pictures.ending(encoded(node, pictures.HEAD)) in pictures.PICTURES

    def rows_of(self, node: Node) -> list[Node]:
        """Return the children of an image: its picture, an error, or a note that it is being decoded."""
        known = self._known.get(node)
        if known is None and node not in self._queue:
            self._queue.append(node)
        lines = pictures.picture_rows(known, self._width - _indent(node))
        return [Node(None, depth=node.depth + 1, parent=node, line=line) for line in lines]

    def wanted(self) -> WantedPicture | None:
        while self._queue:
            node = self._queue[0]
            if node.value is not None and node.is_open and node in self._nodes:
                return WantedPicture(partial(_encoded, node), _indent(node), partial(self._put, node))
            del self._queue[0]
        return None

    def _put(self, node: Node, found: Picture | str) -> None:
        self._known[node] = found
        if node in self._queue:
            self._queue.remove(node)
        if node.is_open and node in self._nodes:
            self._unfold(node, self.rows_of(node))

    def again(self) -> None:
        self._queue += [
            node
            for node, known in self._known.items()
            if isinstance(known, Picture) and known.is_reduced and node not in self._queue
        ]

    def fit(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        for node in self._known:
            if node.is_open and node in self._nodes:
                self._unfold(node, self.rows_of(node))


def _encoded(node: Node) -> bytes:
    return pictures.base64_of(encoded(node, node.value.size)) if node.value is not None else b""


def _indent(node: Node) -> int:
    return 2 * min(node.depth + 1, DEEPEST)
