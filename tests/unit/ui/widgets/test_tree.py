"""The tree of a body: folding, revealing, copying."""

import base64
import json

from tests.media import png
from tui.core.comparison.values import Tolerance, compare
from tui.core.traffic import Redaction
from tui.ui.widgets.rows import copied, text_of
from tui.ui.widgets.tree import MOST_PARSED, Tree


def tree(document: object) -> Tree:
    return Tree(json.dumps(document, ensure_ascii=False).encode())


def rows(shown: Tree) -> list[str]:
    return [text_of(shown.row(index, 80)).rstrip() for index in range(shown.count())]


def row_of(shown: Tree, path: str) -> int:
    (found,) = [index for index in range(shown.count()) if shown.path(index) == path]
    return found


def test_a_small_body_is_unfolded_and_every_value_has_a_path() -> None:
    names = dict.fromkeys(("a-b", "größe", "a\nb", "[*]", "a b"))
    document = {"id": 7, "result": {"content": [{"type": "text", "text": "hi"}], **names}}
    shown = tree(document)
    paths = [shown.path(index) for index in range(shown.count())]
    assert paths[-1] == 'result["a b"]'
    assert compare(document, document, Tolerance(tuple(paths))).matched == set(paths)
    assert text_of(shown.row(row_of(shown, "result.content[0].text"), 80)).strip() == 'text  "hi"'


def test_folding_hides_the_children_and_unfolding_shows_them() -> None:
    shown = tree({"params": {"name": "x"}, "id": 1})
    before = rows(shown)
    shown.toggle(0, 80)
    assert rows(shown) == ["▸ params  name", "  id  1"]
    shown.toggle(0, 80)
    assert rows(shown) == before


def test_text_that_is_json_unfolds_as_a_tree() -> None:
    shown = tree({"text": '{"count": 3}'})
    shown.toggle(0, 80)
    assert shown.path(1) == "text.count"
    assert shown.value(1) == "3"


def test_a_value_that_nests_too_deeply_is_copied_unchanged() -> None:
    deep = "[" * 2_000 + "]" * 2_000
    assert Tree(f'{{"a": {deep}}}'.encode()).value(0) == deep


def test_a_long_text_unfolds_into_its_lines() -> None:
    shown = tree({"text": "one\ntwo\nthree"})
    shown.toggle(0, 80)
    assert [row.strip() for row in rows(shown)[1:]] == ["one", "two", "three"]


def test_revealing_an_offset_unfolds_its_containers() -> None:
    document = {"list": [{"deep": [0] * 3_000 + ["needle"]}]}
    shown = tree(document)
    row = shown.reveal((0, shown.data.index(b"needle")))
    assert shown.value(row) == "needle"
    assert shown.path(row) == "list[0].deep[3000]"


def test_a_large_container_is_parsed_in_a_thread() -> None:
    shown = tree({"big": ["x" * 100] * 10_000, "id": 1})
    work = shown.toggle(0, 80)
    assert work is not None
    assert shown.count() == 2
    work()()
    assert shown.count() > 1_000


def test_an_empty_container_shows_its_brackets() -> None:
    assert rows(tree({"arguments": {}, "tools": []})) == ["  arguments  {}", "  tools  []"]


def test_containers_that_are_too_large_to_parse_at_first_stay_folded() -> None:
    shown = tree([{"text": "x" * MOST_PARSED}])
    assert rows(shown) == ["▸ 0  {}  34 MB"]


def test_an_image_is_shown_by_type_and_size_and_can_be_saved() -> None:
    data = png(640, 480)
    shown = tree({"data": base64.encodebytes(data).decode()})
    assert "PNG image, 640 × 480" in rows(shown)[0]
    assert shown.binary(0) == (data, "png")
    assert tree({"data": "// text without any punctuation " * 3}).binary(0) is None


def test_a_redacted_value_is_labelled() -> None:
    data = b'{"token": "***", "id": 1}'
    shown = Tree(data, (Redaction(11, 14, "API_KEY"),))
    assert rows(shown) == ['  token  "***"  hidden: API_KEY', "  id  1"]


def test_hostile_keys_and_values_are_cleaned() -> None:
    shown = tree({"a\x1b[31m": "\x1b]52;c;eA==\x07\u202e"})
    assert not any(sign in "".join(rows(shown)) for sign in "\x1b\x07\u202e")


def test_selected_rows_are_copied_without_the_signs_that_fold_them() -> None:
    shown = tree({"params": {"name": "x"}, "id": 1})
    parts = [(shown.row(index, 80), 0, -1) for index in range(shown.count())]
    assert copied(parts).split("\n") == ["params", '  name  "x"', "id  1"]
