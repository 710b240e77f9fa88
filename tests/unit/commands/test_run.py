"""What `mcptui run` prints, and in which order if both streams go to one terminal."""

import io
import stat
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tui.commands.run import AnswerFile, Printed
from tui.core.errors import UsageError
from tui.core.events import EndReason, Event, Notice, TurnEnded, TurnError
from tui.core.ports import TextPart, Usage

ENDED = TurnEnded(EndReason.MODEL_ERROR, "Half of", 1, 0, Usage(), 1.0)


def printed(*events: Event, errors: io.StringIO | None = None) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors or out):
        show = Printed(hidden=False).show
        for event in events:
            show(event)
    return out.getvalue()


def test_an_error_in_the_middle_of_an_answer_starts_a_new_line() -> None:
    shown = printed(TextPart("Half of", step=1), TurnError("the stream ended early", "model"), ENDED)
    assert shown == "Half of\n! model: the stream ended early\n"


def test_a_notice_on_stderr_does_not_change_the_answer_on_stdout() -> None:
    events = (TextPart("one ", step=1), Notice("something"), TextPart("line", step=1))
    assert printed(*events, errors=io.StringIO()) == "one line"


def test_an_answer_is_printed_the_same_for_any_chunking() -> None:
    whole = "خواه\u200cم 👩\u200d👩\u200d👧 x\u200dy\r\nend \x1b[31m"
    expect = printed(TextPart(whole, step=1))
    for size in (1, 2, 3, 6):
        pieces = [TextPart(whole[at : at + size], step=1) for at in range(0, len(whole), size)]
        assert printed(*pieces) == expect
    assert "\u200c" in expect and "\x1b" not in expect


def test_the_file_is_private(tmp_path: Path):
    AnswerFile(str(tmp_path / "answer.md")).write("Yes.")
    assert stat.S_IMODE((tmp_path / "answer.md").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Is a directory"),
        ("no/answer.md", "No such file or directory"),
        ("n" * 256, "File name too long"),
        ("loop", "Too many levels of symbolic links"),
        ("lost", "No such file or directory"),
    ],
)
def test_an_unwritable_path_is_refused_before_the_run(tmp_path: Path, name: str, why: str):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("no/answer.md")
    with pytest.raises(UsageError, match=f"cannot write the answer: {why}"):
        AnswerFile(str(tmp_path / name))
