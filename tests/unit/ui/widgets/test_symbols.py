"""The symbols for a terminal."""

from dataclasses import fields

import pytest
from rich.cells import cell_len

from tests.cases import each_case
from tui.ui.widgets.symbols import ASCII, UNICODE, Symbols, symbols_for


@each_case(
    ("environment", "symbols"),
    [
        ({}, UNICODE),
        ({"LANG": "en_GB.UTF-8"}, UNICODE),
        ({"LANG": "C.utf8", "TERM": "xterm-256color"}, UNICODE),
        ({"LANG": "C"}, UNICODE),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "de_DE.ISO-8859-1"}, ASCII),
        ({"LC_ALL": "de_DE.UTF-8@euro", "LANG": "de_DE.ISO-8859-1"}, UNICODE),
        ({"TERM": "linux", "LANG": "en_GB.UTF-8"}, ASCII),
        ({"TERM": "dumb"}, ASCII),
    ],
)
def test_the_environment_selects_the_symbols(environment: dict[str, str], symbols: Symbols) -> None:
    assert symbols_for(environment) is symbols


@pytest.mark.parametrize("symbols", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_each_symbol_is_one_cell_wide(symbols: Symbols) -> None:
    for found in fields(symbols):
        value = getattr(symbols, found.name)
        if found.name == "delta":  # the heading of a column
            continue
        for sign in value if isinstance(value, tuple) or found.name == "bar" else (value,):
            assert cell_len(sign) == 1, found.name


def test_the_ascii_symbols_are_ascii() -> None:
    assert all("".join(getattr(ASCII, found.name)).isascii() for found in fields(ASCII))
