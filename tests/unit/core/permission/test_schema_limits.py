"""Changed limits of schemas: whether fewer or more values fit."""

from tests.cases import each_case
from tui.core.permission.schema_limits import Shift, limit_shifts

TIGHTER, LOOSER, OTHER = Shift


def shifts(kind, was, now):
    return [(one.key, one.shift) for one in limit_shifts(kind, was, now)]


@each_case(
    ("kind", "was", "now", "found"),
    [
        ("integer", {"minimum": 1}, {"exclusiveMinimum": 0}, []),
        ("number", {"minimum": 1}, {"exclusiveMinimum": 1}, [("minimum", TIGHTER)]),
        ("number", {"minimum": 1, "exclusiveMinimum": True}, {"minimum": 1}, [("exclusiveMinimum", LOOSER)]),
        ("number", {"maximum": 3}, {"maximum": 2.5}, [("maximum", TIGHTER)]),
        ("integer", {"maximum": 2.5}, {"maximum": 2}, []),
        ("number", {"minimum": "1"}, {"minimum": 1}, [("minimum", OTHER)]),
        ("integer", {}, {"multipleOf": 1}, []),
        ("number", {"multipleOf": 0.1}, {"multipleOf": 0.2}, [("multipleOf", TIGHTER)]),
        ("number", {"multipleOf": 2}, {"multipleOf": 3}, [("multipleOf", OTHER)]),
        ("number", {}, {"multipleOf": 0}, [("multipleOf", OTHER)]),
        ("string", {"minLength": 0}, {}, []),
        ("string", {"maxLength": 3}, {}, [("maxLength", LOOSER)]),
        ("array", {"uniqueItems": True}, {"uniqueItems": False}, [("uniqueItems", LOOSER)]),
        ("object", {"maxProperties": 2}, {"maxProperties": 1}, [("maxProperties", TIGHTER)]),
        ("boolean", {"minLength": 1}, {"minimum": 3}, []),
        ("string", {"format": "date"}, {"format": "time"}, [("format", OTHER)]),
        ("integer", {"format": "int64"}, {"format": "int32"}, [("format", TIGHTER)]),
    ],
)
def test_limits_are_compared_by_what_they_let_through(kind, was, now, found):
    assert shifts(kind, was, now) == found
