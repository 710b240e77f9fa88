"""The search for texts of the pseudo-locale that are cut finds one."""

import pytest

from tests.ui.pseudo_locale import cut_texts, pseudo


@pytest.mark.parametrize(
    "screen",
    [
        f"name  {pseudo('read-only')}  {pseudo('Rename the conversation')}",
        f" {pseudo('13 entries')[:-1]}\n {pseudo('one')}⟧",
        f" ⟦{pseudo('13 entries')} in all字⟧ \n",
        f" {pseudo('Search for commands…')}  │",
        " ⟦Reload字 the configuration字\n │ from its file字字⟧",
    ],
)
def test_whole_texts_are_not_cut(screen: str) -> None:
    assert not [*cut_texts(screen)]


@pytest.mark.parametrize(
    "screen",
    [
        f"name  {pseudo('read-only')[:-3]}   {pseudo('destructive')}",
        f"{pseudo('destructive')}\nname  {pseudo('read-only')[:-3]}",
        f"{pseudo('Rename the conversation')[:-6]}…\n{pseudo('Retry')}",
        f"{pseudo('Rename the conversation')[:-6]}… │\n{pseudo('Retry')}⟧",
        f"{pseudo('Rename the conversation')[:-6]}…  {pseudo('Retry')}\n⟧",
        f"…{pseudo('Rename the conversation')[6:]}",
    ],
)
def test_a_planted_text_that_is_cut_is_found(screen: str) -> None:
    assert [*cut_texts(screen)]


def test_a_text_may_begin_above_and_end_below_what_is_visible() -> None:
    assert not [*cut_texts("字 of its folder字⟧\n⟦Reload字 the", above=True, below=True)]
