"""How a raw request handles unusable responses."""

import pytest

from tui.core.questions import Questioner
from tui.core.time_limits import CallTimeout
from tui.host.frames.id_gate import NO_RESPONSE, RESULT_TOO_LARGE, random_id
from tui.host.frames.inbox import Inbox
from tui.host.frames.link import NO_ANSWER, Link, RequestError
from tui.host.session.client_requests import STATE_LIMIT, ask
from tui.host.session.server_requests import ServerRequests
from tui.host.session.session import Session


def scripted(respond):
    class Scripted(Session):
        async def request(self, *_):
            return await respond()

    link = Link(Inbox(), lambda *_: True, random_id)
    return Scripted(link, lambda *_: None, ServerRequests("srv", Questioner()))


async def asked(result, *, modern=True, whole=False):
    """Return the answer to a raw request whose result is `result`, or an error to raise."""

    async def respond():
        if isinstance(result, Exception):
            raise result
        return result

    session = scripted(respond)
    session.version = "2026-07-28" if modern else "2025-11-25"
    return await ask(session, lambda: "", method="m", params={}, timeout=CallTimeout.of(5), whole=whole)


@pytest.mark.parametrize(("modern", "whole"), [(True, True), (False, False)])
async def test_any_result_is_accepted_by_hand_and_in_revisions_without_result_types(modern, whole):
    said = {"tools": "none", "resultType": "surprise"}
    assert (await asked(said, modern=modern, whole=whole)).result == said


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"resultType": "dream"}, "unknown resultType “dream”"),
        ({"resultType": "input_required", "requestState": "x" * (STATE_LIMIT + 1)}, "a requestState of 1,0"),
    ],
)
async def test_a_result_that_cannot_be_used_is_reported(said, why):
    answer = await asked(said)
    assert answer.result is None and answer.problem.startswith("The server's response is invalid: " + why)


async def test_an_error_from_the_server_is_unchanged():
    answer = await asked(RequestError(-32002, "no such thing", {"uri": "a://b"}))
    assert answer.error == {"code": -32002, "message": "no such thing", "data": {"uri": "a://b"}}
    assert not answer.problem and not answer.lost


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32600, NO_ANSWER + " JSON nested too deeply"),
        (RESULT_TOO_LARGE, "result too large: 9"),
        (NO_RESPONSE, "HTTP 503."),
    ],
)
async def test_an_error_created_by_mcptui_is_not_reported_as_one_from_the_server(code, message):
    answer = await asked(RequestError(code, message))
    assert answer.error is None
    assert answer.problem
