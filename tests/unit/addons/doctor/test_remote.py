"""The steps of authorization and of the end, from the traffic."""

import base64
import json
import time
from typing import Any

from tui.addons.doctor.remote import close_step, session_step, sign_in_steps
from tui.addons.doctor.steps import State, Step
from tui.addons.doctor.wire import Observed, Sent
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason

SPEC = ServerSpec("s", url="https://h/mcp")


def jwt(**claims: Any) -> str:
    return f"e30.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.c2ln"


def told(spec: ServerSpec, *sent: Sent, reason: StopReason = StopReason.FAILED_TO_START) -> dict[str, Step]:
    wire, status = Observed("s", sent=[*sent]), ServerStatus("s", spec, reason=reason, detail="no PKCE")
    return {one.name: one for one in sign_in_steps(spec, wire, status, None, "s")}


def test_a_token_that_has_expired_says_so_by_itself():
    spec = ServerSpec(
        "s", url="https://h/", headers={"authorization": f"Bearer {jwt(exp=time.time() - 7200)}"}
    )
    found = told(spec, Sent("POST", "initialize", status=401))["token"]
    assert found.state is State.FAILED and "expired 2 h" in found.seen


def test_a_sign_in_is_only_advised_if_it_is_what_is_missing():
    refused = Sent("POST", "initialize", status=401)
    assert told(SPEC, refused)["token"].seen == "no PKCE"
    found = told(SPEC, refused, reason=StopReason.NEEDS_SIGN_IN)["token"]
    assert "requires a sign-in" in found.seen and "mcptui login s" in found.fix


def test_a_missing_scope_is_named():
    challenge = 'Bearer error="insufficient_scope", scope="files:write"'
    found = told(SPEC, Sent("POST", "initialize", status=403, challenge=challenge))
    assert found["scopes"].state is State.FAILED and "files:write required" in found["scopes"].seen
    assert "token" not in found


def test_a_session_that_the_server_loses_is_a_failure():
    running = ServerStatus("s", SPEC, ServerState.RUNNING)
    opened = Sent("POST", "initialize", opened="abc", status=200)
    assert session_step(Observed("s", sent=[opened]), running).state is State.OK
    lost = Sent("POST", "tools/list", session="abc", status=404)
    assert "tools/list got HTTP 404" in session_step(Observed("s", sent=[opened, lost]), running).seen


def test_a_session_ends_with_a_status_that_the_protocol_allows():
    for status, state in ((200, State.OK), (405, State.OK), (500, State.WARNING)):
        assert close_step(Observed("s", sent=[Sent("DELETE", status=status)])).state is state
