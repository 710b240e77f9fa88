"""The search for texts of the pseudo-locale that are cut finds one, and looks at every screen."""

import re

import pytest

from tests.sources import ROOT
from tests.ui.pseudo_locale import cut_texts, pseudo
from tests.ui.tours.visited import BASES, VISITED


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


def test_every_screen_and_every_tab_of_an_add_on_is_on_a_tour() -> None:
    """A new one needs a tour in `tests/ui/tours`, and its name in `VISITED` there."""
    files = (file for part in ("ui", "addons") for file in (ROOT / "tui" / part).rglob("*.py"))
    heads = [re.findall(r"^class (\w+)\((.+)\):$", file.read_text("utf-8"), re.M) for file in files]
    bases = {name: {*re.findall(r"\w+", given)} for found in heads for name, given in found}
    found, more = set[str](), {"Screen", "ModalScreen", "CommandPalette", "AddonPane"}
    while more:
        more = {name for name, given in bases.items() if given & more} - found
        found |= more
    assert found - BASES == set(VISITED)
