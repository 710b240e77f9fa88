"""Caches for all apps of a process: parsed style sheets, and which of their rules match a widget."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from textual.app import App
from textual.css import stylesheet
from textual.css.stylesheet import Stylesheet


def parse_once(patch: Callable[[Any, str, Any], object]) -> None:
    """Keep what Textual parses, by content and variables; it keeps it for one app, and never changes it.

    Apps with the same rules then share what matches (measured: a twentieth of a test of a screen).

    Args:
        patch: `setattr`, or that of a monkeypatch.
    """
    tokenize, parse = stylesheet.tokenize_values, Stylesheet._parse_rules
    tokens: dict[tuple[tuple[str, str], ...], Any] = {}
    rules: dict[tuple[Any, ...], Any] = {}

    def tokens_of(variables: dict[str, str]) -> Any:
        key = tuple(sorted(variables.items()))
        if key not in tokens:
            tokens[key] = tokenize(variables)
        return tokens[key]

    def rules_of(sheet: Stylesheet, css: str, read_from: Any, *details: Any, **named: Any) -> Any:
        key = (css, read_from, details, tuple(sorted(named.items())), id(sheet._variable_tokens))
        if key not in rules:
            rules[key] = parse(sheet, css, read_from, *details, **named)
        return rules[key]

    patch(stylesheet, "tokenize_values", tokens_of)
    patch(Stylesheet, "_parse_rules", rules_of)
    matches = Matches()

    @wraps(Stylesheet.apply)
    def apply(sheet: Stylesheet, node: Any, **options: Any) -> None:
        matches.apply(sheet, node, **options)

    patch(Stylesheet, "apply", apply)


class Matches:
    """The rules that match a node, by style sheet and path: kinds, ids, classes and states up to the app.

    Textual has the same cache, of one parent and for one update.
    """

    def __init__(self) -> None:
        self._apply = Stylesheet.apply
        self._sheets: dict[tuple[int, ...], Any] = {}
        self._sheet: tuple[Any, int] = (None, 0)
        self._node: tuple[Any, tuple[Any, ...]] = (None, ())
        self._known: dict[tuple[Any, ...], Any] = {}

    def apply(self, sheet: Stylesheet, node: Any, *, animate: bool = False, cache: Any = None) -> None:
        if (rules := sheet.rules) is not self._sheet[0]:
            self._sheet = rules, id(self._sheets.setdefault(tuple(map(id, rules)), rules))
        before = parent, path = self._node
        if parent is None or node._parent is not parent:  # as are the parts of a widget, styled with it
            path = tuple(_named(parent) for parent in node.ancestors)
        self._node = node, (_named(node), *path)
        try:
            self._apply(sheet, node, animate=animate, cache=self)
        finally:
            self._node = before

    def get(self, key: object) -> Any:
        return self._known.get((self._sheet[1], self._node[1]))

    def __setitem__(self, key: object, rules: Any) -> None:
        self._known[self._sheet[1], self._node[1]] = rules


def _named(node: Any) -> tuple[Any, ...]:
    states = frozenset(node.get_pseudo_classes()) if isinstance(node, App) else node._pseudo_classes_cache_key
    return type(node), node._id, node.classes, states, getattr(node, "can_focus", False)
