"""Changing one value in a hand-written text."""

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.save import add_tables, edited, remove_server, server_at, set_value, texts_at


def with_value(text: str, path: tuple[str, ...], value: Any) -> str:
    return edited(text, lambda document: set_value(document, value, *path))


def with_servers(text: str, servers: dict[str, Any]) -> str:
    return edited(text, lambda document: add_tables(document, "servers", servers))


def with_server(text: str, name: str, table: dict[str, Any]) -> str:
    def change(document: dict[str, Any]) -> None:
        server_at(document, name)
        document["servers"][name] = table

    return edited(text, change)


def without_server(text: str, name: str) -> str:
    return edited(text, lambda document: remove_server(document, name))


COMMENTED = """\
# my configuration
default_model = "a"  # the big one

[ui]  # looks
# themes are nice
theme = "harbor"  # ours
keys = { "chat.new" = "f8" }

[servers.x]  # keep me
command = "x"
"""


@each_case(
    ("text", "path", "result"),
    [
        (COMMENTED, ("ui", "theme"), COMMENTED.replace('"harbor"', '"quay"')),
        (
            "[ui]\n# nothing yet\n\n[limits]\nmax_steps = 3\n",
            ("ui", "theme"),
            '[ui]\ntheme = "quay"\n# nothing yet\n\n[limits]\nmax_steps = 3\n',
        ),
        ("# mine\na = 1\n", ("ui", "theme"), '# mine\na = 1\n\n[ui]\ntheme = "quay"\n'),
        ("", ("ui", "theme"), '[ui]\ntheme = "quay"\n'),
        ("# top\n[ui]\n", ("default_model",), '# top\ndefault_model = "quay"\n[ui]\n'),
    ],
)
def test_a_value_is_set_and_every_comment_is_kept(text: str, path: tuple[str, ...], result: str):
    assert with_value(text, path, "quay") == result


@each_case(
    ("text", "result"),
    [
        ("ui = {}\n", 'ui = { theme = "q"}\n'),
        ('ui = { theme = "x" } # c\n', 'ui = { theme = "q" } # c\n'),
        ("ui = { a = 1 }\n", 'ui = { theme = "q", a = 1 }\n'),
        ('ui.theme = "x" # c\n', 'ui.theme = "q" # c\n'),
        ("[ui]", '[ui]\ntheme = "q"\n'),
        ('[ui]\r\ntheme = "x" # c\r\n', '[ui]\r\ntheme = "q" # c\r\n'),
        ('[ui]\r\na = "x"\r\n', '[ui]\r\ntheme = "q"\r\na = "x"\r\n'),
    ],
)
def test_a_table_in_any_notation_is_edited_in_place(text: str, result: str):
    assert with_value(text, ("ui", "theme"), "q") == result


def test_a_text_that_cannot_be_edited_in_place_is_rewritten_without_loss():
    text = 'ui.keys.a = "x" # lost\n'
    found = with_value(text, ("ui", "theme"), "q")
    assert tomllib.loads(found) == {"ui": {"keys": {"a": "x"}, "theme": "q"}}


@pytest.mark.parametrize("text", ["a = ", "ui = 3\n", "[[ui]]\n"])
def test_a_damaged_text_or_one_with_another_meaning_is_refused(text: str):
    with pytest.raises(ValueError):
        with_value(text, ("ui", "theme"), "q")


def test_servers_in_an_inline_table_are_rewritten_without_loss():
    found = with_servers('servers = { x = { command = "x" } }\n', {"y": {"command": "y"}})
    assert list(tomllib.loads(found)["servers"]) == ["x", "y"]


def test_a_server_is_never_replaced():
    with pytest.raises(ValueError, match=r"one of the new names in \[servers\] is already in use"):
        with_servers(COMMENTED, {"x": {"command": "other"}})


keys = st.text(min_size=1, max_size=4)
leaves = st.one_of(
    st.text(max_size=5), st.integers(), st.booleans(), st.lists(st.text(max_size=3), max_size=2)
)
trees = st.dictionaries(
    st.one_of(keys, st.just("ui")),
    st.one_of(leaves, st.dictionaries(st.one_of(keys, st.just("theme")), leaves, max_size=3)),
    max_size=4,
)


@settings(deadline=None)
@given(trees, st.text(max_size=8))
def test_an_edit_of_any_document_changes_only_one_value(tree: dict[str, Any], value: str):
    if not isinstance(tree.get("ui", {}), dict):
        return
    found = tomllib.loads(with_value(tomli_w.dumps(tree), ("ui", "theme"), value))
    assert found == tree | {"ui": tree.get("ui", {}) | {"theme": value}}


SERVERS = """\
# mine
[servers.a]  # the first
command = "a"
# inside
env = { A = "1" }

[servers.a.headers]
X = "2"

# about b
[servers.b]
url = "https://b"

[ui]
theme = "quay"
"""


def test_a_server_is_removed_with_its_tables_and_comments_of_others_are_kept():
    assert without_server(SERVERS, "a") == (
        '# mine\n\n# about b\n[servers.b]\nurl = "https://b"\n\n[ui]\ntheme = "quay"\n'
    )


@each_case(
    "text",
    [
        '[servers]\na = { command = "x" } # c\nb = { command = "y" }\n',
        '[servers]\na.command = "x"\na.args = [\n  "1",\n]\nb.command = "y"\n',
        '[servers."a"]\ncommand = "x"\n[servers.b]\ncommand = "y"\n',
        'servers = { a = { command = "x" }, b = { command = "y" } }\n',
        '[servers.a]\ncommand = """\n# no comment\n"""\n[servers.b]\ncommand = "y"\n',
        '[servers.b]\r\ncommand = "y"\r\n\r\n[servers.a]\r\ncommand = "x"\r\n',
    ],
)
def test_a_server_is_removed_in_any_notation(text: str):
    assert tomllib.loads(without_server(text, "a")) == {"servers": {"b": {"command": "y"}}}


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_a_server_is_removed_beside_values_with_unicode_line_separators(separator: str):
    servers = {"a": {"env": {separator: ""}}, "b": {"args": [separator], "env": {}}}
    text = tomli_w.dumps({"servers": servers})
    assert tomllib.loads(without_server(text, "b")) == {"servers": {"a": servers["a"]}}


def test_the_last_server_leaves_an_empty_table_so_that_no_sample_starts():
    assert tomllib.loads(without_server('[servers.a]\ncommand = "x"\n', "a")) == {"servers": {}}


def test_an_unknown_server_cannot_be_removed_or_changed():
    for change in (lambda: without_server(SERVERS, "c"), lambda: with_server(SERVERS, "c", {})):
        with pytest.raises(ValueError, match="server 'c' not found"):
            change()


def test_a_changed_server_keeps_every_comment_and_unchanged_key():
    found = with_server(SERVERS, "b", {"url": "https://c", "headers": {"X-Y": "${Z}"}})
    assert found == SERVERS.replace('url = "https://b"\n', 'url = "https://c"\n').replace(
        "[servers.b]\n", '[servers.b]\nheaders = { X-Y = "${Z}" }\n'
    )


def test_a_server_changes_from_a_command_to_a_url():
    found = with_server(SERVERS, "a", {"url": "https://a", "headers": {"X": "3"}})
    assert tomllib.loads(found)["servers"]["a"] == {"url": "https://a", "headers": {"X": "3"}}
    assert "# the first" in found and "# about b" in found and "# inside" in found


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c d", "e.f"]),
        st.fixed_dictionaries(
            {"command": st.text()},
            optional={"env": st.dictionaries(st.text(max_size=5), st.text()), "args": st.lists(st.text())},
        ),
        min_size=1,
    ),
    st.data(),
)
def test_changing_or_removing_any_server_leaves_the_others_unchanged(servers: dict[str, Any], data: Any):
    text = "# top\n" + tomli_w.dumps({"servers": servers, "ui": {"theme": "x"}})
    name = data.draw(st.sampled_from(sorted(servers)))
    changed = {"command": "y", "env": {"K": "v"}}
    found = tomllib.loads(with_server(text, name, changed))
    assert found == {"servers": servers | {name: changed}, "ui": {"theme": "x"}}
    rest = {known: table for known, table in servers.items() if known != name}
    assert tomllib.loads(without_server(text, name)) == {"servers": rest, "ui": {"theme": "x"}}


@each_case(
    "text",
    [
        'servers.a.command = "x" # c\nservers.b.command = "y"\n',
        'servers = { a = { command = "x" }, b = { command = "y" } } # c\n',
        '[servers]\na = { command = "x", args = ["1"] } # c\nb = { command = "y" }\n',
        '[servers.a]\ncommand = "x"\n[servers.a.env] # c\n# why\nA = "1" # one\n'
        'B = "2"\n[servers.b]\ncommand = "y"\n',
        '[servers.a]\ncommand = "x" # c\nenv.A = "1" # one\nenv.B = "2"\n[servers.b]\ncommand = "y"\n',
    ],
)
def test_comments_are_kept_in_any_table_notation(text: str):
    before = tomllib.loads(text)["servers"]["a"]
    env = {"env": {**before.get("env", {}), "C": "3"}}
    for found in (
        with_server(text, "a", {**before, "disabled": True}),
        with_server(text, "a", {**before, "args": ["q"]}),
        with_server(text, "a", {**before, **env}),
        with_servers(text, {"n": {"command": "n"}}),
        without_server(text, "b"),
    ):
        assert all(comment in found for comment in ("# c", "# why", "# one") if comment in text)


def test_many_servers_are_added_at_once_in_their_order():
    many = {f"s{number}": {"command": "x", "args": [str(number)]} for number in range(500)}
    found = with_servers(COMMENTED, many)
    assert found.startswith(COMMENTED.rstrip()) and found.count("\n\n[servers.s") == 500
    assert list(tomllib.loads(found)["servers"]) == ["x", *many]


KEY = ("approvals", "rules")
MANY = """\
# mine
[approvals]
rules = [
  "allow a/*",  # one
  # between
  "deny b/*"
  # last
]
[ui]
theme = "quay"
"""
LISTS = [
    "[approvals]\nrules = {}\n[ui]\n",
    "approvals.rules = {} # end\n",
    "approvals = {{ rules = {} }}\n",
    '[servers.x]\ncommand = "y"\n[approvals]\nallow = []\nrules = {}',
]


def with_items(text: str, change: Callable[[list[str]], list[str]]) -> str:
    return edited(text, lambda document: set_value(document, change(texts_at(document, *KEY)), *KEY))


def with_item(text: str, item: str) -> str:
    return with_items(text, lambda items: [*items, item])


def without_item(text: str, number: int) -> str:
    return with_items(text, lambda items: [*items[: number - 1], *items[number:]])


def read(text: str) -> list[str]:
    return tomllib.loads(text)["approvals"]["rules"]


def test_an_item_is_appended_and_comments_are_kept():
    assert with_item(MANY, 'ask c/* "x"') == MANY.replace(
        '  "deny b/*"\n  # last\n', '  "deny b/*",\n  # last\n  "ask c/* \\"x\\"",\n'
    )


def test_an_item_is_removed_with_the_comment_on_its_line():
    assert without_item(MANY, 1) == MANY.replace('  "allow a/*",  # one\n', "")


@each_case(
    ("text", "found"),
    [
        ("", ["new"]),
        ("[approvals]\n# none yet\n", ["new"]),
        ("[approvals]\nrules = []\n", ["new"]),
        ('[approvals]\nrules = ["a"]\n', ["a", "new"]),
        ('[approvals]\nrules = ["a", ]\n', ["a", "new"]),
        ('[approvals]\nrules = "a"\n', ["a", "new"]),
    ],
)
def test_an_item_is_added_to_any_list(text: str, found: list[str]):
    assert read(with_item(text, "new")) == found
    assert "# none yet" not in text or "# none yet" in with_item(text, "new")


@given(st.sampled_from(LISTS), st.lists(st.text(max_size=6), min_size=1, max_size=4), st.data())
def test_only_the_item_changes_in_any_list(around: str, items: list[str], data: st.DataObject):
    import tomli_w

    text = around.format(tomli_w.dumps({"k": items}).removeprefix("k = ").rstrip().replace("\n", " "))
    number = data.draw(st.integers(1, len(items)))
    assert read(with_item(text, "new")) == [*items, "new"]
    assert read(without_item(text, number)) == [*items[: number - 1], *items[number:]]


def test_an_item_is_replaced_in_its_place():
    def replaced(items: list[str]) -> list[str]:
        return ["ask b/*" if one == "deny b/*" else one for one in items]

    assert with_items(MANY, replaced) == MANY.replace("deny b", "ask b")


def test_several_items_are_removed_at_once():
    assert with_items('[approvals]\nrules = ["a", "b", "a"] # mine\n', lambda _: ["b"]) == (
        '[approvals]\nrules = ["b"] # mine\n'
    )


def test_a_list_of_anything_but_strings_is_refused():
    with pytest.raises(ValueError, match=r"approvals\.rules is not an array of strings"):
        with_item("[approvals]\nrules = [1]\n", "a")
