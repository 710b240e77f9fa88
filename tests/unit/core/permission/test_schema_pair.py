"""Two schemas side by side: the places of their keywords, and values that are no keywords' values."""

from tests.cases import each_case
from tui.core.permission.schema_pair import SchemaPair, has_same_words, unsound_keys
from tui.core.schemas.alternatives import Node

AT, ELSEWHERE = ("inputSchema", "properties", "a"), ("inputSchema", "$defs", "A")


def test_equal_words_ignore_white_space_and_punctuation_after_words():
    assert has_same_words("Adds two numbers.", "Adds  two numbers")
    assert not has_same_words("Adds 1.5", "Adds 15") and not has_same_words("Adds.", "adds.")
    assert not has_same_words("Adds.", None)


def test_a_keyword_that_both_write_in_a_definition_has_its_place_there():
    places = {"minLength": ELSEWHERE}
    one, other = Node({"minLength": 1}, AT, places), Node({"minLength": 2}, AT, places)
    assert SchemaPair(one, other, AT).place("minLength") == (*ELSEWHERE, "minLength")
    assert SchemaPair(one, Node({"minLength": 2}, AT), AT).place("minLength") == (*AT, "minLength")


@each_case(
    ("was", "now", "found"),
    [
        ({"type": "string"}, {"type": "text"}, ["type"]),
        ({"required": "a"}, {"required": "a"}, []),
        ({"required": "a"}, {}, ["required"]),
        ({"properties": []}, {"properties": {}}, ["properties"]),
        ({"anyOf": []}, {"anyOf": [{}]}, ["anyOf"]),
        ({"items": [{}]}, {"items": []}, []),
    ],
)
def test_values_that_a_keyword_cannot_have_are_found(was, now, found):
    assert list(unsound_keys(SchemaPair(Node(was, AT), Node(now, AT), AT))) == found
