"""Arguments on the command line, converted by any schema."""

from argparse import Namespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.cli import _parsed
from tui.commands.call.arguments import Arguments
from tui.commands.call.request import given_json, request_of, unconfigured
from tui.core.errors import ConfigError, UsageError
from tui.core.servers import Transport
from tui.core.workbench import PromptArgument, PromptInfo


def of(properties: dict[str, Any], **more: Any) -> Arguments:
    return Arguments("tool", {"type": "object", "properties": properties, **more})


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, "", ""),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "string"]}, "5", 5),
        ({"type": ["integer", "string"]}, "five", "five"),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "[1]", [1]),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "[1", "[1"),
        ({"$ref": "#/$defs/Size"}, "2", 2),
        ({"const": 3}, "3", 3),
        ({"enum": [1, "1x"]}, "1", 1),
        ({}, '{"a": null}', {"a": None}),
        (True, "5", 5),
    ],
)
def test_a_text_is_converted_to_the_type_in_its_schema(schema: Any, text: str, value: Any):
    takes = of({"x": schema}, **{"$defs": {"Size": {"type": "integer"}}})
    found = takes.from_pairs([f"x={text}"])["x"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "said"),
    [
        ({}, "words", """Write JSON, such as x='"text"'"""),
        ({"type": "array"}, "[1", """Write JSON, such as x='["a", "b"]'"""),
        ({"type": "boolean"}, "yes", "x is not true or false: “yes”. Its arguments: [x=true|false]"),
        ({"type": ["integer", "boolean"]}, "yes", "matches none of its types ("),
    ],
)
def test_an_invalid_value_is_rejected_with_a_suggestion(schema: Any, text: str, said: str):
    with pytest.raises(UsageError) as caught:
        of({"x": schema}).from_pairs([f"x={text}"])
    assert said in str(caught.value)


def test_a_schema_without_properties_accepts_any_arguments_and_converts_them():
    assert Arguments("tool", {"type": "object"}).from_pairs(["a=1"]) == {"a": 1}
    assert of({}, additionalProperties={"type": "string"}).from_pairs(["a=1"]) == {"a": "1"}


def test_names_from_a_server_cannot_move_the_cursor():
    takes = of({"\x1b[2Jx": {"type": "string"}}, required=["\x1b[2Jx"])
    with pytest.raises(UsageError) as caught:
        takes.require({})
    assert "\x1b" not in str(caught.value)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.text(max_size=5),
            lambda x: (
                st.lists(x, max_size=3)
                | st.dictionaries(st.sampled_from(["type", "enum", "anyOf", "items"]), x, max_size=3)
            ),
            max_leaves=6,
        ),
        max_size=4,
    ),
    st.text(max_size=10),
)
def test_any_schema_from_a_server_raises_nothing_but_a_usage_error(properties: dict[str, Any], text: str):
    takes = of(properties)
    for name in properties:
        if name and "=" not in name:
            try:
                takes.from_pairs([f"{name}={text}"])
            except UsageError as error:
                assert str(error)


PROMPT = PromptInfo("s", "p", arguments=(PromptArgument("style"), PromptArgument("topic", required=True)))


def test_the_arguments_of_a_prompt_stay_strings():
    takes = Arguments("p", PROMPT.schema)
    assert takes.from_pairs(["topic=5", "style="]) == {"topic": "5", "style": ""}
    assert takes.signature == "topic=TEXT [style=TEXT]"


def test_arguments_in_utf_16_are_named_as_such(tmp_path):
    path = tmp_path / "arguments.json"
    path.write_text("{}", encoding="utf-16")
    with pytest.raises(UsageError, match="it is UTF-16 text, not UTF-8"):
        given_json(Namespace(args=f"@{path}", unchecked=False))


def test_the_first_word_is_the_server_unless_a_command_follows():
    assert request_of(_parsed(["call", "s", "t", "a=1"])) == ("s", ("t", "a=1"))
    assert request_of(_parsed(["call", "t", "a=1", "--", "python3"])) == (None, ("t", "a=1"))


def test_the_words_of_a_command_are_not_expanded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_NAME", "value")
    args = _parsed(["list", "--env", "A=${SOME_NAME}", "--", "python3", "${SOME_NAME}"])
    found = unconfigured(args, request_of(args)[0])
    assert found is not None
    assert (found[0].args, found[0].env) == (("${SOME_NAME}",), {"A": "value"})


def test_the_value_of_a_header_is_a_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_TOKEN", "t-3kq9Zt")
    args = _parsed(["list", "https://h.example/mcp", "--header", "Authorization: Bearer ${SOME_TOKEN}"])
    found = unconfigured(args, request_of(args)[0])
    assert found is not None and found[0].transport is Transport.HTTP
    assert "t-3kq9Zt" in found[1].values()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["list", "https://h.example", "--header", "A: ${NO_SUCH_TOKEN}"], "NO_SUCH_TOKEN is not set"),
        (["list", "--", "https://h.example"], "Put the URL first: mcptui"),
        (
            ["list", "https://h.example", "--env", "A=1"],
            "environment variables require a command, and this is a URL.",
        ),
        (["list", "--header", "A: b", "--", "python3"], "headers require a URL, and this is a command."),
    ],
)
def test_options_that_do_not_fit_the_server_are_refused(given: list[str], said: str):
    args = _parsed(given)
    with pytest.raises((UsageError, ConfigError)) as caught:
        unconfigured(args, request_of(args)[0])
    assert said in str(caught.value)
