"""Errors of the SDK's OAuth, explained to a person."""

import pytest
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata

from tui.host.sign_in.authorization_server import explained

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


@pytest.mark.parametrize(
    ("error", "known", "text"),
    [
        (OAuthRegistrationError("404"), context(), "Set a header in [servers.safe.headers]"),
        (OAuthRegistrationError("404"), context(resource=True), "auth.example has no metadata."),
        (OAuthRegistrationError("403"), context(issuer=True), "set client_id in [servers.safe.oauth]"),
        (OAuthFlowError("issuer mismatch"), context(issuer=True), "mcptui logout safe"),
        (OAuthTokenError("invalid_grant"), context(issuer=True), "sign-in failed: invalid_grant."),
        (ValueError(""), context(), "sign-in failed: ValueError."),
    ],
)
def test_each_error_is_explained(error: Exception, known: OAuthContext, text: str) -> None:
    assert text in str(explained(error, str(error), "safe", known))


def test_a_server_without_oauth_differs_from_a_failed_sign_in() -> None:
    assert not explained(OAuthRegistrationError("404"), "404", "safe", context()).is_offered
    assert explained(OAuthTokenError("no"), "no", "safe", context()).is_offered
