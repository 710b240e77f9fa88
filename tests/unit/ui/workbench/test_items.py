"""Items of the workbench, and expanding URI templates."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.context.context_parts import DefinitionTokens
from tui.core.tools import Tool
from tui.core.workbench import CallKey, CallKind, PromptArgument, PromptInfo, ResourceInfo
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.items import (
    FEW,
    MOST_OPEN,
    Folder,
    Item,
    expanded,
    folders_of,
    has_tree,
    head_of,
    of_prompts,
    of_resources,
    of_tools,
    tree_rows,
    variables,
)


@each_case(
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
    assert variables("a://{x}/{+y}{?z*,x}", required=True) == ["x", "y"]


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
    assert item.matches("rain RADAR")
    assert not item.matches("radar snow")


MILD = Tool("s", "add", destructive=False, idempotent=True)
WHOLE = "  ~120 tokens · marked non-destructive by the server · marked idempotent by the server"


@each_case(
    ("tool", "columns", "line"),
    [
        (MILD, 200, f"{WHOLE} · structured result"),
        (MILD, len(WHOLE), WHOLE),
        (MILD, len(WHOLE) - 1, "  ~120 tokens · marked non-destructive by the server"),
        (Tool("s", "drop", destructive=True, idempotent=True), 46, "  ! destructive · ~120 tokens"),
        (Tool("s", "see", read_only=True, trusted=True), 26, "  read-only · ~120 tokens"),
    ],
)
def test_facts_below_the_name_are_dropped_as_a_whole_the_least_important_first(
    tool: Tool, columns: int, line: str
) -> None:
    (item,) = of_tools([tool], tokens=DefinitionTokens(tools={tool.name: 120}))
    assert text_of(head_of(item, has_output_schema=True).facts(columns)[0]) == line


def items(*uris: str, templates: tuple[str, ...] = ()) -> list[Item]:
    listed = [ResourceInfo("s", uri, uri.rsplit("/", 1)[-1]) for uri in uris]
    return of_resources([*listed, *(ResourceInfo("s", uri, "t", template=True) for uri in templates)])


def drawn(*args: object) -> list[str]:
    rows = tree_rows(*args)  # type: ignore[arg-type]
    return [
        "  " * depth
        + (f"{what.label} {what.count}" if isinstance(what, Folder) else "· ")
        + (what.label if isinstance(what, Item) else "")
        for what, depth in rows
    ]


@each_case(
    ("uri", "folders"),
    [
        ("file:///home/me/a.md", ["file:///", "home/", "me/"]),
        ("demo://host/a/b?x=/y#/z", ["demo://host/", "a/"]),
        ("notes://all", ["notes://"]),
        ("urn:isbn:1", ["urn:"]),
        ("", []),
        ("no address", []),
    ],
)
def test_the_folders_of_a_uri_are_all_but_its_last_part(uri: str, folders: list[str]) -> None:
    assert folders_of(uri) == folders


def test_few_resources_are_shown_as_a_list_and_many_as_a_tree() -> None:
    some = [f"a://{number}" for number in range(FEW)]
    assert not has_tree(items(*some, templates=("a://{x}",)))
    assert has_tree(items(*some, "a://more"))
    assert not has_tree(of_prompts([]))


def test_folders_with_one_folder_in_them_are_one_row_and_templates_come_last() -> None:
    found = items("file:///a/b/c/1", "file:///a/b/c/d/2", "x://y/3", templates=("x://{z}",))
    assert drawn(found, ()) == [
        "file:///a/b/c/ 2",
        "  d/ 1",
        "    · 2",
        "  · 1",
        "x://y/ 1",
        "  · 3",
        "templates 1",
        "  · t",
    ]


def test_a_toggled_folder_is_folded() -> None:
    found = items("a://x/1", "a://x/2", "b://y/3")
    assert drawn(found, {"a://x/"}) == ["a://x/ 2", "b://y/ 1", "  · 3"]


def test_with_very_many_resources_only_the_first_level_is_unfolded() -> None:
    found = items(*(f"a://x/{number % 3}/{number}" for number in range(MOST_OPEN + 1)))
    assert drawn(found, ()) == ["a://x/ 201", "  0/ 67", "  1/ 67", "  2/ 67"]
    assert len(drawn(found, {"a://x/1/"})) == 4 + 67


def test_text_from_a_server_is_cleaned_and_the_depth_is_bounded() -> None:
    rows = tree_rows(items("a\x1b[31m://x/" + "y/" * 500 + "1", "b://1"), ())
    assert "\x1b" not in rows[0][0].label
    assert max(depth for _, depth in rows) < 15
