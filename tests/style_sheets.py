"""A cache of parsed style sheets for all apps of a process."""

from collections.abc import Callable
from typing import Any

from textual.css import stylesheet
from textual.css.stylesheet import Stylesheet


def parse_once(patch: Callable[[Any, str, Any], object]) -> None:
    """Keep what Textual parses, by content and variables; it keeps it for one app, and never changes it.

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
