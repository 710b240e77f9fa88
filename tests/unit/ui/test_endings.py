"""Every way in which a turn ends, and every limit, has its sentence."""

import pytest

from tui.core.events import EndReason, LimitName, LimitReached
from tui.ui.endings import END_SENTENCES, LIMIT_SENTENCES, end_sentence, limit_sentence


def test_no_end_and_no_limit_is_without_a_sentence():
    assert set(END_SENTENCES) == set(EndReason)
    assert set(LIMIT_SENTENCES) == set(LimitName)


@pytest.mark.parametrize("reason", list(EndReason))
def test_an_end_is_one_plain_sentence_or_two_with_its_keys(reason: EndReason):
    sentence = end_sentence(reason, go_on="ctrl+g", again="r")
    assert sentence[0].isupper() or sentence[0] == "r"
    assert sentence.endswith(".") and "{" not in sentence and reason.value not in sentence.split()


@pytest.mark.parametrize("limit", list(LimitName))
def test_a_limit_says_its_value_and_its_name_in_the_configuration(limit: LimitName):
    sentence = limit_sentence(LimitReached(limit, 12))
    assert sentence.startswith("Limit reached: ") and "12" in sentence
    assert sentence.endswith(f"({limit.value} in [limits]).") and "{" not in sentence
