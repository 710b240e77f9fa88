"""The rows about what a server offers differently."""

from tui.core.comparison.offers import OfferChange
from tui.core.comparison.values import Change
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.extensions import offer_rows


def test_each_change_is_followed_by_its_differences():
    changes = (
        OfferChange("tools", "old", Change.REMOVED),
        OfferChange("tools", "search", Change.CHANGED, ("_meta",), ("- _meta.ui", "+ title")),
    )
    assert [text_of(row) for row in offer_rows(changes)] == [
        "tool old: removed",
        "tool search: _meta changed",
        "  - _meta.ui",
        "  + title",
    ]
