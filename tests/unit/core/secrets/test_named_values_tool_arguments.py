"""Which arguments of which tools are secret."""

import pytest

from tui.core.secrets.named_values import BY_NAME, SecretArguments, secret_names

SECRET = {"type": "string", "format": "password"}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"properties": {"a": SECRET, "b": {"type": "string"}}}, {"a"}),
        ({"properties": {"a": {"writeOnly": True}}}, {"a"}),
        ({"properties": {"a": {"properties": {"b": SECRET}}}}, {"b"}),
        ({"properties": {"a": {"items": {"properties": {"b": SECRET}}}}}, {"b"}),
        ({"properties": {"a": {"items": SECRET}}}, {"a"}),
        ({"properties": {"a": {"additionalProperties": SECRET}}}, {"a"}),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, SECRET]}}}, {"a"}),
        ({"properties": {"a": {"$ref": "#/$defs/S"}}, "$defs": {"S": SECRET}}, {"a"}),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, set()),
        ({"properties": {"a": {"$ref": "https://example.com/s"}}}, set()),
        ({"properties": {"a": True, "format": {"type": "string"}}}, set()),
        ({"additionalProperties": SECRET}, {"*"}),
        (None, set()),
    ],
)
def test_secret_arguments_are_read_from_the_schema(schema: object, names: set[str]):
    assert secret_names(schema) == names


def test_a_huge_schema_can_be_read():
    schema: dict[str, object] = {}
    for number in range(5000):
        schema = {"properties": {str(number): schema}, "items": schema}
    assert secret_names(schema) == frozenset()


def test_a_secret_argument_remains_secret_when_the_schema_changes():
    known = SecretArguments()
    known.learn("s", "t", {"properties": {"a": SECRET}})
    known.learn("s", "t", {"properties": {"a": {}}})
    assert known.of("s", "t").includes("a") and not known.of("other", "t").includes("a")


@pytest.mark.parametrize(
    ("rule", "secret", "other"),
    [
        ("login.ssn", ("login", "ssn"), ("logout", "ssn")),
        ("*.ssn", ("logout", "ssn"), ("login", "name")),
        ("ssn", ("logout", "ssn"), ("login", "name")),
        ("log*.s?n", ("login", "sin"), ("find", "ssn")),
        ("a.b.ssn", ("a.b", "ssn"), ("a", "ssn")),
    ],
)
def test_a_rule_makes_an_argument_of_a_tool_secret(
    rule: str, secret: tuple[str, str], other: tuple[str, str]
):
    known = SecretArguments()
    known.set_rules({"s": [rule]})
    assert known.of("s", secret[0]).declares(secret[1])
    assert not known.of("s", other[0]).declares(other[1])
    assert known.of("t", secret[0]) == BY_NAME
    assert known.of_model_name(f"s__{secret[0]}").declares(secret[1])
    assert not known.of_model_name(f"s__{other[0]}").declares(other[1])


@pytest.mark.parametrize("name", ["s-1__log_in", "S_1__log-in", "log_in", "s_1__log_in_0a1b2c3d", "x" * 60])
def test_a_tool_is_also_found_by_the_name_that_models_use(name: str):
    known = SecretArguments()
    known.learn("s 1", "log.in", {"properties": {"a": SECRET}})
    assert known.of_model_name(name).declares("a")
    assert not known.of_model_name("s_1__other").declares("a")
