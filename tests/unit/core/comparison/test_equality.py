"""Equality of JSON values."""

from tui.core.comparison.equality import same


def test_comparison_ignores_numeric_type_but_not_booleans():
    assert not same(True, 1)
    assert same([1, {"a": 2.0}], [1.0, {"a": 2}])
    assert not same({"a": 1}, {"a": 1, "b": 2})
    assert not same("1", 1)
