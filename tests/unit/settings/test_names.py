"""Names of servers, models and identity providers."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.names import fitted_name, name_fault


@each_case("name", ["weather", "two words", "天气", "a.b", "x" * 64])
def test_ordinary_names_are_valid(name: str):
    assert name_fault(name) == ""


@each_case("name", ["", "x" * 65, " a", "a\n", "a/b", "identity_providers/acme", ".hidden"])
def test_other_names_are_not(name: str):
    assert name_fault(name)


@given(st.text())
def test_a_name_made_from_a_foreign_one_is_valid_or_empty(found: str):
    made = fitted_name(found)
    assert made == "" or name_fault(made) == ""
