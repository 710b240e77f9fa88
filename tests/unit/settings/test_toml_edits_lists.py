"""Changing one item of a list in the configuration, with everything else unchanged."""

import tomllib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.settings.toml_edits import edited, set_value, texts_at

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


@pytest.mark.parametrize(
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
