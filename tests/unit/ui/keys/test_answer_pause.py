"""A letter answers a question only if no word follows it."""

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


def test_a_letter_followed_by_silence_is_an_answer():
    bench = Bench()
    bench.press("y", "once")
    assert bench.settled == []
    bench.wait(0.3)
    assert (bench.settled, bench.typed) == (["once"], [])


def test_a_letter_followed_by_another_is_text():
    bench = Bench()
    bench.press("a", "always")
    bench.press("d")
    bench.wait(10)
    assert (bench.settled, bench.typed) == ([], ["ad"])


def test_two_letters_that_are_both_answers_are_text():
    bench = Bench()
    bench.press("a", "always")
    bench.press("n", "no")
    bench.wait(10)
    assert (bench.settled, bench.typed) == ([], ["an"])


def test_a_key_held_down_is_one_answer():
    bench = Bench()
    for _ in range(5):
        bench.press("y", "once")
    bench.wait(0.3)
    assert (bench.settled, bench.typed) == (["once"], [])


def test_an_answer_that_is_stored_needs_a_longer_silence():
    bench = Bench()
    bench.press("a", "always")
    bench.wait(0.5)
    assert bench.settled == []
    bench.wait(0.8)
    assert bench.settled == ["always"]


def test_a_key_other_than_a_letter_answers_at_once():
    bench = Bench()
    bench.press("", "once")
    assert bench.settled == ["once"]
