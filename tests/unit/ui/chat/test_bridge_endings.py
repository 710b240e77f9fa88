"""Notes at the end of a turn, with the keys that apply."""

import pytest

from tui.core.conversation.conversation import Remark
from tui.core.events import EndReason
from tui.ui.chat.bridge import ended_at_limit, note_of

KEYS = {"go_on": "ctrl+g"}


@pytest.mark.parametrize("reason", list(EndReason))
def test_an_end_reason_becomes_a_sentence_with_its_keys_filled_in(reason: EndReason):
    sentence, _ = note_of(Remark(0, "end", reason.value), **KEYS)
    assert sentence[0].isupper() or sentence[0] == "r"
    assert sentence.endswith(".") and "{" not in sentence and reason.value not in sentence.split()


def test_a_remark_has_the_severity_of_its_kind():
    assert note_of(
        Remark(1, "error", "it does not support response_format with tools; retrying without"), **KEYS
    ) == ("it does not support response_format with tools; retrying without", "bad")
    assert note_of(Remark(1, "warn", "careful"), **KEYS) == ("careful", "warn")
    assert note_of(Remark(1, "notice", "limit"), **KEYS) == ("limit", "info")


def test_a_turn_can_continue_only_if_the_last_one_ended_at_a_limit():
    met = [Remark(2, "limit", "max_steps", value=3), Remark(4, "end", "limit")]
    assert ended_at_limit(met, 4)
    assert not ended_at_limit(met, 6) and not ended_at_limit([], 0)
    assert not ended_at_limit([Remark(4, "end", "cancelled")], 4)
