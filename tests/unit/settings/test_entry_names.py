import pytest

from tui.settings.entry_names import name_fault


@pytest.mark.parametrize("name", ["weather", "two words", "天气", "a.b", "x" * 64])
def test_ordinary_names_are_valid(name: str):
    assert name_fault(name) == ""
