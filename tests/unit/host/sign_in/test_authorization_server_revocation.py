"""Signing out revokes the tokens at a real authorization server on loopback (RFC 7009)."""

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.hosts import far, host_of
from tests.protocol.oauth_server import Asked, OAuthServer, Reply
from tests.unit.host.sign_in.people import Person, browse
from tui.core.permission.consent import ConsentGate
from tui.core.secrets.stored_sign_in import SignedOut
from tui.core.servers import Grant, OAuthSpec, ServerSpec
from tui.core.traffic import Captured
from tui.host.server.host_context import Answerers, Remembered
from tui.host.sign_in import authorization_server
from tui.host.sign_in.token_store import TokenStore


class Revoking(OAuthServer):
    """An authorization server with a revocation endpoint."""

    def _metadata(self) -> dict[str, Any]:
        return super()._metadata() | {"revocation_endpoint": f"{self.origin}/revoke"}

    @property
    def revoked(self) -> list[tuple[str, str]]:
        """The type of each token to revoke, and how the client authenticated."""
        return [
            (one.form["token_type_hint"], "header" if "authorization" in one.headers else "form")
            for one in self.asked("/revoke")
        ]


async def signed_out(
    folder: Path, server: OAuthServer, oauth: OAuthSpec | None = None, consent: ConsentGate | None = None
) -> tuple[SignedOut, list[Captured]]:
    """Sign in and out again; return the result and the records."""
    captured: list[Captured] = []
    host = host_of(
        far(server, name="safe", oauth=oauth or OAuthSpec()),
        sink=captured.append,
        answerers=Answerers(questioner=Person(), consent=consent or ConsentGate()),
        remembered=Remembered(tokens=TokenStore(folder, use_keychain=False)),
    )
    assert host.sign_ins is not None
    host.sign_ins.open_browser = browse
    try:
        await host.sign_in("safe")
        return await host.sign_out("safe"), captured
    finally:
        await host.shutdown()
        assert await TokenStore(folder, use_keychain=False).listed() == []  # whatever the server responds


@pytest.mark.parametrize(
    ("method", "where"),
    [("none", "form"), ("client_secret_basic", "header"), ("client_secret_post", "form")],
)
async def test_signing_out_revokes_both_tokens_as_the_client_that_obtained_them(
    tmp_path: Path, method: str, where: str
) -> None:
    async with Revoking(methods=(method,)) as server:
        found, captured = await signed_out(tmp_path, server)
        assert found == SignedOut(1, 1) and found.told == " Tokens revoked."
        assert server.revoked == [("refresh_token", where), ("access_token", where)]
        assert not server.valid and not server._refreshes
    recorded = b"".join(one.raw for one in captured).decode() + str(captured)
    assert "/revoke" in recorded and not [one for one in server.issued if one in recorded]


@pytest.mark.parametrize(
    ("method", "where"), [("client_secret_basic", "header"), ("client_secret_post", "form")]
)
@pytest.mark.parametrize("grant", list(Grant))
async def test_a_configured_client_revokes_with_its_secret(
    tmp_path: Path, grant: Grant, method: str, where: str
) -> None:
    oauth = OAuthSpec(grant, "robot", "canary-robot")
    async with Revoking(client=("robot", "canary-robot"), methods=(method,)) as server:
        found, captured = await signed_out(tmp_path, server, oauth)
        assert found.told == " Tokens revoked." and not server.valid
        assert {how for _, how in server.revoked} == {where}
    assert "canary-robot" not in b"".join(one.raw for one in captured).decode() + str(captured)


async def test_a_configured_private_key_signs_each_revocation(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    oauth = OAuthSpec(Grant.CREDENTIALS, "robot", private_key=key.decode(), private_key_algorithm="ES256")
    async with Revoking(client=("robot", "")) as server:
        found, _ = await signed_out(tmp_path, server, oauth)
        assert found.told == " Tokens revoked."
        forms = [one.form for one in server.asked("/revoke")]
        assert len({form["client_assertion"] for form in forms}) == 2
        assert {form["client_assertion"].count(".") for form in forms} == {2}


async def test_a_client_secret_is_not_sent_for_a_server_without_consent(tmp_path: Path) -> None:
    class Withdrawn(ConsentGate):
        """Agrees to the sign-in only."""

        async def ask(self, spec: ServerSpec) -> bool:
            return True

        def allows(self, spec: ServerSpec) -> bool:
            return False

    oauth = OAuthSpec(Grant.CREDENTIALS, "robot", "canary-robot")
    async with Revoking(client=("robot", "canary-robot")) as server:
        found, _ = await signed_out(tmp_path, server, oauth, Withdrawn())
        assert "HTTP 401 (invalid_client)" in found.problem
        assert not [one for one in server.asked("/revoke") if b"canary-robot" in one.body]
        assert {how for _, how in server.revoked} == {"form"}


async def test_if_one_revocation_fails_the_other_token_is_still_revoked(tmp_path: Path) -> None:
    class Half(Revoking):
        def _revoke(self, request: Asked) -> Reply:
            if request.form["token_type_hint"] == "refresh_token":
                return Reply(503, {"error": "server_error"})
            return super()._revoke(request)

    async with Half() as server:
        found, _ = await signed_out(tmp_path, server)
        assert "HTTP 503 (server_error)" in found.problem and not server.valid


async def test_without_a_revocation_endpoint_nothing_is_requested_or_reported(tmp_path: Path) -> None:
    async with OAuthServer() as server:
        found, _ = await signed_out(tmp_path, server)
        assert found == SignedOut(1, lasting=1) and found.told == ""
        assert not server.asked("/revoke")


async def test_a_failed_revocation_is_reported_with_the_http_status(tmp_path: Path) -> None:
    async with Revoking(broken={"/revoke": 503}) as server:
        found, _ = await signed_out(tmp_path, server)
        assert found.told == (
            " Not revoked: 127.0.0.1 returned HTTP 503 (server_error). The tokens work until they expire."
        )


async def test_a_server_that_does_not_respond_does_not_delay_signing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorization_server, "REVOKING_SECONDS", 2.0)
    async with Revoking(mute=frozenset({"/revoke"})) as server:
        found, _ = await signed_out(tmp_path, server)
        assert "did not respond within 1 s" in found.problem
        assert [kind for kind, _ in server.revoked] == ["refresh_token", "access_token"]


async def test_an_unencrypted_revocation_endpoint_gets_no_token(tmp_path: Path) -> None:
    class Elsewhere(OAuthServer):
        def _metadata(self) -> dict[str, Any]:
            return super()._metadata() | {"revocation_endpoint": "http://revoke.example/"}

    async with Elsewhere() as server:
        found, _ = await signed_out(tmp_path, server)
        assert "http://revoke.example" in found.problem and "is not encrypted" in found.problem
