"""What the tests of this folder share: style sheets that are parsed once for all apps."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual.css import stylesheet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Keep what style sheets say, which each app would parse again: a third of what its start costs.

    Textual keeps it for one app in the same way, and never changes it.
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

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stylesheet, "tokenize_values", tokens_of)
        patch.setattr(Stylesheet, "_parse_rules", rules_of)
        yield
