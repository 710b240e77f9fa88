"""Resources as a tree by scheme, host and path, or flat if they are few. Pure."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from tui.core.text import clean_line
from tui.core.workbench import ResourceInfo
from tui.ui.workbench.items import Item

FEW = 12
"""Up to this many resources are listed without a tree."""

MOST_OPEN = 200
"""With more resources, only the first level of the tree is unfolded at first."""

MOST_LEVELS = 12
TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class Folder:
    """Resources whose URIs have a common prefix.

    Attributes:
        key: the prefix of their URIs.
        label: the part of it that parent folders do not show, cleaned.
        count: the number of resources in it, at any depth.
        is_open: whether it is unfolded.
    """

    key: str
    label: str
    count: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class TreeRow:
    """An item or a folder, and its depth."""

    what: Item | Folder
    depth: int = 0


@dataclass(slots=True)
class _Node:
    key: str
    label: str
    count: int = 0
    folders: dict[str, "_Node"] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    def child(self, part: str) -> "_Node":
        return self.folders.setdefault(part, _Node(self.key + part, part))


def has_tree(items: Sequence[Item]) -> bool:
    """Return whether there are enough resources for a tree."""
    return sum(isinstance(item.about, ResourceInfo) and not item.about.template for item in items) > FEW


def tree_rows(items: Sequence[Item], turned: Collection[str]) -> list[TreeRow]:
    """Return resources as a tree, with templates last; `turned` are folders that the user toggled."""
    root = _Node("", "")
    for item in items:
        about = item.about
        if not isinstance(about, ResourceInfo):
            continue
        parts = [TEMPLATES] if about.template else folders_of(about.uri)
        node = root
        node.count += 1
        for part in parts:
            node = node.child(part)
            node.count += 1
        node.items.append(item)
    return list(_rows(root, 0, turned, closed_from=1 if root.count > MOST_OPEN else MOST_LEVELS))


def _rows(node: _Node, depth: int, turned: Collection[str], closed_from: int) -> Iterator[TreeRow]:
    for child in node.folders.values():
        whole, label = child, child.label
        while len(whole.folders) == 1 and not whole.items:
            (whole,) = whole.folders.values()
            label += whole.label
        is_open = (depth < closed_from) is not (whole.key in turned)
        yield TreeRow(Folder(whole.key, clean_line(label, 200), whole.count, is_open), depth)
        if is_open:
            yield from _rows(whole, depth + 1, turned, closed_from)
    yield from (TreeRow(item, depth) for item in node.items)


def folders_of(uri: str) -> list[str]:
    """Return the parts of a URI before the last one: scheme and host, then each folder of the path."""
    scheme, mark, rest = uri.partition("://")
    if not mark:
        scheme, mark, rest = uri.partition(":")
        return [f"{scheme}:"] if mark else []
    path = rest.split("?", 1)[0].split("#", 1)[0].rstrip("/")
    host, *folders = path.split("/")
    if not folders:
        return [f"{scheme}://"]
    return [f"{scheme}://{host}/", *(f"{one}/" for one in folders[:-1][:MOST_LEVELS])]
