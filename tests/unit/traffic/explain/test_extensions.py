import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.traffic.explain.extensions import MAX_EVENTS, WORDS, params_sentences, result_sentences

EVENT = {"eventId": "e1", "name": "push", "timestamp": "2026-11-29T12:00:00Z", "data": {"n": 1}}


def test_a_poll_has_a_line_for_each_event():
    told = result_sentences("events/poll", {"events": [EVENT] * 2, "truncated": True, "hasMore": True})
    assert told == [
        "It contains 2 events.",
        "The server skipped events: it no longer had those after the cursor.",
        "There are more: the client polls again at once.",
        *['2026-11-29T12:00:00Z push e1 {"n": 1}'] * 2,
    ]


def test_a_large_poll_is_cut_short():
    told = result_sentences("events/poll", {"events": [EVENT] * 1_000, "nextPollMs": 60_000})
    assert len(told) == 3 + MAX_EVENTS and told[-1] == "and 950 more."


@pytest.mark.parametrize(
    ("cursor", "said"), [(None, "It starts from now."), ("c", "It continues after a cursor.")]
)
def test_a_request_says_what_it_asks_for(cursor, said):
    params = {"name": "push", "arguments": {"repo": "x"}, "cursor": cursor}
    assert params_sentences("events/stream", params) == ['Event type push, arguments {"repo": "x"}.', said]


def test_text_of_a_server_is_clean():
    (told,) = params_sentences("notifications/events/event", EVENT | {"data": {"\x1b[2J": "\u202e"}})
    assert "\x1b" not in told and "\u202e" not in told


@given(
    st.sampled_from([*WORDS, "tools/list"]),
    st.dictionaries(
        st.sampled_from(["name", "uri", "events", "skills", "error", "arguments", "data", "nextPollMs"]),
        st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none() | st.just({})),
    ),
)
def test_any_message_is_explained(method, body):
    for told in (params_sentences(method, body), result_sentences(method, body) or []):
        assert all(isinstance(sentence, str) for sentence in told)
