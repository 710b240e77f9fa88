"""Trace ids: one trace for each turn."""

import re

from tui.core.jsonrpc.messages import TraceIds
from tui.core.traffic import Cause


def test_the_requests_of_a_turn_share_a_trace_id_and_differ_in_span_id():
    ids = TraceIds()
    one, other = ids.traceparent(Cause(3, 1, "a")), ids.traceparent(Cause(3, 2, "b"))
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", header) for header in (one, other))
    assert one.split("-")[1] == other.split("-")[1] and one.split("-")[2] != other.split("-")[2]


def test_other_turns_calls_by_hand_and_other_runs_have_their_own_trace_ids():
    ids = TraceIds()
    causes = [Cause(1, 1), Cause(2, 1), Cause(0, 0, "hand-1"), Cause(0, 0, "hand-2")]
    traces = [ids.traceparent(cause).split("-")[1] for cause in causes]
    traces.append(TraceIds().traceparent(Cause(1, 1)).split("-")[1])
    assert len(set(traces)) == 5


def test_a_request_without_a_turn_has_no_traceparent():
    assert TraceIds().traceparent(None) == "" and TraceIds().traceparent(Cause(0, 0)) == ""
