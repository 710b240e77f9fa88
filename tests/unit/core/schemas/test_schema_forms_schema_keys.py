"""Names that a provider rejects are sent changed, and restored in calls."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.core.schemas.schema_forms import KEY, renamed_keys, with_plain_keys


def names_in(node: Any) -> list[str]:
    if isinstance(node, dict):
        found = list(node.get("properties", {}))
        return found + [name for inner in node.get("properties", {}).values() for name in names_in(inner)]
    return []


def test_a_schema_with_accepted_names_is_unchanged() -> None:
    schema = {"type": "object", "properties": {"a.b-c_1": {}}}
    assert with_plain_keys(schema) == (schema, {})


def test_names_are_changed_at_any_depth_and_in_required() -> None:
    schema = {
        "type": "object",
        "properties": {"$top": {"properties": {"filter[id]": {"enum": ["$top"]}}}, "a": {}},
        "required": ["$top"],
    }
    made, keys = with_plain_keys(schema)
    assert made["required"] == ["_top"] and keys == {"_top": "$top", "filter_id_": "filter[id]"}
    assert made["properties"]["_top"]["properties"]["filter_id_"] == {"enum": ["$top"]}


def test_a_new_name_never_collides_with_an_existing_one() -> None:
    made, keys = with_plain_keys({"properties": {"$a": {}, "_a": {}, "?a": {}}})
    assert len(made["properties"]) == 3 and sorted(keys.values()) == ["$a", "?a"]
    assert "_a" not in keys


def test_arguments_get_their_original_names_back() -> None:
    keys = {"_top": "$top"}
    assert renamed_keys({"_top": [{"_top": 1}], "x": "_top"}, keys) == {"$top": [{"$top": 1}], "x": "_top"}


NAMES = st.text(max_size=80)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.just({}), max_size=3), max_size=4))
def test_any_names_become_acceptable_and_can_be_restored(properties: dict[str, Any]) -> None:
    schema = {"properties": {name: {"properties": inner} for name, inner in properties.items()}}
    made, keys = with_plain_keys(schema)
    assert all(KEY.fullmatch(name) for name in names_in(made))
    assert len(names_in(made)) == len(names_in(schema))
    arguments = {name: dict.fromkeys(inner, 1) for name, inner in properties.items()}
    back = {old: new for new, old in keys.items()}
    assert renamed_keys(renamed_keys(arguments, back), keys) == arguments
