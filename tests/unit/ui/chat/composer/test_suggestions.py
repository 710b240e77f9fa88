"""Which suggestions fit, and in which order."""

from tui.ui.chat.composer.suggestions import Suggestion, fitting, of_commands
from tui.ui.keys.slash_commands import OWN


def names(query: str, *given: str) -> list[str]:
    return [one.name for one in fitting([Suggestion(name) for name in given], query)]


def test_what_begins_so_comes_before_what_has_it_in_it():
    assert names("re", "tree", "src/readme", "readme", "more") == ["readme", "src/readme", "tree", "more"]


def test_letters_in_their_order_are_enough():
    assert names("rdm", "readme", "mdr") == ["readme"]


def test_one_letter_has_to_stand_there():
    assert names("x", "readme") == []


def test_order_stays_within_a_degree():
    assert names("a", "ab", "aa") == ["ab", "aa"]


def test_a_command_that_takes_nothing_is_run_when_it_is_taken():
    found = {one.name: one for one in of_commands(OWN)}
    assert found["/help"].runs and found["/help"].text == "/help"
    assert not found["/model"].runs and found["/model"].text == "/model "
