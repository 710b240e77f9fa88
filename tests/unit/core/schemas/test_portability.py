"""What each provider does not accept in a tool's schema or name."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.core.schemas.portability import (
    MAX_LEVELS,
    RULES,
    Effect,
    Provider,
    name_problem,
    problems,
    rejections,
)


def schema(**properties: Any) -> dict[str, Any]:
    closed = {"type": "object", "additionalProperties": False}
    return {**closed, "properties": properties, "required": list(properties)}


TEXT = {"type": "string"}


@each_case("provider", list(Provider))
def test_a_closed_object_of_required_texts_is_accepted_by_every_provider(provider: Provider):
    given = schema(a=TEXT, b={"type": "array", "items": TEXT})
    assert problems(given, provider, list(Effect)) == []


@each_case(
    "given, problem",
    [
        ({"type": "object", "properties": {}}, "additionalProperties is not false"),
        (schema(a={"type": "object"}), "an object with any properties (a)"),
        (schema(a={**schema(b=TEXT), "additionalProperties": TEXT}), "an object with any properties (a)"),
        (schema(a={"allOf": [TEXT, TEXT]}), "keyword allOf (a)"),
        ({**schema(a=TEXT, b=TEXT), "required": ["a"]}, "optional property (b)"),
        (schema(a={"oneOf": [TEXT, TEXT]}), "keyword oneOf (a)"),
        (schema(a={"type": "string", "format": "uri"}), "format uri (a)"),
        (schema(a={"description": "anything"}), "no type (a)"),
        (schema(a={"enum": list(range(1_001))}), "more than 1,000 enum values"),
        ({**schema(), "anyOf": [{}]}, "anyOf at the root of the inputSchema"),
    ],
)
def test_strict_mode_of_openai_rejects(given: dict[str, Any], problem: str):
    assert problem in problems(given, Provider.OPENAI_STRICT, list(Effect))


def test_strict_mode_of_openai_rejects_deep_nesting():
    deep = schema(a=TEXT)
    for _ in range(MAX_LEVELS):
        deep = schema(a=deep)
    assert problems(deep, Provider.OPENAI_STRICT) == ["objects nested deeper than 10 levels"]


def test_what_hosts_rewrite_for_strict_mode_is_not_rejected():
    given = {"type": "object", "properties": {"a": TEXT, "b": {"oneOf": [TEXT, {"type": "null"}]}}}
    assert len(problems(given, Provider.OPENAI_STRICT, [Effect.REWRITTEN])) == 3
    assert problems(given, Provider.OPENAI_STRICT) == []


def test_optional_properties_are_accepted_without_strict_mode():
    given = {"type": "object", "properties": {"a": TEXT}}
    assert [problems(given, one) for one in Provider if one is not Provider.OPENAI_STRICT] == [[], [], [], []]


@pytest.mark.parametrize(
    "part, problem",
    [
        ({"const": 1}, "keyword const (a)"),
        ({"type": "integer", "exclusiveMinimum": 0}, "keyword exclusiveMinimum (a)"),
        ({"$ref": "#/$defs/x", "description": "x"}, "keywords next to $ref (a)"),
    ],
)
def test_google_may_ignore_what_its_subset_does_not_have(part: dict[str, Any], problem: str):
    given = {**schema(a=part), "$defs": {"x": TEXT}}
    assert problems(given, Provider.GEMINI, [Effect.IGNORED]) == [problem]
    assert problems(given, Provider.GEMINI) == []


def test_a_property_called_like_a_keyword_is_no_keyword():
    assert problems(schema(const=TEXT, contains=TEXT), Provider.GEMINI, list(Effect)) == []


def test_anthropic_rejects_property_names_with_other_characters():
    assert problems(schema(**{"a b": TEXT}), Provider.ANTHROPIC) == ["property name “a b”"]


@each_case(
    ("name", "rejecting"),
    [
        ("2nd", [Provider.GEMINI, Provider.MOONSHOT]),
        ("a" * 128, [Provider.OPENAI, Provider.OPENAI_STRICT]),
        ("a" * 129, [one for one in Provider if one is not Provider.MOONSHOT]),
        ("a.b:c", [Provider.OPENAI, Provider.OPENAI_STRICT, Provider.ANTHROPIC]),
        ("a\n", [one for one in Provider if one is not Provider.MOONSHOT]),
    ],
)
def test_a_name_may_be_rejected_by_some_providers_only(name: str, rejecting: list[Provider]):
    assert [one for one in Provider if name_problem(name, one)] == rejecting


def test_rejections_of_several_providers_are_one_sentence():
    given = schema(a={"type": "array"})
    asked = (Provider.OPENAI, Provider.ANTHROPIC, Provider.GEMINI)
    assert rejections("x", given, asked) == {
        "an array without `items`": [Provider.OPENAI, Provider.GEMINI],
    }


def test_every_rule_names_its_source():
    assert all(rule.source for rule in RULES)


@each_case("hostile", [None, [], "x", {"properties": []}, {"items": {"required": 7}, "enum": 7}])
def test_schemas_of_any_shape_are_read(hostile: Any):
    assert [problems(hostile, one) for one in Provider]


def test_huge_schemas_are_read_in_part():
    wide: dict[str, Any] = schema(**{f"a{n}": {"anyOf": [TEXT] * 20} for n in range(2_000)})
    cyclic: dict[str, Any] = {"type": "object"}
    cyclic["properties"] = {"a": cyclic}
    for given in (wide, cyclic):
        assert isinstance(problems(given, Provider.OPENAI_STRICT), list)
