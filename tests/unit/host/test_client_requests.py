"""How a raw request handles responses that the SDK would reject."""

import pytest
from mcp.shared.exceptions import MCPError

from tui.host.client_requests import WholeReply, _refused
from tui.host.error_sentences import NO_ANSWER
from tui.host.frames.id_gate import RESULT_TOO_LARGE


def test_a_raw_response_is_kept_and_the_sdk_gets_a_minimal_one():
    ticket = WholeReply(hollow=lambda raw: {"tools": []})
    said = {"tools": "none", "resultType": "surprise"}
    assert ticket.take(said) == {"tools": []}
    assert ticket.raw == said


def test_in_the_modern_revision_the_minimal_response_is_complete():
    ticket = WholeReply(hollow=lambda raw: {"tools": []})
    ticket.modern = True
    taken = ticket.take({"resultType": "input_required"})
    assert isinstance(taken, dict) and taken["resultType"] == "complete"


def test_an_error_from_the_server_is_unchanged():
    answer = _refused(MCPError(code=-32002, message="no such thing", data={"uri": "a://b"}))
    assert answer.error == {"code": -32002, "message": "no such thing", "data": {"uri": "a://b"}}
    assert not answer.problem and not answer.lost


@pytest.mark.parametrize(
    ("code", "message"),
    [(-32600, NO_ANSWER + " JSON nested too deeply"), (RESULT_TOO_LARGE, "result too large: 9")],
)
def test_an_error_created_by_mcptui_is_not_reported_as_one_from_the_server(code, message):
    answer = _refused(MCPError(code=code, message=message))
    assert answer.error is None
    assert answer.problem
