"""Additions to the SDK's providers (mcp 2.3.0)."""

import subprocess
import sys

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.servers import OAuthSpec, ServerSpec
from tui.host.sign_in.provider import SignInStorage, registered_client, user_provider

ISSUER = "https://auth.example"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/oauth/token",
}
STORED = StoredSignIn(
    "safe",
    "https://mcp.example/mcp",
    ISSUER,
    client={"client_id": "me", "client_secret": "canary-secret"},
    tokens={"access_token": "canary-access", "refresh_token": "canary-refresh"},
    expires_at=1.0,
    metadata=METADATA,
)


async def kept(stored: StoredSignIn) -> StoredSignIn:
    return stored


def provider(stored: StoredSignIn, **oauth: object):  # type: ignore[no-untyped-def]
    spec = ServerSpec("safe", url=stored.url, oauth=OAuthSpec(**oauth))  # type: ignore[arg-type]
    return user_provider(
        spec,
        SignInStorage(stored, kept),
        redirect_address="http://127.0.0.1:9/callback",
        metadata_address="",
        show=None,  # type: ignore[arg-type]
        answered=None,  # type: ignore[arg-type]
    )


async def test_a_new_registration_drops_the_tokens_of_the_old_one() -> None:
    storage = SignInStorage(STORED, kept)
    storage.context = provider(STORED).context
    await storage.set_tokens(OAuthToken(access_token="canary-2", expires_in=60))
    assert storage.stored.tokens["access_token"] == "canary-2" and storage.stored.issuer == f"{ISSUER}"
    await storage.set_client_info(OAuthClientInformationFull(client_id="other"))
    assert storage.stored.tokens == {} and storage.stored.client["client_id"] == "other"


def test_a_configured_client_is_bound_to_its_issuer_or_to_the_first_one() -> None:
    oauth = OAuthSpec(client_id="me", issuer=ISSUER)
    assert registered_client(oauth, "http://127.0.0.1/callback", "https://first.example")["issuer"] == ISSUER
    found = registered_client(OAuthSpec(client_id="me"), "http://127.0.0.1/callback", "https://first.example")
    assert found["issuer"] == "https://first.example" and "client_secret" not in found


def test_no_jwt_library_is_loaded_for_a_person_or_a_client_secret() -> None:
    code = (
        "import sys; from tui.host.sign_in.sdk_import import load_provider; provider = load_provider();"
        "provider.load_credentials(with_jwt=False);"
        "assert not {'jwt', 'cryptography'} & sys.modules.keys(), 'loaded';"
        "provider.load_credentials(with_jwt=True); assert 'jwt' in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)
