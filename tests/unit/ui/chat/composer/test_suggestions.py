"""Which suggestions match, and in which order."""

from tui.ui.chat.composer.suggestions import Suggestion, fitting, of_commands
from tui.ui.keys.slash_commands import OWN


def names(query: str, *given: str) -> list[str]:
    return [one.name for one in fitting([Suggestion(name) for name in given], query)]


def test_prefix_matches_come_first_then_substrings_then_subsequences():
    found = names("re", "tree", "src/readme", "readme", "reach", "more")
    assert found == ["readme", "reach", "src/readme", "tree", "more"]  # of the same rank: their order


def test_words_match_in_any_order_and_two_or_more_letters_in_theirs():
    assert names("tools list", "all-tools-listed", "list-tools") == ["list-tools", "all-tools-listed"]
    assert names("rdm", "readme", "mdr") == ["readme"]
    assert names("x", "readme") == []


def test_a_command_without_arguments_runs_when_it_is_selected():
    found = {one.name: one for one in of_commands(OWN)}
    assert found["/help"].runs and found["/help"].text == "/help"
    assert not found["/model"].runs and found["/model"].text == "/model "
