"""The effects of changes, from harmless to harmful."""

from tui.core.permission.change_effects import ORDER, ChangeEffect, is_harmless


def test_effects_are_ordered_and_the_first_three_are_harmless():
    assert list(map(str, ORDER)) == ["cosmetic", "compatible", "routing", "breaking", "suspicious"]
    assert [is_harmless(effect) for effect in ChangeEffect] == [True, True, True, False, False]
