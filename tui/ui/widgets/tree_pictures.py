"""The pictures in a tree: which are wanted, which are there, and the rows that they unfold into."""

from functools import partial
from typing import TYPE_CHECKING

from tui.core.jsonrpc.lazy_json import Kind
from tui.ui.widgets import images
from tui.ui.widgets.picture import Picture
from tui.ui.widgets.rows import Row
from tui.ui.widgets.sheet import Wanted
from tui.ui.widgets.tree_rows import DEEPEST, Node, encoded

if TYPE_CHECKING:
    from tui.ui.widgets.tree import Tree

FIRST = 3
"""Pictures that unfold by themselves."""

DECODING: Row = (("decoding…", "dim"),)


class TreePictures:
    """Images of a tree. Until `begin` they are strings like all others.

    Args:
        tree: whose.
    """

    def __init__(self, tree: "Tree") -> None:
        self._tree = tree
        self._shows = False
        self._queue: list[Node] = []
        self._known: dict[Node, Picture | str] = {}

    def begin(self) -> None:
        """Show images as pictures from now on; unfold the first."""
        if self._shows:
            return
        self._shows = True
        found = [node for node in self._tree.nodes if self.is_picture(node) and not node.is_open]
        for node in found[:FIRST]:
            self._tree.unfold(node, self.rows_of(node))

    def is_picture(self, node: Node | None) -> bool:
        """Return whether a row is an image that is shown as a picture."""
        if node is None or not self._shows or node.value is None or node.value.kind is not Kind.STRING:
            return False
        return images.ending(encoded(node, images.HEAD)) in images.PICTURES

    def rows_of(self, node: Node) -> list[Node]:
        """Return what an image unfolds into: its picture, or the word that it is being decoded."""
        known = self._known.get(node)
        if known is None and node not in self._queue:
            self._queue.append(node)
        match known:
            case Picture():
                fits = known.within(max(1, self._tree.width - _indent(node)))
                lines: list[Row] = [fits.row(index) for index in range(fits.rows)] + [known.caption]
            case str():
                lines = [((f"no picture: {known}", "warn"),)]
            case None:
                lines = [DECODING]
        return [Node(None, depth=node.depth + 1, parent=node, line=line) for line in lines]

    def wanted(self) -> Wanted | None:
        """Return the next picture that is in sight and not decoded yet."""
        while self._queue:
            node = self._queue[0]
            if node.value is not None and node.is_open and node in self._tree.nodes:
                return Wanted(partial(_encoded, node), _indent(node), partial(self._put, node))
            del self._queue[0]
        return None

    def _put(self, node: Node, found: Picture | str) -> None:
        self._known[node] = found
        if node in self._queue:
            self._queue.remove(node)
        if node.is_open and node in self._tree.nodes:
            self._tree.unfold(node, self.rows_of(node))

    def again(self) -> None:
        """Want those once more that may be larger or must be smaller: there is another room for them."""
        self._queue += [
            node
            for node, known in self._known.items()
            if isinstance(known, Picture) and known.is_reduced and node not in self._queue
        ]

    def fit(self) -> None:
        """Lay out the pictures for another width of the tree."""
        for node in self._known:
            if node.is_open and node in self._tree.nodes:
                self._tree.unfold(node, self.rows_of(node))


def _encoded(node: Node) -> bytes:
    return images.base64_of(encoded(node, node.value.size)) if node.value is not None else b""


def _indent(node: Node) -> int:
    return 2 * min(node.depth + 1, DEEPEST)
