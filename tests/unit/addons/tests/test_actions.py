"""The keys of the add-on in the footer."""

import pytest

from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import entries_of, laid_out, row_of
from tui.ui.widgets.rows import text_of

UNSET = KeyOverrides([])


@pytest.mark.parametrize(
    ("width", "without", "keys"),
    [
        (80, {"review.write", "review.undo"}, ["a accept", "m varies", "x fail", "n next"]),
        (100, {"review.write"}, ["a accept", "m varies", "x fail", "ctrl+z undo", "n next"]),
    ],
)
def test_the_decisions_of_a_review_fit_the_footer(width: int, without: set[str], keys: list[str]):
    entries = entries_of((one for one in of_context(Context.REVIEW) if one.id not in without), UNSET)
    text = text_of(row_of(laid_out(entries, UNSET, width)))
    assert [key for key in keys if key not in text] == []


def test_the_footer_of_the_traffic_offers_to_keep_a_call():
    for context in (Context.TRAFFIC, Context.ENTRY):
        entries = entries_of(of_context(context), UNSET)
        assert "C keep" in text_of(row_of(laid_out(entries, UNSET, 120)))
