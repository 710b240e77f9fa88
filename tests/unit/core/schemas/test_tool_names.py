"""Every tool has one name that every provider accepts, and every name resolves to one tool."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tui.core.schemas.tool_names import NameTable
from tui.core.tools import Tool

ACCEPTED = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
PIECES = st.one_of(
    st.text(st.sampled_from("aA_-.9 搜"), max_size=8),
    st.text(max_size=6),
    st.just("x" * 100),
    st.just("a__b"),
)
PAIRS = st.lists(st.tuples(PIECES, PIECES), unique=True, max_size=12)


def names(*pairs: tuple[str, str]) -> list[str]:
    return [name for name, _ in NameTable([Tool(server, tool) for server, tool in pairs]).items()]


def test_a_tool_name_consists_of_server_and_tool():
    assert names(("weather", "get_weather")) == ["weather__get_weather"]


@given(PAIRS)
def test_names_are_valid_unique_and_resolve_to_their_tool(pairs: list[tuple[str, str]]):
    table = NameTable([Tool(server, tool) for server, tool in pairs])
    assert len(table.items()) == len(pairs)
    for name, tool in table.items():
        assert ACCEPTED.fullmatch(name), name
        assert table.resolve(name) is tool
        assert table.name_of(tool) == name


@given(PAIRS, st.randoms())
def test_names_do_not_depend_on_the_order_of_servers(pairs: list[tuple[str, str]], random):
    shuffled = pairs[:]
    random.shuffle(shuffled)
    tools = [Tool(server, tool) for server, tool in pairs]
    first, second = NameTable(tools), NameTable([Tool(server, tool) for server, tool in shuffled])
    assert [first.name_of(tool) for tool in tools] == [second.name_of(tool) for tool in tools]


def test_a_server_cannot_impersonate_the_tool_of_another():
    assert len(set(names(("a", "b__c"), ("a__b", "c"), ("a_", "_b__c")))) == 3


def test_a_spelling_that_differs_in_case_or_hyphens_resolves_if_it_is_unambiguous():
    one = NameTable([Tool("files", "read-file")])
    assert one.resolve("Files__read_file") is one.items()[0][1]
    two = NameTable([Tool("files", "read-file"), Tool("files", "read_file")])
    assert two.resolve("FILES__READ_FILE") is None


def test_a_bare_tool_name_resolves_if_it_is_unique():
    table = NameTable([Tool("a", "get"), Tool("b", "get"), Tool("b", "put")])
    assert table.resolve("put") is not None
    assert table.resolve("get") is None


def test_close_names_are_suggested_for_a_misspelled_one():
    table = NameTable([Tool("weather", "get_weather"), Tool("notes", "add_note")])
    assert table.close_to("weather__get_wether") == ["weather__get_weather"]
