"""Whatever remains of a session is valid for a provider."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.storage.session_samples import ANSWER, ASKING, FEW_IDS, QUESTION, RESULT, histories
from tui.core.conversation.conversation import AssistantMessage, ToolMessage, sanitised
from tui.core.conversation.sessions import NEVER_SENT, UNKNOWN_OUTCOME
from tui.storage.sessions.stored_session import repaired, unknown_outcomes


def test_a_sent_call_has_an_unknown_outcome_and_an_unsent_one_did_not_run():
    found = repaired([QUESTION, ASKING], sent={"c1"})
    assert found[2:] == [
        ToolMessage("c1", "weather__get", UNKNOWN_OUTCOME, is_error=True),
        ToolMessage("c2", "weather__get", NEVER_SENT, is_error=True),
    ]
    assert unknown_outcomes(found) == {"c1"}


def test_recorded_results_are_kept():
    assert repaired([QUESTION, ASKING, RESULT], sent={"c1", "c2"})[2] == RESULT


def test_a_draft_becomes_a_partial_reply_after_the_results_of_calls():
    draft = AssistantMessage("It is su", partial=True)
    found = repaired([QUESTION, ASKING, RESULT], {"c1"}, draft)
    assert found[-1] == draft and len(found) == 5


def test_a_draft_without_text_is_dropped():
    assert repaired([QUESTION], (), AssistantMessage("", "thinking", partial=True)) == [QUESTION]


def test_a_complete_conversation_is_unchanged():
    second = ToolMessage("c2", "weather__get", "rain")
    assert repaired(talk := [QUESTION, ASKING, RESULT, second, ANSWER], {"c1", "c2"}) == talk


@given(histories(), st.sets(FEW_IDS), st.none() | st.builds(AssistantMessage, st.text()))
def test_a_repaired_conversation_is_valid_and_repairing_it_again_changes_nothing(messages, sent, draft):
    found = repaired(messages, sent, draft)
    assert sanitised(found) == found
    assert repaired(found, sent) == found
