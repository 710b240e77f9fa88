"""Items of the workbench, and expanding URI templates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.tools import Tool
from tui.core.workbench import CallKey, CallKind, PromptArgument, PromptInfo, ResourceInfo
from tui.ui.workbench.items import expanded, of_prompts, of_resources, of_tools, required_variables, variables


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("a://{x}", "a://b%20c"),
        ("a://{+path}", "a:///e/f"),
        ("a://x{/x,y}", "a://x/b%20c/d"),
        ("a://x{?x,none,y}", "a://x?x=b%20c&y=d"),
        ("a://x?q=1{&y}", "a://x?q=1&y=d"),
        ("a://x{#path}", "a://x#/e/f"),
        ("a://x{.y}", "a://x.d"),
        ("a://x{;y,empty}", "a://x;y=d;empty"),
        ("a://{x:1}", "a://b"),
        ("a://{none}", "a://"),
        ("a://{path*}", "a://%2Fe%2Ff"),
        ("a://{", "a://{"),
    ],
)
def test_a_uri_template_expands_as_rfc_6570_specifies(template: str, uri: str) -> None:
    assert expanded(template, {"x": "b c", "y": "d", "path": "/e/f", "empty": ""}) == uri


def test_query_variables_of_a_template_are_optional() -> None:
    assert variables("a://{x}/{+y}{?z*,x}") == ["x", "y", "z"]
    assert required_variables("a://{x}/{+y}{?z*,x}") == ["x", "y"]


@given(st.text(max_size=200), st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=4))
def test_expanding_any_template_with_any_values_does_not_raise(template: str, values: dict[str, str]) -> None:
    expanded(template, values)
    variables(template)


def test_a_destructive_tool_warns_and_others_do_not() -> None:
    wild, mild = of_tools(
        [Tool("s", "drop", destructive=True), Tool("s", "see", read_only=True, trusted=True)]
    )
    assert "drop may delete or overwrite data" in wild.warning
    assert (wild.note, mild.note, mild.warning) == ("destructive", "read-only", "")


def test_templates_come_after_resources_and_have_their_variables_as_arguments() -> None:
    found = of_resources([ResourceInfo("s", "a://{x}", template=True), ResourceInfo("s", "a://b", size=1200)])
    assert [(item.note, item.size) for item in found] == [("", "1.2 kB"), ("template", "")]
    assert found[1].schema["required"] == ["x"]
    assert found[1].call_key("s") == CallKey("s", CallKind.RESOURCE, "a://{x}")


def test_the_arguments_of_a_prompt_are_strings() -> None:
    (found,) = of_prompts([PromptInfo("s", "p", arguments=(PromptArgument("a", "what", True),))])
    assert found.schema["properties"] == {"a": {"type": "string", "description": "what"}}
    assert found.schema["required"] == ["a"]


def test_an_item_is_found_by_words_in_its_name_or_description() -> None:
    (item,) = of_tools([Tool("s", "get_radar", description="A picture of the Rain")])
    assert item.matches(["radar", "rain"])
    assert not item.matches(["radar", "snow"])
