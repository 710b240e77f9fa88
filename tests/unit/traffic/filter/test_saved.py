"""Filters with names are kept only if they can be used."""

import pytest

from tui.traffic.filter.saved import SavedFilters, name_complaint


def test_a_filter_is_kept_under_its_name_and_let_go():
    none = SavedFilters()
    one = none.saved("slow", "latency:>1s").saved("slow", "latency:>2s")
    assert dict(one.texts) == {"slow": "latency:>2s"}
    assert dict(one.without("slow").texts) == {}
    assert dict(none.texts) == {}


@pytest.mark.parametrize("name", ["", "a b", "-a", "a:b", "x" * 33, "a\x1b[0m", "_a"])
def test_a_name_that_cannot_be_typed_is_refused(name: str):
    assert name_complaint(name)
    with pytest.raises(ValueError):
        SavedFilters().saved(name, "milk")


@pytest.mark.parametrize(("text", "says"), [("sever:x", "Did you mean server:"), (" ", "no filter to save")])
def test_a_filter_that_finds_nothing_out_is_refused(text: str, says: str):
    with pytest.raises(ValueError, match=says):
        SavedFilters().saved("name", text)


@pytest.mark.parametrize("name", ["slow", "größer", "7-days", "a_b"])
def test_words_are_names(name: str):
    assert name_complaint(name) == ""
