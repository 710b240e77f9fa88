"""Tree: a JSON body as foldable rows, with pictures of images; only unfolded values are parsed."""

from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tui.core import units
from tui.core.attachments import PICTURES, described, extension, head_of, media_type
from tui.core.jsonrpc.reader import indented, json_within
from tui.core.jsonrpc.skimmer import JsonKind, JsonValue, child_values, root_value, value_text
from tui.core.language.translate import _, localized, n_
from tui.core.secrets.encodings import plain_base64
from tui.core.text import clean, clean_line, truncated
from tui.core.traffic import Redaction
from tui.ui.widgets.page import BytesSheet, Place, Work
from tui.ui.widgets.pictures import Image
from tui.ui.widgets.rows import EMPTY, Row, wrap
from tui.ui.widgets.symbols import symbols_for

LARGE = 512 * 1024
"""Minimum bytes of a container that is parsed in a thread."""

OPEN_ROWS = 60
"""Maximum rows to which a tree is unfolded when it opens."""

FEW_ROWS = 20
"""Maximum rows up to which containers over `OPEN_BYTES` are unfolded: a few large texts or images."""

MOST_PARSED = 32 * 1024 * 1024
"""Maximum bytes of large containers to parse for this, added up over the levels (measured: 20 ms)."""

TEXT_CHARS = 64 * 1024
"""Maximum characters of an unfolded string; the raw view shows all of it."""


OPEN_BYTES = 32 * 1024
"""Larger containers are not unfolded at first, and not summarized by their keys."""

LONG = 160
"""Minimum bytes of a string that can be unfolded into lines."""

LEAST = 60
"""A string of fewer bytes is not taken for base64."""

HEAD = 400
"""Number of characters to examine for this."""

JPEG_HEAD = 64 * 1024
"""Number of characters to examine for the dimensions of a JPEG, which follow the camera's metadata."""

DEEPEST = 24
"""Maximum indentation level."""


@dataclass(slots=True, eq=False)
class Node:
    """A row of the tree. `value` is None for a line of text or a remark."""

    value: JsonValue | None
    data: bytes = b""  # the document with the value: the body, or a string in it that is JSON itself
    depth: int = 0
    parent: "Node | None" = None
    line: Row = EMPTY
    is_open: bool = False
    image: Image | None = None


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
        return type_of(node) in PICTURES or b"\\n" in node.data[value.start : value.end]
    return value.kind is JsonKind.MORE


def string_of(node: Node, limit: int) -> str:
    """Return the first `limit` characters of a string, "" for any other row."""
    value = node.value
    return value_text(node.data, value, limit) if value and value.kind is JsonKind.STRING else ""


def type_of(node: Node) -> str:
    """Return the media type of a string of base64, "" for any other row.

    Most strings are text, and "// see above" is base64 too once its spaces are removed.
    """
    head = string_of(node, HEAD) if node.value is not None and node.value.size > LEAST else ""
    return "" if " " in head else media_type(head_of(head, HEAD))


def _key(node: Node) -> Row:
    value, parent = node.value, node.parent
    if value is None or parent is None or parent.value is None:
        return ()
    if parent.value.kind is JsonKind.OBJECT:
        return ((clean_line(value.key, 80) or '""', "tool"), ("  ", ""))
    return ((f"{value.position}", "dim"), ("  ", "")) if parent.value.kind is JsonKind.ARRAY else ()


def _summary(node: Node, value: JsonValue) -> str:
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
        return _(", ").join((n_("{n} item", "{n} items", len(found)), words))
    keys = ", ".join(clean_line(child.key, 30) for child in found[:6])
    return f"{keys}{', …' if len(found) > 6 else ''}"


def _string(node: Node, value: JsonValue, width: int) -> Row:
    if mime := type_of(node):
        head = string_of(node, JPEG_HEAD if mime == "image/jpeg" else HEAD)
        what = _(", ").join((localized(described(head)), units.size(value.size * 3 / 4)))
        return ((what, "model"), (f"   {_('w saves it')}", "dim"))
    shown = value_text(node.data, value, min(2000, max(LONG, width)))
    line = clean(shown).replace("\n", "⏎").replace("\t", "⇥")
    if value.size <= LONG * 2:
        return ((f'"{line}"', "text"),)
    return ((f'"{truncated(line, max(20, width - 30))}', "text"), (f"  {units.size(value.size)}", "dim"))


FIRST = 3
"""Number of pictures of a sheet that are unfolded at first."""


class Tree(BytesSheet):
    """A body as a tree, with the lines of `remarks` above it."""

    def __init__(
        self, data: bytes, redactions: Sequence[Redaction] = (), remarks: Sequence[Row] = ()
    ) -> None:
        super().__init__(data)
        self._redactions = redactions
        self._symbols = symbols_for()
        self.nodes: list[Node] = [Node(None, line=line) for line in remarks]
        self._width = 80
        self._shows_pictures = False
        root = root_value(data)
        self.is_json = root is not None
        self._first = len(self.nodes)
        self._root = Node(root, data, -1 if root is not None and root.is_container else 0)
        if root is not None and not root.is_container:
            self.nodes.append(self._root)
        self._open_at_first()

    def _open_at_first(self) -> None:
        """Unfold level by level while there is room. A root container has no row of its own."""
        level, parsed_bytes = [self._root], 0
        while level:
            deeper: list[Node] = []
            for node in level:
                value, is_root = node.value, node is self._root
                if value is None or not value.is_container:
                    continue
                is_large = value.size > OPEN_BYTES
                parsed_bytes += value.size if is_large else 0
                if not is_root and parsed_bytes > MOST_PARSED:
                    continue
                found = self._children(node)
                room = (FEW_ROWS if is_large else OPEN_ROWS) - len(self.nodes)
                if is_root or len(found) <= room:
                    self._insert(node, found)
                    deeper += found
            level = deeper

    def count(self) -> int:
        return len(self.nodes)

    def row(self, index: int, width: int) -> Row:
        node = self.nodes[index]
        indent = " " * (2 * min(node.depth, DEEPEST))
        value = node.value
        if value is None:
            return ((indent, ""), *node.line) if node.depth else node.line
        if value.kind is JsonKind.MORE:
            more = (_("more, starting at {position}", position=value.position), "dim")
            return ((indent, ""), (f"{self._symbols.folded} ", "accent aside"), more)
        sign = (self._symbols.unfolded if node.is_open else self._symbols.folded) if folds(node) else " "
        return ((indent, ""), (f"{sign} ", "dim aside"), *_key(node), *self._value_row(node, value, width))

    def _value_row(self, node: Node, value: JsonValue, width: int) -> Row:
        if value.is_container:
            row: Row = ((_summary(node, value), "dim"),)
        elif value.kind is JsonKind.STRING:
            row = _string(node, value, width)
        else:
            word = clean_line(value_text(node.data, value, 200))
            row = ((word, "dim" if word == "null" else "warn" if word in ("true", "false") else "model"),)
        redactions = self._redactions if node.data is self.data and not value.is_container else ()
        if found := [one for one in redactions if one.start < value.end and one.end > value.start]:
            names = ", ".join(clean_line(one.name, 40) for one in found)
            row = (*row, (f"  {_('hidden: {names}', names=names)}", "warn"))
        return (*row, (f"  {_('truncated')}", "warn")) if value.is_cut else row

    def fit(self, width: int) -> None:
        """Lay out pictures again. The pane crops rows, so unfolded texts stay unchanged."""
        if width != self._width:
            self._width = width
            for node in [node for node in self.nodes if node.is_open and node.image is not None]:
                self._show_image(node)

    def images(self, *, begin: bool = False) -> Sequence[Image]:
        if begin and not self._shows_pictures:
            self._shows_pictures = True
            found = [node for node in self.nodes if self._is_picture(node) and not node.is_open]
            for node in found[:FIRST]:
                self._show_image(node)
        return [node.image for node in self.nodes if node.is_open and node.image is not None]

    def _is_picture(self, node: Node) -> bool:
        return self._shows_pictures and type_of(node) in PICTURES

    def _show_image(self, node: Node) -> None:
        """Unfold an image into its picture, an error, or a note that it is being decoded."""
        indent = 2 * min(node.depth + 1, DEEPEST)

        def changed() -> None:
            if node.is_open and node in self.nodes:
                self._show_image(node)

        if node.image is None:
            node.image = Image(partial(string_of, node, len(node.data)), changed, indent)
        if node.is_open:
            self._fold(self.nodes.index(node))
        lines = node.image.rows(self._width - indent)
        self._insert(node, [Node(None, depth=node.depth + 1, parent=node, line=line) for line in lines])

    def toggle(self, index: int, width: int) -> Work | None:
        node = self.nodes[index]
        value = node.value

        def work() -> Callable[[], None]:
            found = self._children(node)
            return lambda: self._place(node, found) if node in self.nodes else None

        if value is None or not folds(node):
            return None
        if node.is_open:
            self._fold(index)
        elif self._is_picture(node):
            self._show_image(node)
        elif value.kind is JsonKind.STRING:
            self._insert(node, self._lines(node, width))
        elif value.size > LARGE:
            return work
        else:
            work()()
        return None

    def place(self, row: int) -> Place:
        """Return where a row's value begins in the body; its start for other rows."""
        node: Node | None = self.nodes[row] if row < len(self.nodes) else None
        while node is not None and (node.value is None or node.data is not self.data):
            node = node.parent
        return 0, node.value.start if node is not None and node.value is not None else 0

    def reveal(self, place: Place) -> int:
        """Unfold the containers around the byte at a place; return its row. Slow in a large body."""
        offset = place[1]
        at, node = self._first - 1, self._root
        while True:
            at = self._child_at(at, node.depth, offset)
            if at < 0:
                return at
            node = self.nodes[at]
            value = node.value
            if value is None or not (value.is_container or value.kind is JsonKind.MORE):
                return at
            if not node.is_open:
                self._place(node, self._children(node))
            if value.kind is JsonKind.MORE:
                at, node = at - 1, node.parent or self._root

    def _child_at(self, at: int, depth: int, offset: int) -> int:
        for index in range(at + 1, len(self.nodes)):
            node = self.nodes[index]
            if node.depth <= depth:
                return -1
            if node.value is not None and node.depth == depth + 1 and offset < node.value.end:
                return index
        return -1

    def _place(self, node: Node, found: list[Node]) -> None:
        if node.value is not None and node.value.kind is JsonKind.MORE:
            at = self.nodes.index(node)
            self.nodes[at : at + 1] = found
        else:
            self._insert(node, found)

    def _insert(self, node: Node, found: list[Node]) -> None:
        if node.is_open:
            return
        node.is_open = True
        at = self._first if node is self._root else self.nodes.index(node) + 1
        self.nodes[at:at] = found

    def _fold(self, index: int) -> None:
        node = self.nodes[index]
        end = index + 1
        while end < len(self.nodes) and self.nodes[end].depth > node.depth:
            end += 1
        del self.nodes[index + 1 : end]
        node.is_open = False

    def fold_all(self) -> None:
        """Fold every row. If all are folded, unfold as at the start."""
        is_folded = not any(node.is_open for node in self.nodes)
        del self.nodes[self._first :]
        self._root.is_open = False
        if is_folded or self._root.value is None or not self._root.value.is_container:
            self._open_at_first()
        else:
            self._insert(self._root, self._children(self._root))

    def _children(self, node: Node) -> list[Node]:
        parent: Node | None = node
        start, position = -1, 0
        if node.value is not None and node.value.kind is JsonKind.MORE:
            parent, start, position = node.parent, node.value.start, node.value.position
        assert parent is not None and parent.value is not None
        found = child_values(node.data, parent.value, start, position)
        return [Node(child, node.data, parent.depth + 1, parent) for child in found]

    def _lines(self, node: Node, width: int) -> list[Node]:
        """Return the children of a string: a tree if it is JSON, otherwise its lines."""
        value = node.value
        assert value is not None
        text = value_text(node.data, value, TEXT_CHARS)
        depth = node.depth + 1
        if json_within(text) is not None:
            data = text.encode("utf-8", "replace")
            return self._children(Node(root_value(data), data, depth - 1, node))
        room = max(20, width - 2 * min(depth, DEEPEST) - 3)
        lines = [
            Node(None, depth=depth, parent=node, line=row)
            for line in clean(text).split("\n")
            for row in wrap(((line.expandtabs(4), "text"),), room)
        ]
        if len(text) >= TEXT_CHARS:
            rest: Row = ((_("see the raw view for the rest"), "dim"),)
            lines.append(Node(None, depth=depth, parent=node, line=rest))
        return lines

    def value(self, index: int) -> str:
        """Return the value in a row: the text of a string, anything else as JSON."""
        node = self.nodes[index]
        if node.value is None and node.parent is not None and node.parent.image is not None:
            node = node.parent
        value = node.value
        if value is None:
            return "".join(part for part, _ in node.line)
        if value.kind is JsonKind.STRING:
            return value_text(node.data, value, value.size)
        return indented(node.data[value.start : value.end])

    def path(self, index: int) -> str:
        """Return the path of a row: `result.content[0].text`."""
        from tui.core.comparison.values import path_text

        node: Node | None = self.nodes[index]
        steps: list[str | int] = []
        while node is not None and node.value is not None:
            parent = node.parent
            if parent is not None and parent.value is not None and parent.value.is_container:
                is_object = parent.value.kind is JsonKind.OBJECT
                steps.append(node.value.key if is_object else node.value.position)
            node = parent
        return path_text(tuple(reversed(steps)))

    def binary(self, index: int) -> tuple[bytes, str] | None:
        """Return the bytes of a base64 value and a file extension; None for any other value."""
        node: Node | None = self.nodes[index]
        if node is not None and node.value is None:
            node = node.parent
        mime = type_of(node) if node is not None else ""
        if node is None or not mime:
            return None
        data = plain_base64(string_of(node, len(node.data)))
        return (b64decode(data), extension(mime) or "bin") if data else None
