"""The steps of authorization and of the end, from the traffic."""

import base64
import json
import time
from typing import Any

from tests.cases import each_case
from tui.addons.doctor.remote import close_step, failed_exchange, session_step, sign_in_steps
from tui.addons.doctor.steps import State, Step
from tui.addons.doctor.wire import Observed, Sent
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.servers import OAuthSpec, ServerSpec, ServerState, ServerStatus, StopReason

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


def test_metadata_of_another_resource_is_for_the_operator_to_correct():
    detail = "sign-in failed: Protected resource https://o/ does not match expected https://h/mcp"
    status = ServerStatus("s", SPEC, reason=StopReason.NEEDS_SIGN_IN, detail=detail)
    wire = Observed("s", sent=[Sent("POST", "initialize", status=401)])
    found = {one.name: one for one in sign_in_steps(SPEC, wire, status, None, "s")}["token"]
    assert found.state is State.FAILED and "correct `resource`" in found.fix


@each_case(
    ("code", "kind", "detail", "step", "said"),
    [
        (0, "", "connection to http://h lost: Connection reset by peer", "answer", "read the server's log"),
        (400, "text/html", "HTTP 400: The plain HTTP request was sent to HTTPS port", "tls", "https://"),
        (421, "text/plain", "HTTP 421: Invalid Host header", "answer", "allowed hosts"),
        (403, "text/plain", "HTTP 403: localhost is forbidden", "answer", "rights"),
        (407, "", "HTTP 407 (Proxy Authentication Required)", "proxy", "USER:PASSWORD"),
        (200, "text/plain", 'HTTP 200: {"jsonrpc": "2.0"}', "answer", "application/json"),
    ],
)
def test_a_start_that_failed_over_http_has_its_advice(
    code: int, kind: str, detail: str, step: str, said: str
):
    status = ServerStatus("s", SPEC, detail=detail)
    wire = Observed("s", sent=[Sent("POST", "initialize", status=code, kind=kind)])
    name, _, fix = failed_exchange(wire, status, None)
    assert name == step and said in fix


def test_what_the_metadata_name_and_is_not_supported_is_a_step():
    document = {"url": "https://h/.well-known/x", "status": 200}
    received = {"dpop_signing_alg_values_supported": ["ES256"]}
    wire = Observed("s", sign_in=[{**document, "received": received}])
    status = ServerStatus("s", SPEC, reason=StopReason.NEEDS_SIGN_IN)
    found = {one.name: one for one in sign_in_steps(SPEC, wire, status, None, "s")}
    assert found["sign-in"].seen == "Its metadata name DPoP, not supported yet"


def test_what_only_an_identity_provider_names_is_no_step():
    oauth = OAuthSpec(identity_provider=IdentityProvider("acme", "https://idp.example", "m"))
    spec = ServerSpec("s", url="https://h/mcp", oauth=oauth)
    document = {"url": "https://idp.example/.well-known/openid-configuration", "status": 200}
    received = {"dpop_signing_alg_values_supported": ["ES256"]}
    wire = Observed("s", sign_in=[{**document, "received": received}])
    status = ServerStatus("s", spec, reason=StopReason.NEEDS_SIGN_IN)
    assert "sign-in" not in {one.name for one in sign_in_steps(spec, wire, status, None, "s")}
