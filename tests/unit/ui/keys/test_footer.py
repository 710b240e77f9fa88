"""The footer: current keys, as many as fit, and three at the right that are the same everywhere."""

from operator import attrgetter

import pytest

from tests.cases import each_case
from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import entries_of, in_footer, laid_out, row_of
from tui.ui.traffic.screen import USED
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.rows import text_of, width_of

NONE = KeyOverrides()
ENTRIES = in_footer(Context.COMPOSER, attrgetter("when"), NONE)
RIGHT = "ctrl+p commands  f1 keys  ctrl+q quit"


def line(width: int, entries=ENTRIES, overrides=NONE) -> str:
    return text_of(row_of(laid_out(entries, overrides, width)))


@each_case("width", [1, 10, 20, 40, 79, 80, 120, 200])
def test_the_footer_fits_and_never_truncates_a_key(width):
    row = row_of(laid_out(ENTRIES, NONE, width))
    assert width_of(row) <= width
    assert "…" not in text_of(row)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_right_end_is_the_same_on_every_screen(width):
    for context in Context:
        entries = entries_of(of_context(context), NONE)
        assert line(width, entries).endswith(RIGHT)
        assert width_of(((line(width, entries), ""),)) == width - 1


@each_case("context", list(Context))
def test_a_line_that_is_wide_enough_shows_every_key_with_a_rank(context):
    entries = entries_of(of_context(context), NONE)
    assert [found for _, found in laid_out(entries, NONE, 600)][:-3] == entries


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("context", list(Context))
def test_no_key_that_would_fit_is_missing(context, width):
    entries = entries_of(of_context(context), NONE)
    placed = laid_out(entries, NONE, width)
    shown = [found for _, found in placed]
    column, last = placed[-4] if entries else (0, ("", "", None))
    room = placed[-3][0] - column - width_of(key_cap(*last[:2])) - 2 * 3
    assert [one for one in entries if one not in shown and width_of(key_cap(*one[:2])) <= room] == []


def test_the_traffic_offers_its_views_rather_than_what_only_held_messages_need():
    entries = entries_of(of_context(Context.TRAFFIC), NONE)
    for text in (line(160, entries), line(120, entries), traffic_line(80)):
        assert "h fold" in text and "w waterfall" in text and "S stats" in text and "A all" not in text


def traffic_line(width: int) -> str:
    entries, right = entries_of(of_context(Context.TRAFFIC), NONE), ("app.palette", "app.quit", "app.help")
    return text_of(row_of(laid_out(entries, NONE, width, right, USED)))


def test_the_right_end_gives_way_to_the_keys_of_the_traffic_only_where_they_fit_then():
    assert traffic_line(100).endswith("S stats    f1 keys  ctrl+q quit")
    assert traffic_line(80).endswith("S stats   f1 keys")
    assert traffic_line(60).endswith(RIGHT)


def test_in_a_dialog_the_keys_of_the_app_give_their_place_to_those_of_the_dialog():
    entries = entries_of(of_context(Context.SESSIONS), NONE)
    text = text_of(row_of(laid_out(entries, NONE, 70, ("app.help",))))
    assert text.endswith("f1 keys") and "ctrl+q" not in text
    assert "ctrl+e rename" in text and "ctrl+e rename" not in line(70, entries)


def test_an_entry_that_is_too_long_gives_its_place_to_a_shorter_one():
    entries = [
        ("a", "first", None),
        ("b", "far too long for this line of the test", None),
        ("c", "third", None),
    ]
    assert line(70, entries).startswith(" a first   c third ")


def test_a_narrow_footer_drops_the_right_end_before_the_first_keys():
    assert line(50).endswith("f1 keys  ctrl+q quit")
    assert line(50).startswith(" enter send")
    assert line(26) == " enter send   f4 traffic"


def test_configured_keys_are_shown_at_the_right_too():
    assert line(120, overrides=KeyOverrides([("app.help", "f11")])).endswith("f11 keys  ctrl+q quit")


@each_case("context", [Context.SESSIONS, Context.MODELS, Context.RULES, Context.TRAFFIC, Context.ENTRY])
def test_every_screen_begins_with_enter_and_escape(context):
    assert [key for key, *_ in entries_of(of_context(context), NONE)][:2] == ["enter", "esc"]
