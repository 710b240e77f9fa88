"""The modules of mcptui as syntax trees, for the tests of its structure and of its texts."""

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

Nodes = list[ast.AST]


@cache
def modules() -> dict[str, Nodes]:
    """Return the nodes of each module of `tui` by its path from the root of the checkout, in order.

    Garbage collection is off meanwhile: there is no garbage among the 600,000 nodes, and scanning them takes
    as long as parsing. Callers must call `forget` at the end.
    """
    gc.disable()
    try:
        return {
            path.relative_to(ROOT).as_posix(): _nodes(ast.parse(path.read_text(encoding="utf-8")))
            for path in sorted((ROOT / "tui").rglob("*.py"))
        }
    finally:
        gc.enable()


def _nodes(tree: ast.AST) -> Nodes:
    """Return what `ast.walk` yields, except the nodes without content: contexts such as `Load`, operators."""
    nodes = [tree]
    for node in nodes:  # grows meanwhile
        for name in node._fields:
            if name in ("ctx", "op", "ops"):
                continue
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]
    return nodes


def forget() -> None:
    """Free the nodes, so that garbage collection does not visit them."""
    modules.cache_clear()
