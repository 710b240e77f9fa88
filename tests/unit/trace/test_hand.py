"""The history of calls made by hand."""

from tui.core.call_memory import CallKey, CallKind
from tui.trace.hand import MAX_HEAD, HandHistory

WEATHER = CallKey("weather", CallKind.TOOL, "get_weather")
NOTES = CallKey("notes", CallKind.PROMPT, "summarise")


def test_each_call_has_an_id_of_its_own():
    history = HandHistory()
    first, second = history.begin(WEATHER, {}, 1), history.begin(WEATHER, {}, 2)
    assert (first.id, second.id) == ("hand-1", "hand-2")


def test_the_newest_comes_first_and_each_thing_has_its_own():
    history = HandHistory()
    first, second, third = (history.begin(key, {}, 0) for key in (WEATHER, NOTES, WEATHER))
    assert list(history.calls()) == [third, second, first]
    assert list(history.calls(WEATHER)) == [third, first]
    assert list(history.calls(server="notes")) == [second]


def test_a_call_ends_once():
    history = HandHistory()
    call = history.begin(WEATHER, {"city": "Oslo"}, 0)
    assert call.running
    ended = history.end(call.id, 12.5, head="x" * (MAX_HEAD + 1))
    assert ended is not None
    assert not ended.running
    assert len(ended.head) == MAX_HEAD
    assert history.get(call.id) == ended
    assert history.end(call.id, 99.0, error="late") is None


def test_the_oldest_that_is_over_is_forgotten_and_one_that_runs_is_not():
    history = HandHistory(limit=2)
    running = history.begin(WEATHER, {}, 0)
    over = history.begin(WEATHER, {}, 0)
    history.end(over.id, 1.0)
    last = history.begin(WEATHER, {}, 0)
    assert list(history.calls()) == [last, running]
    assert history.end(over.id, 1.0) is None


def test_even_calls_that_never_end_are_bounded():
    history = HandHistory(limit=2)
    for _ in range(5):
        history.begin(WEATHER, {}, 0)
    assert [call.id for call in history.calls()] == ["hand-5", "hand-4"]


def test_the_call_before_is_of_the_same_thing():
    history = HandHistory()
    first = history.begin(WEATHER, {}, 0)
    history.begin(NOTES, {}, 0)
    last = history.begin(WEATHER, {}, 0)
    assert history.before(last.id) == first
    assert history.before(first.id) is None
    assert history.before("hand-99") is None


def test_every_change_is_seen_in_the_revision():
    history = HandHistory()
    call = history.begin(WEATHER, {}, 0)
    before = history.revision
    history.end(call.id, 1.0)
    assert history.revision > before
