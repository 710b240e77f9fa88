"""Painted rows have the right width, and strips create their caches on use."""

import gc

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from tui.ui.platform.textual_internals import create_caches_on_use, padded, row_of

PLAIN = Style()


@pytest.mark.parametrize(
    ("text", "shown"), [("ab", "ab  "), ("日本", "日本"), ("日本語", "日本"), ("a日本", "a日 ")]
)
def test_a_row_is_padded_or_cropped_to_its_width(text: str, shown: str) -> None:
    strip = row_of([Segment(text, PLAIN)], 4, PLAIN)
    assert (strip.text, strip.cell_length) == (shown, 4)


def test_a_row_is_shifted_within_its_width() -> None:
    strip = row_of([Segment("abcd", PLAIN)], 4, PLAIN)
    assert padded(strip, 0, 4, PLAIN) is strip
    assert padded(strip, 2, 5, PLAIN).text == "  abc"


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
