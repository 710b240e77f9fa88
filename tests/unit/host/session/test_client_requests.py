"""How a raw request handles unusable responses."""

import pytest

from tui.core.questions import Questioner
from tui.core.servers import ServerSpec
from tui.core.time_limits import CallTimeout
from tui.host.frames.id_gate import random_id
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
    return Scripted(link, lambda *_: None, ServerRequests(ServerSpec("srv"), Questioner()))


async def asked(result, *, modern=True, whole=False):
    """Return the answer to a raw request whose result is `result`."""

    async def respond():
        return result

    session = scripted(respond)
    session.version = "2026-07-28" if modern else "2025-11-25"
    return await ask(session, str, "m", {}, CallTimeout.of(5), whole=whole)


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
    with pytest.raises(RequestError, match=NO_ANSWER + ": " + why):
        await asked(said)
