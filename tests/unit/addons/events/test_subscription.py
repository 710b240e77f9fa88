import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.addons.events import wire
from tui.addons.events.subscription import (
    CEILING_SECONDS,
    DEFAULT_SECONDS,
    FLOOR_SECONDS,
    MAX_AGE_MS,
    MAX_SEEN,
    MOST_AT_ONCE,
    Position,
    State,
    Subscription,
    new_events,
)
from tui.addons.events.wire import batch, error_of


class Time:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def polled(time):
    return Subscription("push", wire.POLL_MODE, now=time, wall=time)


@pytest.fixture
def stream(time):
    one = Subscription("push", wire.PUSH_MODE, now=time, wall=time, heartbeat=30)
    one.params({})
    return one


def event(known, **more):
    return {"eventId": known, "name": "push", "timestamp": "2026-11-29T12:00:00Z", "data": {}} | more


def take(one, *events, **more):
    """Poll once, and return the ids that were accepted."""
    result = {"events": list(events), "cursor": "c", **more}
    found = []
    for new in new_events(one, events):
        one.accepted(new)
        found.append(new.id)
    one.polled(batch(result))
    return found


# ---- cursor ---------------------------------------------------------------------------------------------


def test_a_subscription_starts_from_now(polled):
    assert "cursor" not in polled.params({"a": 1}) and polled.params({"a": 1})["arguments"] == {"a": 1}


@pytest.mark.parametrize("cursor", [None, 7, "", "x" * 20_000])
def test_only_a_text_of_bounded_length_is_kept_as_a_cursor(polled, cursor):
    take(polled, cursor=cursor)
    assert polled.position.cursor == (cursor if cursor == "" else None)


@pytest.mark.parametrize("cursor", [7, "x" * 1_000_000])
def test_a_cursor_that_cannot_be_kept_is_told_and_the_last_one_stays(polled, stream, cursor):
    take(polled, cursor="c1")
    take(polled, cursor=cursor)
    stream.heard(wire.ACTIVE, {"cursor": "c1"})
    stream.heard(wire.ACTIVE, {"cursor": cursor})
    assert {(one.cursor, one.problem) for one in (polled, stream)} == {("c1", wire.BAD_CURSOR)}


def test_an_absent_cursor_is_null(polled):
    polled.polled(batch({"events": []}))
    assert polled.cursor is None


@pytest.mark.parametrize("method", [wire.ACTIVE, wire.EVENT, wire.HEARTBEAT])
def test_each_message_of_a_stream_moves_the_cursor(stream, method):
    stream.heard(method, {"cursor": "c2"})
    assert stream.position.cursor == "c2"


def test_an_active_stream_without_replay_has_no_cursor(time):
    one = Subscription("push", wire.PUSH_MODE, Position("old"), now=time)
    one.params({})
    one.heard(wire.ACTIVE, {"cursor": None, "truncated": True})
    assert one.cursor is None and one.gaps == 0


def test_a_heartbeat_without_a_cursor_keeps_the_known_one(stream):
    stream.heard(wire.ACTIVE, {"cursor": "c1"})
    stream.heard(wire.HEARTBEAT, {})
    assert stream.cursor == "c1"


def test_a_replay_after_a_downtime_is_bounded(time):
    one = Subscription("push", wire.POLL_MODE, Position("c"), now=time)
    assert one.params({})["maxAgeMs"] == MAX_AGE_MS
    take(one)
    assert "maxAgeMs" not in one.params({})
    one.failed(None, "lost")
    assert one.params({})["maxAgeMs"] == MAX_AGE_MS


def test_a_replay_from_now_needs_no_bound(polled):
    assert "maxAgeMs" not in polled.params({})


def test_a_gap_is_counted_and_the_new_cursor_kept(polled, stream):
    take(polled, cursor="new", truncated=True)
    assert (polled.gaps, polled.cursor, polled.state) == (1, "new", State.POLLING)
    stream.heard(wire.ACTIVE, {"cursor": "a"})
    stream.heard(wire.ACTIVE, {"cursor": "b", "truncated": True})
    assert (stream.gaps, stream.cursor, stream.state) == (1, "b", State.LIVE)


# ---- duplicates -----------------------------------------------------------------------------------------


def test_an_event_counts_once(polled):
    assert take(polled, event("a"), event("a"), event("b")) == ["a", "b"]
    assert take(polled, event("b"), event("c")) == ["c"]
    assert (polled.received, polled.duplicates) == (3, 2)


def test_duplicates_are_known_after_a_restart(polled, time):
    take(polled, event("a"))
    assert take(Subscription("push", wire.POLL_MODE, polled.position, now=time), event("a")) == []


def test_events_without_an_id_are_never_duplicates(polled):
    assert take(polled, event(""), event(None)) == ["", ""]


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=2)))
def test_no_event_is_accepted_twice_while_its_id_is_remembered(ids):
    one = Subscription("push", wire.POLL_MODE)
    assert take(one, *map(event, ids)) == list(dict.fromkeys(ids))
    assert len(one.position.seen) <= MAX_SEEN


def test_the_ids_seen_last_are_remembered(polled):
    take(polled, *(event(str(number)) for number in range(MAX_SEEN + 5)))
    assert len(polled.position.seen) == MAX_SEEN and polled.position.seen[-1] == str(MAX_SEEN + 4)


# ---- intervals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (0, FLOOR_SECONDS),
        (-5, DEFAULT_SECONDS),
        (None, DEFAULT_SECONDS),
        ("60000", DEFAULT_SECONDS),
        (5_000, 5.0),
        (10**12, CEILING_SECONDS),
    ],
)
def test_the_interval_of_the_server_is_bounded(polled, said, seconds):
    take(polled, nextPollMs=said)
    assert polled.wait == seconds


def test_a_backlog_is_polled_at_once(polled):
    take(polled, event("a"), hasMore=True, nextPollMs=60_000)
    assert polled.wait == 0


def test_a_backlog_that_does_not_move_is_not_polled_at_once(polled):
    take(polled, hasMore=True, cursor="c")
    take(polled, hasMore=True, cursor="c", nextPollMs=0)
    assert polled.wait == FLOOR_SECONDS


def test_an_endless_backlog_is_polled_with_pauses(polled):
    waits = []
    for number in range(3 * MOST_AT_ONCE):
        take(polled, event(str(number)), hasMore=True, nextPollMs=0)
        waits.append(polled.wait)
    assert waits.count(FLOOR_SECONDS) == 3 and waits.count(0.0) == 3 * MOST_AT_ONCE - 3


@given(st.lists(st.sampled_from(["lost", "works"]), max_size=40))
def test_a_failing_poll_is_repeated_with_growing_bounded_delays(turns):
    time, one = Time(), None
    one = Subscription("push", wire.POLL_MODE, now=time)
    failures = 0
    for turn in turns:
        if turn == "works":
            take(one)
            failures = 0
        else:
            one.failed(None, "no")
            failures += 1
            assert one.wait == min(60.0, 2.0 ** (failures - 1)) and one.state is State.LOST


# ---- streams --------------------------------------------------------------------------------------------


def test_a_stream_is_live_from_its_first_message(stream):
    assert stream.state is State.OPENING
    stream.heard(wire.ACTIVE, {})
    assert stream.state is State.LIVE


def test_a_stream_is_dead_after_twice_the_interval_of_heartbeats(stream, time):
    time.now += 59
    assert stream.patience > 0
    stream.heard(wire.HEARTBEAT, {})
    time.now += 59
    assert stream.patience > 0
    time.now += 2
    assert stream.patience <= 0


def test_a_transient_error_is_shown_and_the_stream_stays(stream):
    stream.heard(wire.ACTIVE, {})
    stream.heard(wire.ERROR, {"error": {"code": -32603, "message": "upstream 503"}})
    assert stream.state is State.LIVE and "upstream 503" in stream.problem


def test_an_overflow_without_a_cursor_is_a_gap(stream):
    stream.heard(wire.ACTIVE, {})
    stream.overflowed()
    assert (stream.gaps, stream.state) == (1, State.LOST)


def test_an_overflow_continues_from_the_cursor(stream):
    stream.heard(wire.ACTIVE, {"cursor": "c"})
    stream.overflowed()
    assert stream.gaps == 0 and stream.params({})["cursor"] == "c"


# ---- ends -----------------------------------------------------------------------------------------------

ENDS = [
    (-32023, {"kind": "event"}, "The server no longer offers it."),
    (-32011, {}, "The server no longer offers it."),
    (-32024, {"reason": "Access revoked"}, "Access denied (Forbidden: Access revoked)."),
    (
        -32026,
        {"feature": "payloadSchema", "reason": "schema_changed"},
        "The server changed its schema.",
    ),
    (-32602, {}, "The server rejected the arguments (Forbidden)."),
]


@pytest.mark.parametrize(("code", "data", "said"), ENDS)
@pytest.mark.parametrize("how", ["terminated", "error reply"])
def test_an_error_that_stays_ends_the_subscription(stream, how, code, data, said):
    error = {"code": code, "message": "Forbidden", "data": data}
    if how == "terminated":
        stream.heard(wire.TERMINATED, {"error": error})
    else:
        stream.failed(error_of(error))
    assert (stream.state, stream.problem) == (State.ENDED, said)


@pytest.mark.parametrize("code", [-32025, -32603, -32000, True, None, "-32024"])
def test_any_other_error_is_repeated(stream, code):
    stream.failed(error_of({"code": code, "message": "busy"}))
    assert stream.state is State.LOST and "busy" in stream.problem


# ---- any server -----------------------------------------------------------------------------------------

_junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_params = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("cursor", "truncated", "error", "eventId", "name", "data", "_meta"), _junk)
)


@given(
    st.lists(st.tuples(st.sampled_from([wire.ACTIVE, wire.EVENT, wire.HEARTBEAT, wire.ERROR, "x"]), _params))
)
def test_no_stream_breaks_a_subscription(frames):
    one = Subscription("push", wire.PUSH_MODE)
    one.params({})
    for method, params in frames:
        if method == wire.EVENT:
            for new in new_events(one, (params,)):
                one.accepted(new)
        one.heard(method, params)
    assert one.cursor is None or isinstance(one.cursor, str)
    assert all(isinstance(known, str) for known in one.position.seen)


@given(st.dictionaries(st.sampled_from(["events", "cursor", "truncated", "hasMore", "nextPollMs"]), _junk))
def test_no_poll_breaks_a_subscription(result):
    one = Subscription("push", wire.POLL_MODE)
    found = batch(result)
    for new in new_events(one, found.events):
        one.accepted(new)
    one.polled(found)
    assert 0 <= one.wait <= CEILING_SECONDS
