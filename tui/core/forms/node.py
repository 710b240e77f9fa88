"""The fields of one form while it is filled in, a tree: what each holds, and the value of all. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.forms.checks import json_text, parse_json, read_text, same, shown_text, size_problem
from tui.core.forms.spec import MAX_DEPTH, MISSING, FieldKind, FieldSpec, FieldState, Path

HOLDERS = frozenset({FieldKind.OBJECT, FieldKind.MAP, FieldKind.ARRAY})


@dataclass(slots=True)
class Node:
    """One field, and what it holds.

    Attributes:
        spec: of the whole field, unions included.
        level: how deep it is.
        required: it must not be absent.
        extra: it can be removed.
        state: what it holds.
        arm: which alternative of a union.
        text: what stands in it.
        value: what `text` means; of holders nothing.
        problem: what is wrong with `value`.
        children: by name or number, where the state of a holder is SET.
        shelf: what stood in the arms that were chosen before.
    """

    spec: FieldSpec
    level: int
    required: bool = False
    extra: bool = False
    state: FieldState = FieldState.ABSENT
    arm: int = 0
    text: str = ""
    value: Any = None
    problem: str = ""
    children: dict[str | int, "Node"] = field(default_factory=dict)
    shelf: dict[int, "Node"] = field(default_factory=dict)

    @property
    def own(self) -> FieldSpec:
        """Return the spec in force: of a union, that of the arm that is chosen."""
        return self.spec.arms[self.arm] if self.spec.arms else self.spec

    @property
    def kind(self) -> FieldKind:
        """Return what it is edited as now."""
        if self.state is FieldState.RAW or (self.level >= MAX_DEPTH and self.own.kind in HOLDERS):
            return FieldKind.JSON
        return self.own.kind

    @property
    def is_raw(self) -> bool:
        """Whether it holds JSON text in place of what it is edited as."""
        return self.state is FieldState.RAW

    def take_arm(self, arm: int) -> None:
        """Put what stands in this arm on the shelf, and take from there what stood in the other one."""
        self.shelf[self.arm] = replace(self, shelf={})
        taken = self.shelf.pop(arm, Node(self.spec, self.level))
        self.arm, self.state, self.text = arm, taken.state, taken.text
        self.value, self.problem, self.children = taken.value, taken.problem, taken.children

    def nodes(self) -> Iterator["Node"]:
        """Yield it and all that is beneath it."""
        yield self
        for child in self.children.values():
            yield from child.nodes()


def clear(node: Node) -> None:
    """Make a field absent."""
    node.state = FieldState.ABSENT
    node.text, node.value, node.problem = "", None, ""
    node.children = {}


def write(node: Node, text: str) -> None:
    """Put text into a field that is no object, map or array; an empty one that is no text makes it absent."""
    clear(node)
    if not text.strip() and node.kind is not FieldKind.TEXT and not _empty_choice(node, text):
        return
    node.state = FieldState.SET
    node.text = text
    node.value, node.problem = read_text(text_spec(node), text)


def raw(node: Node, value: Any) -> None:
    """Put any value into a field, as JSON text."""
    write_raw(node, json_text(value, indent=2 if isinstance(value, dict | list) else None))


def write_raw(node: Node, text: str) -> None:
    """Put JSON text into a field, in place of what it is edited as."""
    clear(node)
    node.state, node.text = FieldState.RAW, text
    node.value, node.problem = parse_json(text)
    if node.problem:
        node.value = text
    elif not node.spec.arms:
        node.problem = _kind_problem(node, node.value)


def gathered(node: Node, path: Path, problems: dict[Path, str]) -> Any:
    """Return the value of a field, MISSING if it is absent, and note what is wrong beneath it."""
    if node.state is FieldState.ABSENT:
        if node.required:
            problems[path] = "is required"
        return MISSING
    if node.state is FieldState.NULL:
        return None
    if node.state is FieldState.RAW or node.kind not in HOLDERS:
        if node.problem:
            problems[path] = node.problem
        return node.value
    found = [(name, gathered(child, (*path, name), problems)) for name, child in node.children.items()]
    present = {name: value for name, value in found if value is not MISSING}
    whole = [value for _, value in found if value is not MISSING] if node.kind is FieldKind.ARRAY else present
    if problem := size_problem(node.own, len(whole)) or _twice(node, whole):
        problems[path] = problem
    for name, child in node.children.items():
        if child.extra and child.state is FieldState.ABSENT:
            problems[(*path, name)] = "is empty"
        elif child.extra and node.kind is not FieldKind.ARRAY and not node.own.open:
            problems.setdefault((*path, name), "is not in the schema")
    return whole


def _twice(node: Node, whole: Any) -> str:
    if not (node.own.bounds.unique and isinstance(whole, list) and len(whole) <= 100):
        return ""
    for number, one in enumerate(whole):
        if any(same(one, other) for other in whole[:number]):
            return f"has item {number} twice"
    return ""


def text_spec(node: Node) -> FieldSpec:
    """Return the spec by which the text of a field is read: that of raw JSON where it is nested too deep."""
    return node.own if node.kind is node.own.kind else FieldSpec(node.kind)


def _empty_choice(node: Node, text: str) -> bool:
    return any(choice.label == text for choice in node.own.choices)


def _kind_problem(node: Node, value: Any) -> str:
    own = node.own
    if own.kind is FieldKind.JSON or (value is None and node.spec.nullable):
        return ""
    if own.kind in HOLDERS:
        wanted, name = (list, "an array") if own.kind is FieldKind.ARRAY else (dict, "an object")
        return "" if isinstance(value, wanted) else f"is not {name}"
    text = shown_text(own, value)
    if text is not None:
        return read_text(own, text)[1]
    return {
        FieldKind.TEXT: "is not a text",
        FieldKind.INTEGER: "is not a whole number",
        FieldKind.NUMBER: "is not a number",
        FieldKind.BOOLEAN: "is neither true nor false",
    }.get(own.kind, "is none of the values that are allowed")
