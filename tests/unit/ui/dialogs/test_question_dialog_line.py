"""The last lines of a question: its keys, messages and queue."""

from tests.ui.stage import Stage
from tui.ui.dialogs.question_dialog import QuestionLine
from tui.ui.keys.answer_pause import GRACE_SECONDS, AnswerDelay
from tui.ui.keys.key_overrides import KeyOverrides


def test_a_question_is_ripe_after_the_grace_time() -> None:
    now = 100.0
    answer_delay = AnswerDelay(lambda: now)
    assert not answer_delay.accepts_keys
    now += 2 * GRACE_SECONDS
    assert answer_delay.accepts_keys


async def test_the_line_shows_keys_a_message_and_the_number_of_waiting_questions() -> None:
    line = QuestionLine(KeyOverrides({}), ("ask.send", "ask.cancel"), 2)
    async with Stage(line).run_test(size=(80, 5)):
        assert "ctrl+s send    esc cancel    2 more questions waiting" in str(line.render())
        line.relabel("ask.send", "open")
        line.say("no [b]markup[/b]")
        line.show_waiting(0)
        shown = str(line.render())
        assert "! no [b]markup[/b]" in shown and "ctrl+s open" in shown and "waiting" not in shown


async def test_each_configured_key_of_an_answer_is_shown() -> None:
    keys = KeyOverrides([("ask.send", ["f11", "ctrl+y"]), ("ask.copy", "f3")])
    line = QuestionLine(keys, ("ask.send",), 0)
    async with Stage(line).run_test(size=(80, 5)):
        assert "f11, ctrl+y send" in str(line.render())
