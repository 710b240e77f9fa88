"""The effect of single keywords on a field, whatever their value."""

import pytest

from tui.core.forms.schema import bounds_of, choices_of, kind_of, required_of, united
from tui.core.forms.spec import FieldKind


def test_merging_keeps_both_schemas_and_the_outer_one_wins_conflicts():
    both = united(
        {"type": "object", "properties": {"a": {}}, "required": ["a"], "title": "in"},
        {"properties": {"b": {}}, "required": ["b"], "title": "out"},
    )
    assert set(both["properties"]) == {"a", "b"}
    assert required_of(both) == {"a", "b"}
    assert both["title"] == "out" and both["type"] == "object"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"properties": {"a": {}}}, FieldKind.OBJECT),
        ({"items": {}}, FieldKind.ARRAY),
        ({"minimum": 1}, FieldKind.JSON),
        ({"type": "surprise"}, FieldKind.JSON),
    ],
)
def test_the_kind_of_a_schema_without_a_known_type_is_inferred_from_its_keywords(schema, kind):
    assert kind_of(schema) is kind


@pytest.mark.parametrize("required", [None, "ab", {"a": 1}, [1, None, ["a"]]])
def test_an_invalid_required_list_requires_nothing(required):
    assert required_of({"required": required}) == frozenset()


@pytest.mark.parametrize("limit", ["3", None, True, float("nan"), float("inf"), [1]])
def test_limits_that_are_not_numbers_are_ignored(limit):
    bounds = bounds_of({"type": "integer", "minimum": limit, "maximum": limit}, FieldKind.INTEGER)
    assert (bounds.minimum, bounds.maximum) == (None, None)


def test_a_constant_is_a_choice_of_one_value():
    choices = choices_of({"const": "x"})
    assert choices is not None and [(one.label, one.value) for one in choices] == [("x", "x")]


@pytest.mark.parametrize("listed", [[], "abc", None, {"a": 1}])
def test_an_enumeration_without_values_offers_no_choices(listed):
    assert not choices_of({"enum": listed})
