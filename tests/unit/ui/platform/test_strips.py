"""Painted rows: of the right width, and freed as soon as they are no longer shown."""

import gc

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.color import Color
from textual.strip import Strip

from tui.ui.platform.strips import ControlFilter, KeptStrips, RowStrip, create_caches_on_use

PLAIN = Style()


def test_filtering_and_dividing_a_strip_give_the_result_of_textual() -> None:
    strip = RowStrip([Segment("hello world", PLAIN)])
    control = ControlFilter()
    filtered = strip.apply_filter(control, Color(0, 0, 0))
    assert filtered.text == "hello world"
    assert filtered is strip.apply_filter(control, Color(0, 0, 0))
    assert [part.text for part in strip.divide([5, 11])] == ["hello", " world"]
    assert [part.text for part in strip.divide([11, 40])] == ["hello world"]


def test_a_row_strip_creates_the_caches_of_textual_on_first_use() -> None:
    strip = RowStrip([Segment("hello", PLAIN)])
    assert strip.crop(1, 3) is strip.crop(1, 3)
    assert strip.link_ids == {""}
    assert not hasattr(strip, "no_such_name")


def test_strips_of_textual_create_a_cache_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strip, "__init__", Strip.__init__)  # both as they were, after the test
    monkeypatch.setattr(Strip, "__getattr__", None, raising=False)
    create_caches_on_use()
    strip = Strip([Segment("hello world", PLAIN)])
    assert not any(isinstance(found, FIFOCache) for found in gc.get_referents(strip))
    assert strip.crop(1, 3).text == "el"
    assert strip.crop(1, 3) is strip.crop(1, 3) is not Strip([]).crop(1, 3)
    assert strip.divide([5, 11]) is strip.divide([5, 11])
    assert [part.text for part in strip.divide([5, 11])] == ["hello", " world"]
    assert not hasattr(strip, "no_such_name")


def test_strips_that_are_created_in_another_way_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def created_otherwise(strip: Strip, segments: list[Segment], width: int, height: int) -> None: ...

    monkeypatch.setattr(Strip, "__init__", created_otherwise)
    create_caches_on_use()
    assert Strip.__init__ is created_otherwise


@pytest.mark.parametrize(
    ("text", "shown"), [("ab", "ab  "), ("日本", "日本"), ("日本語", "日本"), ("a日本", "a日 ")]
)
def test_a_row_is_padded_or_cropped_to_its_width(text: str, shown: str) -> None:
    strip = RowStrip.of([Segment(text, PLAIN)], 4, PLAIN)
    assert (strip.text, strip.cell_length) == (shown, 4)


def test_discarded_rows_are_freed_without_the_garbage_collector() -> None:
    control = ControlFilter()
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        strip = RowStrip.of([Segment("x" * 10, PLAIN)], 10, PLAIN)
        strip.divide([10])
        strip.apply_filter(control, Color(0, 0, 0)).divide([10, 20])
        kept = KeptStrips(2)
        kept.keep(0, strip)
        kept.clear()
        del strip, kept
        gc.collect()
        left = [found for found in gc.garbage if isinstance(found, RowStrip)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == []


def test_the_last_strips_are_kept_and_can_be_discarded_by_index() -> None:
    kept = KeptStrips(3)
    strips = [RowStrip([Segment(str(number))]) for number in range(5)]
    for number in range(4):
        kept.keep(number, strips[number])
    assert [kept.get(number) for number in range(4)] == [None, *strips[1:4]]
    kept.discard(2)
    kept.discard(99)
    assert kept.get(2) is None
    kept.discard_from(3)
    assert [kept.get(number) for number in range(5)] == [None, strips[1], None, None, None]
    kept.clear()
    assert kept.get(1) is None
