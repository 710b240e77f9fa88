"""JSON paths of saved values."""

import pytest

from tests.cases import each_case
from tui.addons.tests.suite.json_path import NotFound, path_of, steps_of, value_at

VALUE = {"id": 7, "items": [{"a b": "x"}], "$": 1}


@each_case(
    ("path", "value"),
    [("$", VALUE), ("$.id", 7), ("$.items[0]", {"a b": "x"}), ('$.items[0]["a b"]', "x"), ("$['id']", 7)],
)
def test_a_path_names_one_value(path: str, value: object):
    assert value_at(path, VALUE) == value


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("$.no", r"the result has no \$\.no"),
        ("$.items[3].id", r"the result has no \$\.items\[3\]"),
        ("$.id.deeper", r"the result has no \$\.id\.deeper"),
        ("$.items.a", r"the result has no \$\.items\.a"),
    ],
)
def test_a_part_that_is_not_there_is_named(path: str, why: str):
    with pytest.raises(NotFound, match=why):
        value_at(path, VALUE)


@each_case("path", ["id", "", "$.", "$[*]", "$..id", "$.items[-1]", "$.a b", "$[", "$.a$.b"])
def test_other_texts_are_not_paths(path: str):
    assert steps_of(path) is None


def test_steps_are_written_as_a_path():
    assert path_of(("items", 0, "a b", "é")) == '$.items[0]["a b"]["é"]'
