"""Configured keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.keymap import ActionKeys, check_keys, normal_key

ACTIONS = {
    "chat.new": ActionKeys(("ctrl+n",)),
    "app.quit": ActionKeys(("ctrl+q",)),
    "servers.restart": ActionKeys(("r",), frozenset({"servers"})),
    "trace.raw": ActionKeys(("r",), frozenset({"trace"})),
}


@each_case(
    ("text", "key"),
    [
        ("ctrl+n", "ctrl+n"),
        ("Shift+CTRL+F5", "ctrl+shift+f5"),
        ("esc", "escape"),
        ("PgDn", "pagedown"),
        ("?", "?"),
        ("question_mark", "?"),
        ("ctrl+slash", "ctrl+/"),
        ("+", "+"),
        ("ctrl++", "ctrl++"),
        ("G", "G"),
        ("й", "й"),
    ],
)
def test_the_spelling_of_a_key_is_normalized(text: str, key: str):
    assert normal_key(text) == key


@each_case("text", ["", "ctrl", "ctrl+", "ctlr+x", "ctrl+ctrl+x", "xx", "f99", "\x1b", "a b", "no_such_name"])
def test_an_invalid_key_is_rejected(text: str):
    assert normal_key(text) is None


@pytest.mark.parametrize(
    ("wanted", "good", "said"),
    [
        ({"chat.nwe": ["f8"]}, {}, ["chat.nwe: unknown action, did you mean “chat.new”?"]),
        (
            {"chat.new": ["f8", "ctlr+x", "escap"]},
            {"chat.new": ("f8",)},
            [
                "chat.new: “ctlr+x” is not a key",
                "chat.new: “escap” is not a key, did you mean “escape”?",
            ],
        ),
        (
            {"chat.new": ["ctrl+q"]},
            {},
            ["chat.new: `ctrl+q` is already used by `app.quit`. Change the key of `app.quit` too"],
        ),
        (
            {"chat.new": ["ctrl+q"], "app.quit": ["ctrl+n"]},
            {"chat.new": ("ctrl+q",), "app.quit": ("ctrl+n",)},
            [],
        ),
    ],
    ids=["unknown action", "bad keys", "taken", "swapped"],
)
def test_what_is_wrong_affects_only_itself(wanted: dict[str, list[str]], good: object, said: list[str]):
    found, problems = check_keys(wanted, ACTIONS)
    assert found == good and list(map(str, problems)) == [f"ui.keys.{one}" for one in said]


def test_the_same_key_in_two_contexts_conflicts_only_if_one_is_global():
    assert check_keys({"trace.raw": ["x"], "servers.restart": ["x"]}, ACTIONS)[1] == ()
    assert check_keys({"trace.raw": ["ctrl+n"]}, ACTIONS)[1] != ()


def test_a_default_key_of_two_actions_can_be_configured_for_one_of_them():
    both = {"new": ActionKeys(("ctrl+n",)), "add": ActionKeys(("ctrl+n",), frozenset({"models"}))}
    kept = {"new": ["ctrl+n", "alt+n"]}
    assert check_keys(kept, both) == ({"new": ("ctrl+n", "alt+n")}, ())
    assert check_keys({"add": ["alt+n"], **kept}, both)[1] != ()


@given(st.text(max_size=20))
def test_normalizing_a_key_twice_changes_nothing(text: str):
    key = normal_key(text)
    assert key is None or normal_key(key) == key


ANSWERS = {
    "ask.send": ActionKeys(("ctrl+s",), frozenset({"ask"}), True),
    "ask.decline": ActionKeys(("ctrl+x",), frozenset({"ask"}), False),
    "question.once": ActionKeys(("y",), frozenset({"question"}), True),
    "question.always": ActionKeys(("a",), frozenset({"question"}), True),
    "question.no": ActionKeys(("n",), frozenset({"question"}), False),
}


@each_case(
    "key",
    ["enter", "return", "space", "pgdn", "down", "shift+down", "end", "tab", "backspace", "ctrl+m", "j"],
)
def test_a_key_that_scrolls_or_is_pressed_by_habit_cannot_answer_questions(key: str):
    for action in ANSWERS:
        good, problems = check_keys({action: [key]}, ANSWERS)
        assert good == {} and "cannot answer a question" in str(problems[0])


@each_case(
    ("action", "key"),
    [
        ("ask.send", "n"),
        ("ask.send", "ctrl+x"),
        ("ask.decline", "ctrl+s"),
        ("question.no", "ctrl+s"),
        ("question.once", "a"),
        ("question.once", "n"),
    ],
)
def test_the_key_of_one_answer_cannot_be_used_for_another(action: str, key: str):
    good, problems = check_keys({action: [key]}, ANSWERS)
    assert good == {} and "is the default key of another answer" in str(problems[0])


def test_yes_and_no_cannot_be_swapped():
    assert check_keys({"ask.send": ["ctrl+x"], "ask.decline": ["ctrl+s"]}, ANSWERS)[0] == {}


def test_other_keys_can_answer_and_yes_can_be_the_same_in_all_questions():
    wanted = {"ask.send": ["y", "f2"], "ask.decline": ["n"], "question.once": ["y", "o"]}
    good, problems = check_keys(wanted, ANSWERS)
    assert good == {name: tuple(keys) for name, keys in wanted.items()} and problems == ()
