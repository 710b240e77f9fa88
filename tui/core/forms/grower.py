"""Makes the fields of a form grow: only where there is something, and within the form's bounds. Pure."""

from collections.abc import Mapping
from typing import Any

from tui.core.forms.checks import shown_text
from tui.core.forms.node import HOLDERS, Node, clear, gathered, raw, text_spec, write
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import MAX_FIELDS, MISSING, FieldKind, FieldSpec, FieldState, Path

MAX_STEPS = 4_000
"""Nodes that filling in one value may try, alternatives of unions included."""


class Grower:
    """Makes nodes, and fills them in, within the bounds of one form."""

    def __init__(self, reader: SchemaReader) -> None:
        self._reader = reader
        self._steps = 0
        self.left = MAX_FIELDS

    def recount(self, root: Node) -> None:
        """Begin anew what may be spent, with the fields that there are."""
        self._steps = 0
        self.left = MAX_FIELDS - sum(1 for _ in root.nodes())

    def blank(self, spec: FieldSpec, level: int, *, required: bool = False, extra: bool = False) -> Node:
        """Return a field as a person finds it: there are only required objects, constants and defaults."""
        node = Node(spec, level, required, extra)
        self.left -= 1
        if required or extra:
            self.begin(node)
        return node

    def begin(self, node: Node) -> None:
        """Fill a field in with what is certain to be wanted once it is there."""
        own = node.own
        if own.default is not MISSING and node.required:
            self.fill(node, own.default)
        elif own.kind is FieldKind.CONST:
            write(node, own.choices[0].label)
        elif node.kind is FieldKind.OBJECT or (node.kind in HOLDERS and node.level == 0):
            self.open(node)

    def open(self, node: Node) -> None:
        """Make an object, map or array be there, with the blank fields of its properties."""
        clear(node)
        node.state = FieldState.SET
        if node.kind is FieldKind.OBJECT:
            for name, required in self._reader.properties(node.own).items():
                if self.left <= 0:
                    break
                node.children[name] = self.blank(
                    self._reader.child(node.own, name), node.level + 1, required=required
                )

    def add(self, node: Node, name: str | int) -> Node:
        """Add an entry or item of that name."""
        node.children[name] = self.blank(self._reader.child(node.own, name), node.level + 1, extra=True)
        return node.children[name]

    def fill(self, node: Node, value: Any) -> bool:
        """Fill in a value; one that does not fit stands there as raw JSON. Return whether it fits."""
        try:
            self._fill(node, value)
        except RecursionError:
            raw(node, value)
        return not node.is_raw

    def carry_over(self, node: Node, value: Any) -> bool:
        """Fill in what of the value of another arm fits this one; return whether anything may."""
        if node.kind is FieldKind.OBJECT and isinstance(value, dict):
            self.open(node)
            for name in value.keys() & node.children.keys():
                child = node.children[name]
                if child.own.kind is not FieldKind.CONST and not self.fill(child, value[name]):
                    clear(child)
            return True
        if value is MISSING or node.kind in HOLDERS or shown_text(text_spec(node), value) is None:
            return False
        self._fill_own(node, value)
        return True

    def _fill(self, node: Node, value: Any) -> None:
        clear(node)
        self._steps += 1
        if value is None and node.spec.nullable:
            node.state = FieldState.NULL
        elif self._steps > MAX_STEPS:
            raw(node, value)
        elif node.spec.arms:
            self._fill_best_arm(node, value)
        else:
            self._fill_own(node, value)

    def _fill_best_arm(self, node: Node, value: Any) -> None:
        best, chosen = (2, 0, 0), 0
        for number in range(len(node.spec.arms)):
            left, trial = self.left, Node(node.spec, node.level, arm=number)
            self._fill_own(trial, value)
            self.left = left
            found = _misfit(trial)
            if found < best:
                best, chosen = found, number
            if best == (0, 0, 0):
                break
        node.arm = chosen
        self._fill_own(node, value)

    def _fill_own(self, node: Node, value: Any) -> None:
        kind = node.kind
        if kind in (FieldKind.OBJECT, FieldKind.MAP) and isinstance(value, Mapping):
            self._fill_object(node, value)
        elif kind is FieldKind.ARRAY and isinstance(value, list) and len(value) <= self.left:
            node.state = FieldState.SET
            for number, item in enumerate(value):
                self._grow(node, number, item, extra=True)
        elif kind not in HOLDERS and (text := shown_text(text_spec(node), value)) is not None:
            write(node, text)
        else:
            raw(node, value)

    def _fill_object(self, node: Node, value: Mapping[str, Any]) -> None:
        known = self._reader.properties(node.own) if node.kind is FieldKind.OBJECT else {}
        if len(value.keys() | known.keys()) > self.left or not all(isinstance(key, str) for key in value):
            raw(node, value)
            return
        node.state = FieldState.SET
        for name, required in known.items():
            self._grow(node, name, value.get(name, MISSING), required=required)
        for name in value:
            if name not in known:
                self._grow(node, name, value[name], extra=True)

    def _grow(
        self, node: Node, name: str | int, value: Any, *, required: bool = False, extra: bool = False
    ) -> None:
        child = Node(self._reader.child(node.own, name), node.level + 1, required, extra)
        self._steps += 1
        self.left -= 1
        node.children[name] = child
        if value is not MISSING:
            self._fill(child, value)


def _misfit(node: Node) -> tuple[int, int, int]:
    """Return how badly a value fits an arm; (0, 0, 0) is well."""
    if node.is_raw and node.kind is not node.own.kind:
        return 1, 0, 0
    problems: dict[Path, str] = {}
    gathered(node, (), problems)
    raws = sum(each.state is FieldState.RAW for each in node.nodes())
    return 0, raws, len(problems)
