"""Requests to authorization servers: allowed addresses, and what is recorded."""

import httpx2
import pytest
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata

from tests.cases import each_case
from tests.protocol.oauth_server import OAuthServer
from tui.core.traffic import Captured
from tui.host.frames.tap import WireTap
from tui.host.sign_in.authorization_server import OAuthExchange, SignInFailed, explained

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def test_a_request_is_recorded_without_its_secrets_and_they_are_learned() -> None:
    records: list[Captured] = []
    known: dict[str, str] = {}
    async with OAuthServer(client=("me", "canary-me")) as server:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            exchange = OAuthExchange(
                server.url, client, tap=WireTap("safe", records.append), remember=known.update
            )
            form = {"grant_type": "client_credentials", "client_id": "me", "client_secret": "canary-me"}
            request = httpx2.Request("POST", f"{server.origin}/token", data=form, headers=FORM)
            response = await exchange.send(request)
        assert response.json()["access_token"] in server.valid
        text = str([one.raw for one in records])
        assert "canary" not in text and '"status": 200' in text and "client_credentials" in text
        assert known["client_secret"] == "canary-me" and known["access_token"] in server.valid


async def test_an_unreachable_authorization_server_is_named() -> None:
    records: list[Captured] = []
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        exchange = OAuthExchange(
            "http://127.0.0.1:1/", client, tap=WireTap("safe", records.append), remember=lambda _: None
        )
        with pytest.raises(SignInFailed, match=r"cannot connect to the authorization server 127\.0\.0\.1:"):
            await exchange.send(httpx2.Request("GET", "http://127.0.0.1:1/token"))
    assert b"failed" in records[0].raw


@pytest.mark.parametrize(
    "reply",
    [
        httpx2.Response(400, json={"error": ["invalid_client"]}),
        httpx2.Response(400, headers=[(b"server", b"caf\xe9")], json={"error": "invalid_request"}),
    ],
)
async def test_an_odd_reply_is_returned_like_any_other(reply: httpx2.Response) -> None:
    transport = httpx2.MockTransport(lambda request: reply)
    async with httpx2.AsyncClient(transport=transport) as client:
        tap = WireTap("safe", lambda captured: None)
        exchange = OAuthExchange("https://mcp.example/", client, tap=tap, remember=lambda _: None)
        found = await exchange.send(httpx2.Request("POST", "https://auth.example/token", data={"a": "b"}))
    assert found.status_code == 400 and found.json() and not exchange.rejects_client


# ---- failures -------------------------------------------------------------------------------------------


ISSUER = "https://auth.example"


def context(*, resource: bool = False, issuer: bool = False) -> OAuthContext:
    made = OAuthContext(
        "https://mcp.example/mcp",
        OAuthClientMetadata(redirect_uris=None),
        None,
        None,
        None,  # type: ignore[arg-type]
    )
    if resource:
        made.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
            {"resource": "https://mcp.example/mcp", "authorization_servers": [ISSUER]}
        )
    if issuer:
        made.oauth_metadata = OAuthMetadata.model_validate(
            {
                "issuer": ISSUER,
                "authorization_endpoint": f"{ISSUER}/a",
                "token_endpoint": f"{ISSUER}/t",
            }
        )
    return made


@each_case(
    ("error", "known", "text"),
    [
        (OAuthRegistrationError("404"), context(), 'Set a header in [servers."safe.py".headers]'),
        (OAuthRegistrationError("404"), context(resource=True), "auth.example has no metadata."),
        (OAuthRegistrationError("403"), context(issuer=True), 'set client_id in [servers."safe.py".oauth]'),
        (OAuthFlowError("issuer mismatch"), context(issuer=True), "mcptui logout safe.py"),
        (OAuthTokenError("invalid_grant"), context(issuer=True), "sign-in failed: invalid_grant."),
        (ValueError(""), context(), "sign-in failed: ValueError."),
    ],
)
def test_each_error_is_explained(error: Exception, known: OAuthContext, text: str) -> None:
    assert text in str(explained(error, str(error), "safe.py", known))


def test_a_server_without_oauth_differs_from_a_failed_sign_in() -> None:
    assert not explained(OAuthRegistrationError("404"), "404", "safe", context()).is_offered
    assert explained(OAuthTokenError("no"), "no", "safe", context()).is_offered
