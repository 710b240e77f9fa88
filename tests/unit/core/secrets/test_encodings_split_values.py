"""Secrets that are split across texts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.secrets.redact import Redactor

SECRET = "configured-value-1234567890"
REDACTOR = Redactor({"K": SECRET})


@given(st.lists(st.integers(0, len(SECRET) + 12), max_size=6).map(sorted))
def test_a_value_split_into_any_pieces_is_redacted(cuts: list[int]):
    text = f"It is {SECRET}, yes."
    ends = [0, *(min(cut, len(text)) for cut in cuts), len(text)]
    found = "".join(REDACTOR.redact_texts([text[start:end] for start, end in pairwise(ends)]))
    assert found in ("It is [redacted:K], yes.", "It is [redacted], yes.")


def test_each_text_keeps_its_other_content():
    texts = [f"a {SECRET[:3]}", SECRET[3:6], f"{SECRET[6:]} b {SECRET}", "c"]
    assert REDACTOR.redact_texts(texts) == ["a [redacted]", "", " b [redacted:K]", "c"]


@pytest.mark.parametrize(("size", "is_cut"), [(7, False), (8, True), (26, True)])
def test_a_long_partial_value_at_the_end_of_a_text_is_redacted(size: int, is_cut: bool):
    text = f"It is {SECRET[:size]}"
    assert REDACTOR.redact_texts([text, " more"]) == ["It is [redacted]" if is_cut else text, " more"]
    assert REDACTOR.ends_inside(text) is is_cut


def test_a_long_partial_value_across_two_texts_is_redacted():
    assert REDACTOR.redact_texts([f"a {SECRET[:5]}", SECRET[5:9]]) == ["a [redacted]", ""]


def test_texts_without_secrets_are_unchanged():
    texts = ["It is config", "-", "value", "", SECRET[1:]]
    assert REDACTOR.redact_texts(texts) == texts
    assert Redactor().redact_texts([SECRET]) == [SECRET]
