"""Tokens of a sign-in that ends are revoked at a real authorization server on loopback (RFC 7009)."""

from pathlib import Path
from typing import Any

import pytest

from tests.protocol.oauth_server import OAuthServer
from tests.unit.host.sign_in.people import Person, browse
from tui.core.ports import MonotonicClock
from tui.core.servers import Grant, OAuthSpec, ServerSpec, SignedOut, Transport
from tui.core.traffic import Captured
from tui.host.host import Host
from tui.host.sign_in import revocation
from tui.host.sign_in.token_store import TokenStore


class Revoking(OAuthServer):
    """Names where tokens are revoked."""

    def _metadata(self) -> dict[str, Any]:
        return super()._metadata() | {"revocation_endpoint": f"{self.origin}/revoke"}

    @property
    def revoked(self) -> list[tuple[str, str]]:
        """The kind of each token that was to be revoked, and how the client was named."""
        return [
            (one.form["token_type_hint"], "header" if "authorization" in one.headers else "form")
            for one in self.asked("/revoke")
        ]


async def signed_out(
    folder: Path, server: OAuthServer, oauth: OAuthSpec | None = None
) -> tuple[SignedOut, list[Captured]]:
    """Sign in, and out again; return what that says, and what was recorded."""
    captured: list[Captured] = []
    spec = ServerSpec("safe", transport=Transport.HTTP, url=server.url, oauth=oauth or OAuthSpec())
    host = Host(
        [spec],
        sink=captured.append,
        clock=MonotonicClock(),
        questioner=Person(),
        tokens=TokenStore(folder, use_keychain=False),
    )
    assert host.sign_ins is not None
    host.sign_ins._open_browser = browse
    try:
        await host.sign_in("safe")
        return await host.sign_out("safe"), captured
    finally:
        await host.shutdown()
        assert await TokenStore(folder, use_keychain=False).listed() == []  # whatever the other side says


@pytest.mark.parametrize(
    ("method", "where"),
    [("none", "form"), ("client_secret_basic", "header"), ("client_secret_post", "form")],
)
async def test_signing_out_revokes_both_tokens_as_the_client_that_got_them(
    tmp_path: Path, method: str, where: str
) -> None:
    async with Revoking(methods=(method,)) as server:
        found, captured = await signed_out(tmp_path, server)
        assert found == SignedOut(1, 1) and found.told == " Tokens revoked."
        assert server.revoked == [("refresh_token", where), ("access_token", where)]
        assert not server.valid and not server._refreshes
    recorded = b"".join(one.raw for one in captured).decode() + str(captured)
    assert "/revoke" in recorded and not [one for one in server.issued if one in recorded]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_client_with_a_secret_in_the_configuration_revokes_with_it(
    tmp_path: Path, method: str
) -> None:
    about = OAuthSpec(grant=Grant.CREDENTIALS, client_id="robot", client_secret="canary-robot")
    async with Revoking(client=("robot", "canary-robot"), methods=(method,)) as server:
        found, captured = await signed_out(tmp_path, server, about)
        assert found == SignedOut(1, 1) and not server.valid
    assert "canary-robot" not in str(captured)


async def test_if_one_token_is_not_revoked_the_other_one_is_tried(tmp_path: Path) -> None:
    async with Revoking(broken={"/revoke": 503}) as server:
        await signed_out(tmp_path, server)
        assert [kind for kind, _ in server.revoked] == ["refresh_token", "access_token"]


async def test_without_an_endpoint_nothing_is_asked_and_nothing_said(tmp_path: Path) -> None:
    async with OAuthServer() as server:
        found, _ = await signed_out(tmp_path, server)
        assert found == SignedOut(1) and found.told == ""
        assert not server.asked("/revoke")


async def test_a_rejection_has_its_code(tmp_path: Path) -> None:
    async with Revoking(broken={"/revoke": 503}) as server:
        found, _ = await signed_out(tmp_path, server)
        assert found.told == (
            " Not revoked: 127.0.0.1 returned HTTP 503 (server_error). The tokens work until they expire."
        )


async def test_a_server_that_does_not_answer_does_not_hold_up_the_sign_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocation, "SECONDS", 0.2)
    async with Revoking(mute=frozenset({"/revoke"})) as server:
        found, _ = await signed_out(tmp_path, server)
        assert "did not respond within 0.2 s" in found.problem


async def test_an_endpoint_that_is_not_encrypted_gets_no_token(tmp_path: Path) -> None:
    class Elsewhere(OAuthServer):
        def _metadata(self) -> dict[str, Any]:
            return super()._metadata() | {"revocation_endpoint": "http://revoke.example/"}

    async with Elsewhere() as server:
        found, _ = await signed_out(tmp_path, server)
        assert "http://revoke.example" in found.problem and "is not encrypted" in found.problem
