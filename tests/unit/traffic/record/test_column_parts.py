"""Numbers for names and ids."""

from tui.traffic.record.column_parts import MAX_NAMES, Names, mark_of, marks_of


def test_each_name_has_one_number_and_the_empty_name_has_0() -> None:
    names = Names()
    assert [names.number(text) for text in ("", "a", "b", "a")] == [0, 1, 2, 1]
    assert list(names.numbers(["b", "c", "b"])) == [2, 3, 2]
    assert names.texts == ["", "a", "b", "c"]


def test_names_over_the_limit_become_other() -> None:
    names = Names()
    for number in range(MAX_NAMES + 5):
        last = names.number(str(number))
    assert names.texts[last] == "(other)"


def test_hashing_many_names_equals_hashing_each() -> None:
    for texts in (["", "1", "abc", "ä"], ["1", "\ud800", ""]):
        assert marks_of(texts) == [mark_of(text) for text in texts]
