"""A JSON Schema as a form: fields to fill in, and the arguments that result. Pure.

Nothing that was typed or loaded is lost: a value that does not fit stays in its field as raw JSON or text,
with a sentence about the problem. Required objects are present from the start, and so are required fields
with a default; everything else is absent until it is set.
"""

from collections.abc import Mapping
from itertools import chain, count
from typing import Any

from tui.core.forms.checks import json_text, parse_json, shown_text
from tui.core.forms.node import gathered, misfit, raw, text_spec, write, write_raw
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import HOLDERS, MAX_FIELDS, MISSING, FieldKind, FieldState, FormField, Path

MAX_STEPS = 4_000
"""Maximum nodes that filling in one value may try, including alternatives of unions."""


class Form:
    """The fields of one schema and their contents.

    Paths are those of `fields()`. Changing a path that does not exist does nothing, because the previous key
    may have removed it. Fast enough to be called on every key press.
    """

    def __init__(self, schema: Any) -> None:
        self._reader = SchemaReader(schema)
        self._steps = 0
        self._left = MAX_FIELDS - 1
        self._spec = self._reader.spec(schema)
        self._root = FormField(self._spec, required=True)
        self._begin(self._root)

    def fields(self) -> tuple[FormField, ...]:
        """Return the fields to show, in order; the root itself, at (), only if it is more than an object."""
        whole, *within = rows = tuple(self._root.fields())
        problems = self.problems()
        for one in rows:
            one.problem = problems.get(one.path, "")
        plain = whole.kind is FieldKind.OBJECT or (
            whole.kind is FieldKind.MAP and not whole.spec.asks_entries
        )
        return tuple(within) if plain and not whole.arms else rows

    def field(self, path: Path) -> FormField | None:
        """Return one field, () for the root; None if it does not exist."""
        if (node := self._at(path)) is not None:
            node.problem = self.problems().get(path, "")
        return node

    def value(self) -> tuple[Any, Mapping[Path, str]]:
        """Return the arguments, without absent fields, and the problems by path.

        They are a JSON object unless the schema asks for something else or the root holds other raw JSON.
        """
        problems: dict[Path, str] = {}
        value = gathered(self._root, problems)
        return {} if value is MISSING else value, problems

    def problems(self) -> Mapping[Path, str]:
        return self.value()[1]

    def as_json(self) -> str:
        return json_text(self.value()[0], indent=2)

    def set(self, path: Path, text: str) -> str:
        """Set the text of a field; return its problem, or "".

        Absent fields above it become present. For a choice, `text` is the label or the value. An empty text
        is a value only for a text field; elsewhere it makes the field absent. In an object, a map, an array
        or a raw field, it is JSON text.
        """
        node = self._grown(path)
        if node is None:
            return ""
        if node.is_raw or node.kind in HOLDERS:
            write_raw(node, text)
        else:
            write(node, text)
        return node.misread

    def clear(self, path: Path) -> None:
        """Make a field absent, which is not the same as empty; an added field stays, but empty."""
        if (node := self._at(path)) is not None:
            node.clear()

    def include(self, path: Path) -> None:
        """Give an absent or null field content: an object its fields, an array, map or text nothing yet.

        A constant or a field with a default gets that value, unless the default is null, the way of Pydantic
        to say that a field may be left out. Any other becomes absent until it has a value.
        """
        node = self._grown(path)
        if node is None or node.state not in (FieldState.ABSENT, FieldState.NULL):
            return
        self._present(node)

    def null(self, path: Path) -> None:
        """Make a field null; `not_null` restores its content."""
        if (node := self._grown(path)) is not None and node.state is not FieldState.NULL:
            node.put_aside()
            node.clear()
            node.state = FieldState.NULL

    def not_null(self, path: Path) -> None:
        """Give a field that is null the content that it had before, or make it absent."""
        if (node := self._at(path)) is not None and node.state is FieldState.NULL:
            node.take_arm(node.arm)

    def choose_arm(self, path: Path, arm: int) -> None:
        """Choose an arm of a union and make it present; other content is kept, and copied where it fits."""
        node = self._grown(path)
        if node is None or not 0 <= arm < len(node.whole.arms):
            return
        if arm == node.arm and node.state in (FieldState.SET, FieldState.RAW):
            return
        value = MISSING if node.state is FieldState.NULL else gathered(node, {})
        if arm != node.arm or node.state is FieldState.NULL:
            node.take_arm(arm)
        if node.state is FieldState.ABSENT:
            self._recount()
            if not (self._carry_over(node, value) or node.kind is FieldKind.TEXT):
                self._present(node, keep_arm=True)

    def turn(self, path: Path, step: int) -> None:
        """Select the next (1) or previous (-1) value or variant of a field; open an absent holder."""
        field = self.field(path)
        if field is None:
            return
        labels = field.labels
        if labels and field.kind not in HOLDERS:
            now = labels.index(field.text) if field.text in labels else min(-step, 0)
            self.set(path, labels[(now + step) % len(labels)])
        elif field.arms and field.state in (FieldState.ABSENT, FieldState.NULL):
            self.choose_arm(path, 0 if step > 0 else len(field.arms) - 1)
        elif field.arms and field.nullable and field.arm + step == len(field.arms):
            self.null(path)
        elif field.arms:
            self.choose_arm(path, (field.arm + step) % len(field.arms))
        elif field.kind in HOLDERS and field.state is not FieldState.SET:
            self.include(path)

    def cycle(self, path: Path) -> None:
        """Select the next variant or value of a field, or null, or what it had before it was null."""
        field = self.field(path)
        if field is not None and field.arms and field.state is FieldState.ABSENT:
            self.choose_arm(path, (field.arm + 1) % len(field.arms))
        elif field is None or field.arms or not field.nullable:
            self.turn(path, 1)
        elif field.state is FieldState.NULL:
            self.not_null(path)
        else:
            self.null(path)

    def add(self, path: Path, name: str = "") -> Path | None:
        """Add an item to an array, or an entry to a map or an open object; return its path.

        An absent or null parent gets content first. What that already contains is not added again: the
        path is that of the first item of a tuple, or of an object itself if `name` is "". The name of a
        declared property returns that property. If another entry has the name, a number is added to it.
        Returns None if nothing can be added, or the form already has too many fields.
        """
        before = self._at(path)
        fresh = before is None or before.state is not FieldState.SET
        self.include(path)
        node = self._at(path)
        holds = node is not None and node.kind in HOLDERS and node.state is FieldState.SET
        if node is None or not holds:
            return None
        if node.kind is FieldKind.OBJECT and fresh and not name:
            return path
        child = node.children.get(name)
        if child is not None and not child.extra:
            if child.kind in HOLDERS:
                self.include((*path, name))
            return (*path, name)
        blank = node.children.get(0) if fresh else None
        if blank is not None and blank.is_blank:
            return (*path, 0)
        if self._left <= 0:
            return None
        key: str | int = len(node.children)
        if node.kind is not FieldKind.ARRAY:
            free = name or "name"
            names = chain((free,), (f"{free} {number}" for number in count(2)))
            key = next(one for one in names if one not in node.children)
        self._begin(self._child(node, key, extra=True))
        return (*path, key)

    def remove(self, path: Path) -> None:
        """Remove an item or an added entry; make any other field absent. Later items move up."""
        above, node = self._at(path[:-1]) if path else None, self._at(path)
        if above is None or node is None or not node.extra:
            self.clear(path)
            return
        del above.children[path[-1]]
        if above.kind is FieldKind.ARRAY:
            above.children = dict(enumerate(above.children.values()))
            above.move(above.path)

    def load(self, arguments: Any) -> None:
        """Replace everything by these arguments; what does not fit becomes raw JSON in its field."""
        self._root = FormField(self._spec, required=True)
        self._recount()
        self._fill(self._root, arguments)

    def from_json(self, text: str) -> str:
        """Load arguments from JSON text and return "", or change nothing and return its problem."""
        value, problem = parse_json(text)
        if not problem:
            self.load(value)
        return problem

    def from_edited(self, text: str) -> str:
        """Load JSON text as `from_json`, unless it is that of the form, which also has empty entries."""
        return "" if text == self.as_json() else self.from_json(text)

    def _at(self, path: Path) -> FormField | None:
        self._recount()
        node: FormField | None = self._root
        for part in path:
            node = None if node is None else node.children.get(part)
        return node

    def _grown(self, path: Path) -> FormField | None:
        for end in range(len(path)):
            above = self._at(path[:end])
            if above is not None and above.state is FieldState.ABSENT and above.kind in HOLDERS:
                self._open(above)
        return self._at(path)

    def _recount(self) -> None:
        self._steps = 0
        self._left = MAX_FIELDS - sum(1 for _ in self._root.fields())

    def _begin(self, node: FormField) -> None:
        """Fill in the required content of a present field."""
        own = node.spec
        if node.required and own.default is None and node.whole.nullable:
            node.state = FieldState.NULL
        elif node.required and self._preset(node):
            pass
        elif own.kind is FieldKind.CONST:
            write(node, own.choices[0].label)
        elif node.kind is FieldKind.OBJECT or (node.kind in HOLDERS and (not node.path or node.extra)):
            self._open(node)

    def _present(self, node: FormField, *, keep_arm: bool = False) -> None:
        """Give a field its default, or content to fill in; `keep_arm`: no default that is of another arm."""
        node.clear()
        if self._preset(node, keep_arm=keep_arm):
            return
        if node.kind in HOLDERS:
            self._open(node)
        elif node.kind is FieldKind.TEXT:
            write(node, "")
        else:
            self._begin(node)

    def _preset(self, node: FormField, *, keep_arm: bool = False) -> bool:
        """Fill in the default; return False if there is none, or it is null, which fills in nothing."""
        default, arm = node.spec.default, node.arm
        if default is MISSING:
            return False
        if default is None and not any(choice.value is None for choice in node.spec.choices):
            return False
        left = self._left
        self._fill(node, default)
        if keep_arm and node.arm != arm:
            node.clear()
            node.arm, self._left = arm, left
            return False
        return True

    def _open(self, node: FormField) -> None:
        """Make an object, map or array present, with blank fields for properties and the items of a tuple."""
        node.clear()
        node.state = FieldState.SET
        if node.kind is FieldKind.ARRAY:
            for number in range(min(self._reader.tuple_length(node.spec), self._left)):
                self._begin(self._child(node, number, extra=True))
        elif node.kind is FieldKind.OBJECT:
            for name, required in self._reader.properties(node.spec).items():
                if self._left <= 0:
                    break
                child = self._child(node, name, required=required)
                if required:
                    self._begin(child)

    def _child(
        self, node: FormField, name: str | int, *, required: bool = False, extra: bool = False
    ) -> FormField:
        child = FormField(self._reader.child(node.spec, name), (*node.path, name), required, extra)
        self._steps += 1
        self._left -= 1
        node.children[name] = child
        return child

    def _fill(self, node: FormField, value: Any) -> bool:
        """Fill in a value, as raw JSON if it does not fit; return whether it fits."""
        try:
            self._fill_deep(node, value)
        except RecursionError:
            raw(node, value)
        return not node.is_raw

    def _carry_over(self, node: FormField, value: Any) -> bool:
        """Fill in the fitting part of another arm's value; return whether any part may fit."""
        if node.kind is FieldKind.OBJECT and isinstance(value, dict):
            self._open(node)
            for name in value.keys() & node.children.keys():
                child = node.children[name]
                if child.spec.kind is not FieldKind.CONST and not self._fill(child, value[name]):
                    child.clear()
            return True
        if value is MISSING or node.kind in HOLDERS or shown_text(text_spec(node), value) is None:
            return False
        self._fill_own(node, value)
        return True

    def _fill_deep(self, node: FormField, value: Any) -> None:
        node.clear()
        self._steps += 1
        if value is None and node.whole.nullable:
            node.state = FieldState.NULL
        elif self._steps > MAX_STEPS:
            raw(node, value)
        elif node.whole.arms:
            self._fill_best_arm(node, value)
        else:
            self._fill_own(node, value)

    def _fill_best_arm(self, node: FormField, value: Any) -> None:
        best, chosen = (2, 0, 0), 0
        for number in range(len(node.whole.arms)):
            left, trial = self._left, FormField(node.whole, node.path, arm=number)
            self._fill_own(trial, value)
            self._left = left
            found = misfit(trial)
            if found < best:
                best, chosen = found, number
            if best == (0, 0, 0):
                break
        node.arm = chosen
        self._fill_own(node, value)

    def _fill_own(self, node: FormField, value: Any) -> None:
        kind = node.kind
        if kind in (FieldKind.OBJECT, FieldKind.MAP) and isinstance(value, Mapping):
            self._fill_object(node, value)
        elif kind is FieldKind.ARRAY and isinstance(value, list) and len(value) <= self._left:
            node.state = FieldState.SET
            for number, item in enumerate(value):
                self._fill_deep(self._child(node, number, extra=True), item)
        elif kind not in HOLDERS and (text := shown_text(text_spec(node), value)) is not None:
            write(node, text)
        else:
            raw(node, value)

    def _fill_object(self, node: FormField, value: Mapping[str, Any]) -> None:
        known = self._reader.properties(node.spec) if node.kind is FieldKind.OBJECT else {}
        if len(value.keys() | known.keys()) > self._left or not all(isinstance(key, str) for key in value):
            raw(node, value)
            return
        node.state = FieldState.SET
        for name in dict.fromkeys((*known, *value)):
            child = self._child(node, name, required=known.get(name, False), extra=name not in known)
            if name in value:
                self._fill_deep(child, value[name])
