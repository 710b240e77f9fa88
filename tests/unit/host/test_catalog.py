"""Reading a paged listing, and checking each tool separately."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.hidden_text.scan import HiddenText, Sign
from tui.core.workbench import PromptArgument, PromptInfo, ResourceInfo
from tui.host.catalog import (
    DESCRIPTION_CHARS,
    MAX_ARGUMENTS,
    MAX_PAGES,
    MAX_URI,
    Walk,
    build_catalog,
    described,
    prompt_infos,
    resource_infos,
    walk_pages,
)

SCHEMA = {"type": "object"}


def tool(name="t", **more):
    return {"name": name, "inputSchema": SCHEMA, **more}


def catalog(*tools, note="", trusted=True):
    return build_catalog("srv", Walk(list(tools), note), trusted=trusted)


async def walked(pages):
    """Walk over `pages`, a mapping of cursor to page; also return the cursors that were requested."""
    asked = []

    async def fetch(cursor):
        asked.append(cursor)
        page = pages(cursor) if callable(pages) else pages[cursor]
        if isinstance(page, Exception):
            raise page
        return page

    return await walk_pages(fetch, "tools"), asked


def first(cursor):
    return {"tools": [1], "nextCursor": cursor}


WALKS = {
    "all pages are followed": ({None: first("b"), "b": {"tools": [2]}}, [1, 2], "", [None, "b"]),
    "the page after an empty cursor": ({None: first(""), "": {"tools": [2]}}, [1, 2], "", [None, ""]),
    "the same page after an empty cursor": (lambda cursor: first(""), [1], "", [None, ""]),
    "a huge cursor": ({None: first("c" * 1_000_000)}, [1], "a cursor has 1,000,000 characters", [None]),
    "a cursor that is no string": ({None: first({"page": 2})}, [1], "a cursor is not a string", [None]),
    "a page fails": ({None: first("b"), "b": ValueError("boom")}, [1], "page 2 failed: boom", [None, "b"]),
    "a page is late": ({None: first("b"), "b": TimeoutError()}, [1], "page 2 took too long", [None, "b"]),
}


@pytest.mark.parametrize(("pages", "items", "why", "cursors"), WALKS.values(), ids=WALKS)
async def test_pages_are_followed_until_the_end_or_a_fault_and_what_was_found_is_kept(
    pages, items, why, cursors
):
    walk, asked = await walked(pages)
    assert (walk.items, asked) == (items, cursors)
    assert walk.note == (f"listing stopped because {why}" if why else "")
    assert walk.incomplete is why.startswith("page")


async def test_a_repeated_cursor_is_followed_once():
    walk, asked = await walked(lambda cursor: {"tools": [cursor], "nextCursor": ""})
    assert asked == [None, ""]
    assert "was repeated" in walk.note


async def test_a_cursor_that_never_repeats_ends_at_the_page_limit():
    walk, asked = await walked(lambda cursor: {"tools": [1], "nextCursor": (cursor or "") + "x"})
    assert len(asked) == MAX_PAGES
    assert f"more than {MAX_PAGES} pages" in walk.note


async def test_too_many_entries_are_truncated_with_a_note(monkeypatch):
    monkeypatch.setattr("tui.host.catalog.MAX_TOOLS", 10)
    walk, _ = await walked(lambda cursor: {"tools": [1] * 6, "nextCursor": (cursor or "") + "x"})
    assert len(walk.items) == 10
    assert "rest is omitted" in walk.note


async def test_one_page_with_too_many_entries_is_truncated_with_a_note(monkeypatch):
    monkeypatch.setattr("tui.host.catalog.MAX_TOOLS", 10)
    walk, _ = await walked({None: {"tools": [1] * 11}})
    assert (len(walk.items), walk.note) == (10, "more than 10 entries were listed, and the rest is omitted")
    walk, _ = await walked({None: {"tools": [1] * 10}})
    assert (len(walk.items), walk.note) == (10, "")


async def test_an_error_on_the_first_page_is_raised():
    with pytest.raises(ValueError, match="boom"):
        await walked({None: ValueError("boom")})


@pytest.mark.parametrize("tools", [None, {}, "x", 7])
async def test_a_listing_that_is_not_a_list_is_empty(tools):
    walk, _ = await walked({None: {"tools": tools}})
    assert (walk.items, walk.note, walk.incomplete) == ([], "page 1 has no list of tools", True)


MALFORMED = {
    "not an object": ("x", "not an object"),
    "no name": ({"inputSchema": SCHEMA}, "no name"),
    "an empty name": (tool(""), "no name"),
    "a blank name": (tool(" "), "no name"),
    "a number as name": (tool(5), "no name"),
    "an endless name": (tool("a" * 300), "300 characters"),
    "a newline in the name": (tool("new\nline"), "control or invisible"),
    "an override in the name": (tool("\u202egnp.exe"), "control or invisible"),
    "no schema": ({"name": "t"}, "is missing"),
    "a null schema": ({"name": "t", "inputSchema": None}, "null"),
    "a schema of another type": ({"name": "t", "inputSchema": {"type": "array"}}, '"type": "object"'),
    "a schema without a type": ({"name": "t", "inputSchema": {}}, '"type": "object"'),
    "a bad output schema": (tool(outputSchema=[]), "outputSchema is an array"),
}


@each_case(("bad", "why"), MALFORMED.values())
def test_one_malformed_tool_never_affects_the_others(bad, why):
    found = catalog(tool("before"), bad, tool("after"))
    assert [one.name for one in found.tools] == ["before", "after"]
    [(_, reason)] = found.quarantined
    assert why in reason


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"type": "string"}}},
        {"anyOf": [{"type": "object", "properties": {"x": {}}}, {"type": "string"}]},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}},
    ],
)
def test_a_schema_with_properties_may_omit_its_type(schema):
    found = catalog({"name": "t", "inputSchema": schema})
    assert [one.schema for one in found.tools] == [schema] and found.quarantined == ()


def test_names_are_kept_unchanged():
    names = ["naïve", "搜索", "with space", "../../etc/passwd", "get.user", "get_user", "Get_User"]
    assert [one.name for one in catalog(*map(tool, names)).tools] == names


def test_the_same_tool_listed_twice_is_one_tool():
    found = catalog(tool("a"), tool("a"))
    assert (len(found.tools), found.quarantined) == (1, ())


def test_of_two_different_tools_with_one_name_the_first_is_kept_and_the_second_reported():
    found = catalog(tool("a", description="1"), tool("a", description="2"))
    assert [one.description for one in found.tools] == ["1"]
    assert found.quarantined == (("a", "a different tool with the same name"),)


def test_a_listing_problem_is_not_reported_as_an_omitted_tool():
    found = catalog(note="the end")
    assert (found.quarantined, found.listing_problem) == ((), "the end")


def after(before, *tools, incomplete=True):
    walk = Walk(list(tools), "page 2 failed", incomplete)
    return build_catalog("srv", walk, trusted=True, before=before)


def test_an_incomplete_listing_keeps_the_known_tools_that_it_lacks():
    before = catalog(tool("a"), tool("b", outputSchema=SCHEMA), tool("c", description="old"))
    found = after(before, tool("c", description="new"), tool("d"))
    assert [(one.name, one.description) for one in found.tools] == [
        ("c", "new"),
        ("d", ""),
        ("a", ""),
        ("b", ""),
    ]
    assert found.output_schemas == {"b": SCHEMA}


def test_an_incomplete_listing_does_not_keep_a_tool_that_it_lists_as_malformed():
    found = after(catalog(tool("a")), {"name": "a"})
    assert found.tools == ()


def test_a_complete_listing_drops_tools_that_it_lacks():
    assert after(catalog(tool("a")), tool("b"), incomplete=False).find("a") is None


def test_incomplete_listings_never_accumulate_more_tools_than_the_limit(monkeypatch):
    monkeypatch.setattr("tui.host.catalog.MAX_TOOLS", 3)
    found = catalog(tool("a"), tool("b"))
    for name in "cdef":
        found = after(found, tool(name))
    assert [one.name for one in found.tools] == ["f", "e", "d"]


def test_tools_are_pinned_by_name():
    found = build_catalog("srv", Walk([tool("get_a"), tool("set_a")]), trusted=True, pins=["get_*"]).tools
    assert [(one.name, one.pinned) for one in found] == [("get_a", True), ("set_a", False)]


def test_hints_of_the_wrong_type_are_ignored():
    hints = {"readOnlyHint": "yes", "destructiveHint": 1, "idempotentHint": True, "title": "T"}
    [found] = catalog(tool(annotations=hints), trusted=False).tools
    assert (found.read_only, found.destructive, found.idempotent) == (False, None, True)
    assert (found.title, found.trusted) == ("T", False)


def test_a_long_description_is_truncated_with_a_visible_note():
    text = described("x" * 5_000_000)
    assert len(text) < DESCRIPTION_CHARS + 100
    assert text.endswith("… [truncated: 5,000,000 characters]")


def test_tag_characters_do_not_reach_the_model():
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert described(f"Adds.{hidden}") == "Adds.\ufffd"


def test_escape_sequences_in_a_description_are_neutralized():
    assert described("\x1b[2J") == "␛[2J"


@each_case("field", ["title", "description", "inputSchema", "outputSchema", "annotations"])
def test_the_digest_changes_with_every_part_that_is_read(field):
    changed = tool(**{field: {"type": "object", "x": 1}})
    [before], [after] = catalog(tool()).tools, catalog(changed).tools
    assert before.digest != after.digest


def test_the_digest_does_not_depend_on_the_order_of_keys():
    one = {"name": "t", "inputSchema": {"type": "object", "title": "x"}}
    other = {"inputSchema": {"title": "x", "type": "object"}, "name": "t"}
    assert catalog(one).tools[0].digest == catalog(other).tools[0].digest


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["name", "inputSchema", "type", "object", "annotations", "title", "outputSchema"]
            ),
            inner,
        )
    ),
    max_leaves=25,
)


@given(st.lists(json_values, max_size=6))
def test_any_listing_can_be_read(items):
    found = build_catalog("srv", Walk(items), trusted=True)
    assert len(found.tools) + len(found.quarantined) <= len(items)


@each_case(
    ("ui", "offered"),
    [
        ({"visibility": ["app"]}, False),
        ({"visibility": []}, False),
        ({"visibility": ["model", "app"]}, True),
        ({"visibility": "app"}, True),
        ({}, True),
        (7, True),
    ],
)
def test_a_tool_only_for_apps_is_withheld_from_the_model(ui, offered):
    (found,) = catalog(tool(_meta={"ui": ui})).tools
    assert bool(found.withheld) is not offered


@pytest.mark.parametrize(
    ("protocol", "support", "offered"),
    [
        ("2025-11-25", "required", False),
        ("2025-11-25", "optional", True),
        ("2026-07-28", "required", True),
        ("2025-06-18", "required", True),
    ],
)
def test_a_tool_that_requires_2025_tasks_is_withheld_from_the_model(protocol, support, offered):
    walk = Walk([tool(execution={"taskSupport": support})])
    (found,) = build_catalog("srv", walk, trusted=True, protocol=protocol).tools
    assert bool(found.withheld) is not offered


@pytest.mark.parametrize(
    ("icons", "has_icon"), [([{"src": "https://x/i.png"}], True), ([], False), ("x", False)]
)
def test_an_icon_is_noted_but_not_stored(icons, has_icon):
    (found,) = catalog(tool(icons=icons)).tools
    assert found.has_icon is has_icon
    assert "x/i.png" not in repr(found)


async def test_a_list_is_only_as_fresh_as_its_least_fresh_page():
    pages = {
        None: {"tools": [1], "nextCursor": "b", "ttlMs": 5_000, "cacheScope": "public"},
        "b": {"tools": [2], "ttlMs": 1_000, "cacheScope": "private"},
    }
    walk, _ = await walked(pages)
    assert (walk.ttl_ms, walk.scope) == (1_000, "private")


@pytest.mark.parametrize("hint", [{}, {"ttlMs": -1, "cacheScope": "all"}, {"ttlMs": True}, {"ttlMs": "5"}])
async def test_an_invalid_caching_hint_is_ignored(hint):
    walk, _ = await walked({None: {"tools": [1], **hint}})
    assert (walk.ttl_ms, walk.scope) == (None, "")


# ---- resources and prompts ------------------------------------------------------------------------------


def test_the_texts_of_a_resource_are_kept_unchanged():
    raw = {"uri": "a://b", "name": "n\x1b[2J", "title": "t", "mimeType": "text/plain", "size": 3}
    found, fault = resource_infos("s", [raw], template=False)
    escapes = HiddenText(Sign.ESCAPES, "name", "n␛[2J")
    assert found == [ResourceInfo("s", "a://b", "n\x1b[2J", "t", "", "text/plain", 3, hidden=(escapes,))]
    assert fault == ""


def test_a_template_is_recognized_by_its_uri_template():
    found, fault = resource_infos("s", [{"uriTemplate": "a://{b}"}, {"uri": "a://b"}], template=True)
    assert found == [ResourceInfo("s", "a://{b}", template=True)]
    assert fault == "1 of 2 templates are malformed and were omitted."


@each_case("raw", [None, [], "a://b", {}, {"uri": ""}, {"uri": 7}, {"uri": "x" * (MAX_URI + 1)}])
def test_one_malformed_resource_does_not_affect_the_others(raw):
    found, fault = resource_infos("s", [raw, {"uri": "a://b"}], template=False)
    assert [one.uri for one in found] == ["a://b"]
    assert fault == "1 of 2 resources are malformed and were omitted."


@each_case("size", [True, -1, 1.5, "3", None])
def test_an_invalid_size_is_dropped(size):
    found, _ = resource_infos("s", [{"uri": "a://b", "size": size}], template=False)
    assert found[0].size is None


def test_only_named_prompt_arguments_count_and_only_true_means_required():
    listed = [{"name": "a", "required": True}, {"name": "b", "required": "yes"}, {"name": 3}, "c"]
    found, fault = prompt_infos("s", [{"name": "p", "arguments": listed}, {"arguments": []}])
    assert found == [PromptInfo("s", "p", arguments=(PromptArgument("a", "", True), PromptArgument("b")))]
    assert fault == "1 of 2 prompts are malformed and were omitted."


def test_too_many_prompt_arguments_are_truncated():
    listed = [{"name": str(number)} for number in range(MAX_ARGUMENTS + 5)]
    found, _ = prompt_infos("s", [{"name": "p", "arguments": listed}])
    assert len(found[0].arguments) == MAX_ARGUMENTS
