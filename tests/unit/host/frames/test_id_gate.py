import json
import os

import pytest

from tui.core.jsonrpc.messages import Failure, Notification, Request, Response, Stray
from tui.core.jsonrpc.protocol import METHOD_NOT_FOUND
from tui.host.frames.id_gate import CONNECTION_CLOSED, UNANSWERED_LIMIT, Gate, random_id
from tui.host.frames.inbox import WITHDRAWN


class FakeInbox:
    def __init__(self):
        self.frames = []

    crowded = False

    def put(self, frame):
        if isinstance(frame, Notification) and self.crowded:
            return False
        self.frames.append(frame)
        return True


class Ends:
    """A gate with both ends accessible; wire ids are 1, 2, …"""

    def __init__(self):
        self.inbox = FakeInbox()
        self.replies = []
        self.gate = Gate(self.inbox, self.replies.append)

    def ask(self, known=1, method="tools/call"):
        return self.gate.outgoing({"jsonrpc": "2.0", "id": known, "method": method})

    def got(self):
        frames, self.inbox.frames = self.inbox.frames, []
        return frames


@pytest.fixture
def ends():
    return Ends()


def test_wire_ids_are_unpredictable():
    found = [random_id() for _ in range(200)]
    assert len(set(found)) > 190
    assert all(0 < one < 2**31 for one in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_other_ids():
    random_id()
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.write(writing, b"%d" % random_id())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        theirs = int(pipe.read())
    os.waitpid(child, 0)
    assert theirs != random_id()


def test_a_response_that_no_request_has_is_named_until_the_next_request(ends):
    ends.ask(1, "subscriptions/listen")  # stays open
    ends.ask(2)
    ends.gate.incoming(Response("x", {}))
    assert ends.gate.stray == 'a response with the id "x", which no request has'
    ends.gate.incoming(Response(2, {}))
    ends.ask(3)
    assert ends.gate.stray == ""


@pytest.mark.parametrize("late", [1, "1"])
def test_a_late_response_is_not_one_that_no_request_has(late, ends):
    ends.ask(1)
    ends.gate.incoming(Response(1, {}))
    ends.ask(2)
    ends.gate.incoming(Failure(late, -1, "late"))
    assert ends.gate.stray == ""


def test_cancelling_a_request_that_was_already_answered_sends_nothing(ends):
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert ends.gate.outgoing(cancel) is False


def test_an_unusable_response_fails_only_its_own_call(ends):
    ends.ask(1)
    ends.ask(2)
    assert ends.gate.incoming(Stray("not JSON", (2, 5)))
    assert not ends.gate.incoming(Stray("not JSON", (2, 5)))
    (failure,) = ends.got()
    assert (failure.id, failure.message) == (2, "the server's response is invalid: not JSON")


def test_an_unusable_response_that_has_its_id_twice_fails_its_call_once(ends):
    ends.ask(2)
    assert ends.gate.incoming(Stray("not JSON", (2, "2")))
    assert [one.id for one in ends.got()] == [2]


def test_the_end_of_the_connection_fails_every_pending_call(ends):
    ends.ask(1)
    ends.ask(2)
    ends.gate.fail_all(CONNECTION_CLOSED, "gone")
    assert ends.got() == [Failure(1, CONNECTION_CLOSED, "gone"), Failure(2, CONNECTION_CLOSED, "gone")]


def test_an_open_subscription_does_not_count_as_unanswered(ends):
    ends.ask(1, "subscriptions/listen")
    assert ends.gate.unanswered == 0
    ends.ask(2)
    assert ends.gate.unanswered == 1


def test_a_probe_without_a_response_is_answered_by_the_gate(ends):
    ends.ask(1, "server/discover")
    ends.gate.give_up_probe(1, 2.0)
    (failure,) = ends.got()
    assert (failure.id, failure.code) == (1, METHOD_NOT_FOUND)


def test_an_answered_probe_is_not_answered_again(ends):
    ends.ask(1, "server/discover")
    ends.gate.incoming(Response(1, {}))
    ends.got()
    ends.ask(1, "initialize")
    ends.gate.give_up_probe(1, 2.0)
    assert ends.got() == []


def test_an_error_without_an_id_answers_the_probe(ends):
    ends.ask(1, "server/discover")
    ends.gate.incoming(Failure(None, -32700, "parse error"))
    assert ends.got() == [Failure(1, -32700, "parse error")]


def test_an_error_without_an_id_answers_no_other_request(ends):
    ends.ask(1, "tools/call")
    ends.gate.incoming(Failure(None, -32700, "parse error"))
    assert ends.got() == []


def slow_gate():
    """Return the ends of a gate whose probe, 1, is given up, and whose `initialize`, 2, is pending."""
    ends = Ends()
    ends.ask(1, "server/discover")
    ends.gate.give_up_probe(1, 2.0)
    ends.ask(2, "initialize")
    ends.got()
    return ends


MODERN = {"supportedVersions": ["2026-07-28"]}


@pytest.mark.parametrize("late", [Response(1, MODERN), Failure(1, -32000, "no")])
def test_the_late_answer_to_a_probe_is_passed_on_once(late):
    ends = slow_gate()
    assert ends.gate.is_wanted(1)
    for _ in range(2):
        ends.gate.incoming(late)
    assert ends.got() == [late]
    assert not ends.gate.is_wanted(1)
    assert ends.gate.knows_versions is isinstance(late, Response)


def test_a_probe_that_gets_no_answer_at_all_fails():
    ends = slow_gate()
    ends.gate.lose(1)
    (failure,) = ends.got()
    assert failure.id == 1 and not ends.gate.is_wanted(1)


def test_requests_from_a_stateless_server_are_dropped_unanswered(ends):
    ends.gate.version = "2026-07-28"
    ends.gate.incoming(Request("s1", "ping"))
    assert ends.got() == []
    assert ends.gate.outgoing({"jsonrpc": "2.0", "id": "s1", "result": {}}) is False


def test_excess_requests_are_each_answered_once_by_the_gate(ends):
    for number in range(UNANSWERED_LIMIT + 2):
        ends.gate.incoming(Request(number, "ping" if number % 2 else "roots/list"))
    assert len(ends.got()) == UNANSWERED_LIMIT
    refused, pong = ends.replies
    assert refused["error"]["message"] == "too many pending requests"
    assert pong == {"jsonrpc": "2.0", "id": UNANSWERED_LIMIT + 1, "result": {}}


def test_answering_a_request_makes_room_for_another(ends):
    for number in range(UNANSWERED_LIMIT):
        ends.gate.incoming(Request(number, "ping"))
    ends.gate.outgoing({"jsonrpc": "2.0", "id": 0, "result": {}})
    ends.gate.incoming(Request("more", "ping"))
    assert ends.replies == []


def cancelled(request_id):
    return Notification("notifications/cancelled", {"requestId": request_id})


@pytest.mark.parametrize("written", [int, str])
def test_requests_that_the_server_cancels_make_room_for_others(ends, written):
    for number in range(UNANSWERED_LIMIT * 2):
        ends.gate.incoming(Request(number, "roots/list"))
        ends.gate.incoming(cancelled(written(number)))
    assert ends.replies == []


def test_a_request_whose_cancellation_is_dropped_is_still_pending(ends):
    ends.inbox.crowded = True
    for number in range(UNANSWERED_LIMIT + 1):
        ends.gate.incoming(Request(number, "roots/list"))
        ends.gate.incoming(cancelled(number))
    assert len(ends.replies) == 1


def test_cancelling_an_unknown_request_is_harmless(ends):
    for odd in (None, "x", 7, [1], {"a": 1}, True):
        ends.gate.incoming(cancelled(odd))
    ends.gate.incoming(Notification("notifications/cancelled", None))
    assert len(ends.got()) == 7


def test_batches_are_accepted_once_2025_03_26_is_negotiated(ends):
    assert not ends.gate.batches
    ends.gate.version = "2025-03-26"
    assert ends.gate.batches


def withdrawn(*ids):
    return [Notification(WITHDRAWN, {"requestId": one}) for one in ids]


def test_questions_asked_during_a_request_are_withdrawn_when_it_ends():
    for end in (
        lambda ends: ends.gate.incoming(Response(1, {})),
        lambda ends: ends.gate.fail((1,), CONNECTION_CLOSED, "it broke off"),
        lambda ends: ends.gate.outgoing(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        ),
    ):
        ends = Ends()
        ends.ask(1)
        ends.ask(2)
        for asked, wire_id in (("a", 1), ("b", 2)):
            ends.gate.incoming(Request(asked, "elicitation/create"))
            ends.gate.came_with(asked, wire_id)
        ends.got()
        end(ends)
        assert withdrawn("a")[0] in (got := ends.got()) and withdrawn("b")[0] not in got


def test_an_answered_or_cancelled_question_is_not_withdrawn(ends):
    ends.ask(1)
    for asked in ("a", 7):
        ends.gate.incoming(Request(asked, "elicitation/create"))
        ends.gate.came_with(asked, 1)
    ends.gate.outgoing({"jsonrpc": "2.0", "id": "a", "result": {}})
    ends.gate.incoming(Notification("notifications/cancelled", {"requestId": "7"}))
    ends.got()
    ends.gate.incoming(Response(1, {}))
    assert ends.got() == [Response(1, {})]


def test_a_server_cannot_forge_the_notifications_of_the_gate(ends):
    assert ends.gate.incoming(withdrawn("a")[0])
    assert ends.got() == []


SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.mark.parametrize("returned", [7, "7", 7.0])
@pytest.mark.parametrize("params", [{"progressToken": 7}, {"requestId": 7}, {"_meta": {SUBSCRIPTION: 7}}])
def test_an_id_in_a_notification_is_passed_on_as_it_was_sent(ends, params, returned):
    ends.ask(7)
    written = json.loads(json.dumps(params).replace("7", json.dumps(returned)))
    ends.gate.incoming(Notification("n", written))
    assert repr(ends.got()) == repr([Notification("n", params)])


@pytest.mark.parametrize("asked", [7, "7"])
@pytest.mark.parametrize("returned", [7, "7", 7.0])
def test_the_cancellation_of_a_request_of_the_server_names_it_as_it_was_asked(ends, asked, returned):
    ends.gate.incoming(Request(asked, "roots/list"))
    ends.gate.incoming(cancelled(returned))
    assert repr(ends.got()[1]) == repr(cancelled(asked))


@pytest.mark.parametrize("odd", [None, True, [7], {"a": 7}, 7.5])
def test_what_cannot_be_an_id_names_no_request(ends, odd):
    ends.gate.incoming(Request(1, "roots/list"))
    ends.gate.incoming(Request("", "roots/list"))
    ends.gate.incoming(cancelled(odd))
    assert ends.got()[2] == cancelled(None)


@pytest.mark.parametrize("written", [int, str, float])
async def test_the_answer_to_a_repeated_handshake_may_have_its_id_as_another_type(ends, written):
    with ends.gate.asking({"method": "initialize"}) as (sent, answer):
        ends.gate.incoming(Response(written(sent["id"]), {"a": 1}))
        assert answer.result().result == {"a": 1}


@pytest.mark.parametrize("written", [int, str])
def test_the_late_answer_to_a_probe_may_have_its_id_as_another_type(written):
    ends = slow_gate()
    ends.gate.incoming(Response(written(1), MODERN))
    assert ends.got() == [Response(1, MODERN)]
