"""What `mcptui run` prints, and in which order if both streams go to one terminal."""

import io
from contextlib import redirect_stderr, redirect_stdout

from tui.commands.run import Printed
from tui.core.events import EndReason, Event, Notice, TextDelta, TurnEnded, TurnError
from tui.core.ports import Usage

ENDED = TurnEnded(EndReason.MODEL_ERROR, "Half of", 1, 0, Usage(), 1.0)


def printed(*events: Event, errors: io.StringIO | None = None) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors or out):
        show = Printed(hidden=False).show
        for event in events:
            show(event)
    return out.getvalue()


def test_an_error_in_the_middle_of_an_answer_starts_a_new_line() -> None:
    shown = printed(TextDelta(1, "Half of"), TurnError("the stream ended early", "model"), ENDED)
    assert shown == "Half of\n! model: the stream ended early\n"


def test_a_notice_on_stderr_does_not_change_the_answer_on_stdout() -> None:
    events = (TextDelta(1, "one "), Notice("something"), TextDelta(1, "line"))
    assert printed(*events, errors=io.StringIO()) == "one line"


def test_an_answer_is_printed_the_same_for_any_chunking() -> None:
    whole = "خواه\u200cم 👩\u200d👩\u200d👧 x\u200dy\r\nend \x1b[31m"
    expect = printed(TextDelta(1, whole))
    for size in (1, 2, 3, 6):
        pieces = [TextDelta(1, whole[at : at + size]) for at in range(0, len(whole), size)]
        assert printed(*pieces) == expect
    assert "\u200c" in expect and "\x1b" not in expect
