"""Additions to the SDK's providers (mcp 2.3.0)."""

import json
import re
import subprocess
import sys
from pathlib import Path

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from tests.unit.host.sign_in.people import safe
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.servers import OAuthSpec, ServerSpec
from tui.host.sign_in.provider import CLIENT_NAME, SignInStorage, registered_client, user_provider
from tui.host.sign_in.token_store import TokenStore

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


DOCUMENT = json.loads((Path(__file__).parents[4] / "docs" / "client-metadata.json").read_text())
"""The text of the client metadata document that mcptui can be known by."""


def test_the_metadata_document_says_what_a_registration_says() -> None:
    sent = provider(STORED).context.client_metadata
    assert DOCUMENT["client_name"] == sent.client_name == CLIENT_NAME
    assert set(sent.grant_types) <= set(DOCUMENT["grant_types"])
    assert DOCUMENT["response_types"] == sent.response_types
    assert DOCUMENT["application_type"] == sent.application_type
    assert sent.scope is None and "scope" not in DOCUMENT


async def test_a_sign_in_with_the_metadata_document_sends_what_the_document_says(tmp_path: Path) -> None:
    store = TokenStore(tmp_path, use_keychain=False)
    extra = {"client_id_metadata_document_supported": True}
    async with safe(store, extra=extra) as (server, around):
        around.sign_ins.client_metadata_url = DOCUMENT["client_id"]
        assert (await around.call()).status_code == 200
        (asked,), (exchanged,) = server.asked("/authorize"), server.asked("/token")
        assert server.asked("/register") == []
    assert asked.query["client_id"] == exchanged.form["client_id"] == DOCUMENT["client_id"]
    # RFC 8252, 7.3: an authorization server accepts any port of a loopback address.
    without_port = re.sub(r":\d+/", "/", asked.query["redirect_uri"])
    assert [without_port] == DOCUMENT["redirect_uris"]
    assert exchanged.form["grant_type"] in DOCUMENT["grant_types"]
    assert DOCUMENT["token_endpoint_auth_method"] == "none" and "client_secret" not in exchanged.form
    assert "authorization" not in exchanged.headers
