"""Changing one item of a list in the configuration, with everything else unchanged."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.errors import ConfigError
from tui.settings.save_list import add_item, change_item, remove_items, with_item, without_item

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


def read(text: str) -> list[str]:
    return tomllib.loads(text)["approvals"]["rules"]


def test_an_item_is_appended_and_comments_are_kept():
    assert with_item(MANY, KEY, 'ask c/* "x"') == MANY.replace(
        '  "deny b/*"\n  # last\n', '  "deny b/*",\n  # last\n  "ask c/* \\"x\\"",\n'
    )


def test_an_item_is_removed_with_the_comment_on_its_line():
    assert without_item(MANY, KEY, 1) == MANY.replace('  "allow a/*",  # one\n', "")


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
    assert read(with_item(text, KEY, "new")) == found
    assert "# none yet" not in text or "# none yet" in with_item(text, KEY, "new")


@given(st.sampled_from(LISTS), st.lists(st.text(max_size=6), min_size=1, max_size=4), st.data())
def test_only_the_item_changes_in_any_list(around: str, items: list[str], data: st.DataObject):
    import tomli_w

    text = around.format(tomli_w.dumps({"k": items}).removeprefix("k = ").rstrip().replace("\n", " "))
    number = data.draw(st.integers(1, len(items)))
    assert read(with_item(text, KEY, "new")) == [*items, "new"]
    assert read(without_item(text, KEY, number)) == [*items[: number - 1], *items[number:]]


def test_an_item_is_replaced_in_its_place(tmp_path: Path):
    path = tmp_path / "c.toml"
    path.write_text(MANY)
    change_item(path, KEY, 2, lambda text: text == "deny b/*", "ask b/*")
    assert path.read_text() == MANY.replace("deny b", "ask b")


@pytest.mark.parametrize("number", [0, 1, 3])
def test_an_item_that_has_changed_in_the_file_is_not_edited(tmp_path: Path, number: int):
    path = tmp_path / "c.toml"
    path.write_text(MANY)
    with pytest.raises(ConfigError, match="has changed in the file"):
        change_item(path, KEY, number, lambda text: text == "deny b/*", None)
    assert path.read_text() == MANY


def test_all_items_with_a_text_are_removed(tmp_path: Path):
    path = tmp_path / "c.toml"
    path.write_text('[approvals]\nrules = ["a", "b", "a"]\n')
    remove_items(path, KEY, "a")
    assert read(path.read_text()) == ["b"]


def test_a_list_of_anything_but_strings_is_refused(tmp_path: Path):
    path = tmp_path / "c.toml"
    path.write_text("[approvals]\nrules = [1]\n")
    with pytest.raises(ConfigError, match="not an array of strings"):
        add_item(path, KEY, "a")


def test_a_missing_file_is_created(tmp_path: Path):
    add_item(tmp_path / "sub" / "c.toml", KEY, "a")
    assert read((tmp_path / "sub" / "c.toml").read_text()) == ["a"]
