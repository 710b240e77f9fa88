"""A letter answers a question only if no word follows it."""

from tests.cases import each_case
from tui.ui.keys.answer_pause import STORED_SECONDS, USUAL_SECONDS, AnswerKeys


class Bench:
    """Keys with a fake clock."""

    def __init__(self):
        self.settled, self.typed, self.timers = [], [], []
        self.keys = AnswerKeys(self.typed.append, self.later)

    def later(self, seconds, call):
        timer = Timer(seconds, call)
        self.timers.append(timer)
        return timer

    def press(self, letter, answer=""):
        if not self.keys.key(letter) and answer:
            seconds = STORED_SECONDS if answer == "always" else USUAL_SECONDS
            self.keys.hold(lambda: self.settled.append(answer), seconds=seconds)

    def wait(self, seconds):
        for timer in list(self.timers):
            if not timer.stopped and timer.seconds <= seconds:
                timer.stopped = True
                timer.call()


class Timer:
    def __init__(self, seconds, call):
        self.seconds, self.call, self.stopped = seconds, call, False

    def stop(self):
        self.stopped = True


@each_case(
    ("pressed", "seconds", "settled", "typed"),
    [
        ([("y", "once")], 0.1, [], []),
        ([("y", "once")], 0.3, ["once"], []),
        ([("y", "once")] * 5, 0.3, ["once"], []),  # a key held down is one answer
        ([("a", "always")], 0.5, [], []),  # an answer that is stored needs a longer silence
        ([("a", "always")], 0.8, ["always"], []),
        ([("a", "always"), ("d", "")], 10, [], ["ad"]),
        ([("a", "always"), ("n", "no")], 10, [], ["an"]),
        ([("", "once")], 0, ["once"], []),  # a key other than a letter answers at once
    ],
)
def test_a_letter_followed_by_silence_is_an_answer_and_text_otherwise(pressed, seconds, settled, typed):
    bench = Bench()
    for letter, answer in pressed:
        bench.press(letter, answer)
    bench.wait(seconds)
    assert (bench.settled, bench.typed) == (settled, typed)
