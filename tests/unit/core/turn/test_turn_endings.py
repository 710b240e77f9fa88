"""mcptui's remarks on events, for a running turn and for a reopened one."""

from tests.cases import each_case
from tui.core.conversation.conversation import Remark
from tui.core.events import (
    EndReason,
    LimitName,
    LimitReached,
    Notice,
    TurnEnded,
    TurnError,
)
from tui.core.ports import RetryPart, TextPart, Usage
from tui.core.turn.turn_endings import LIMIT_SENTENCES, remark_of, said_once, words_of
from tui.settings.schema import LimitSettings


def said(event: object) -> str:
    remark = remark_of(event, 3)
    assert remark is not None and remark.place == 3
    return words_of(remark)


def ended(reason: EndReason) -> TurnEnded:
    return TurnEnded(reason, "", 1, 0, Usage(), 5.0)


def test_every_limit_has_a_sentence():
    assert set(LIMIT_SENTENCES) == set(LimitName)


@each_case("limit", list(LimitName))
def test_a_limit_is_reported_with_its_value_and_its_configuration_key(limit: LimitName):
    sentence = said(LimitReached(limit, 12))
    assert sentence.startswith("Limit reached: ") and "12" in sentence
    assert sentence.endswith(" in [limits]).") and "{" not in sentence
    setting = sentence.rpartition("(")[2].partition(" ")[0]
    assert setting in LimitSettings.model_fields


def test_an_error_names_its_origin_and_the_next_step():
    assert said(TurnError("no answer", "model", "Ask again.")) == "no answer. Ask again."
    assert said(TurnError("it died", "weather")) == "weather: it died"


def test_a_stopped_turn_has_a_remark_and_an_answered_one_has_none():
    assert said(ended(EndReason.CANCELLED)).startswith("Stopped.")
    assert remark_of(ended(EndReason.ANSWERED), 3) is None


def test_a_retry_reason_is_shown_once_and_not_next_to_a_failure_that_repeats_it():
    busy = Remark(1, "retry", "HTTP 429")
    failed = Remark(1, "error", "HTTP 429", "model", "Wait, then retry.")
    later = Remark(3, "retry", "HTTP 429")
    assert said_once([busy, busy, later]) == [busy, later]
    assert said_once([busy, busy, failed, later]) == [failed, later]
    assert said_once([busy, Remark(1, "error", "HTTP 500")]) == [busy, Remark(1, "error", "HTTP 500")]


def test_warnings_and_retry_reasons_are_remarks_but_output_of_the_model_is_not():
    assert said(Notice("be careful", "warn")) == "be careful"
    assert said(RetryPart(1, 4, 2.0, "429 too many", step=1)) == "429 too many"
    assert remark_of(TextPart("hello", step=1), 3) is None
    assert (
        remark_of(Notice("1 turn is summarized", "room"), 3) is None
    )  # it is shown as a line while it applies


def test_remarks_from_a_newer_version_are_ignored():
    assert words_of(Remark(0, "end", "lost interest")) == ""
    assert words_of(Remark(0, "limit", "max_jokes", value=3)) == ""
