"""Events of a turn as screens and commands get them."""

import pytest

from tui.core.conversation.conversation import Remark
from tui.core.events import Event, Notice, RetryScheduled, TextDelta, TurnError, TurnStarted
from tui.core.secrets.redact import Redactor
from tui.runtime.turn import redacted, redacted_remark

SECRET = "configured-value"


@pytest.mark.parametrize(
    "event",
    [
        TurnError(f"failed with {SECRET}", "model", f"Check {SECRET}."),
        TurnError("failed", f"http://h/{SECRET}"),
        RetryScheduled(1, 1, 4, 0.5, f"overloaded {SECRET}"),
        Notice(f"The older turns could not be summarised: {SECRET}", "warn"),
        TurnStarted("m", 1, f"not offered: {SECRET}"),
    ],
)
def test_what_mcptui_says_itself_holds_no_configured_secret(event: Event):
    found = redacted(event, Redactor({"K": SECRET}))
    assert type(found) is type(event) and "[redacted:K]" in str(found) and SECRET not in str(found)


def test_what_the_model_says_is_not_changed_there():
    event = TextDelta(1, "sk-abcdefghijklmnop1234")
    assert redacted(event, Redactor()) is event


def test_a_remark_holds_no_configured_secret():
    remark = Remark(0, "error", SECRET, f"http://h/{SECRET}", SECRET)
    found = redacted_remark(remark, lambda event: redacted(event, Redactor({"K": SECRET})))
    assert SECRET not in str(found) and found.where == "http://h/[redacted:K]"
