"""The footer shows as many keys as fit, the most useful first."""

import pytest

from tui.ui.keys.action_table import Context
from tui.ui.keys.footer import Footer, fitting
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.keys.situation import Situation, in_footer
from tui.ui.widgets.rows import text_of, width_of

ENTRIES = in_footer(Situation(Context.COMPOSER), KeyOverrides())


@pytest.mark.parametrize("width", [1, 10, 20, 79, 80, 120, 200])
def test_it_fits_and_never_cuts_a_key(width):
    footer = Footer()
    footer._entries = tuple(ENTRIES)
    assert width_of(footer.row(width)) <= max(width, 1)
    assert "…" not in text_of(footer.row(width))


def test_at_eighty_columns_it_shows_send_palette_and_help():
    labels = [label for _, label, _ in fitting(ENTRIES, 80)]
    assert {"send", "everything", "keys"} <= set(labels)
