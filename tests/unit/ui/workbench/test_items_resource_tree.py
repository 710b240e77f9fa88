"""Many resources as a tree by scheme, host and path."""

import pytest

from tui.core.workbench import ResourceInfo
from tui.ui.workbench.items import (
    FEW,
    MOST_OPEN,
    Folder,
    Item,
    folders_of,
    has_tree,
    of_prompts,
    of_resources,
    tree_rows,
)


def items(*uris: str, templates: tuple[str, ...] = ()) -> list[Item]:
    listed = [ResourceInfo("s", uri, uri.rsplit("/", 1)[-1]) for uri in uris]
    return of_resources([*listed, *(ResourceInfo("s", uri, "t", template=True) for uri in templates)])


def drawn(*args: object) -> list[str]:
    rows = tree_rows(*args)  # type: ignore[arg-type]
    return [
        "  " * row.depth
        + (f"{row.what.label} {row.what.count}" if isinstance(row.what, Folder) else "· ")
        + (row.what.label if isinstance(row.what, Item) else "")
        for row in rows
    ]


@pytest.mark.parametrize(
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
    assert "\x1b" not in rows[0].what.label
    assert max(row.depth for row in rows) < 15
