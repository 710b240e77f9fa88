"""Access tokens through an identity provider, over real servers on loopback."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.enterprise import BEARER, EXCHANGE
from tests.unit.addons.enterprise_sign_in.organization import organization
from tests.unit.host.sign_in.people import Around
from tui.core.secrets.oauth_values import claims_of, unsupported
from tui.host.sign_in import authenticator
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.token_store import TokenStore


async def expire(store: TokenStore, around: Around, account: str = "safe") -> None:
    """Expire the tokens of one account, in memory and in the store."""
    found = next(one for one in await store.of(account))
    kept = await store.save(replace(found, expires_at=1.0))
    if account == "safe":
        around.auth._stored = kept


async def test_a_sign_in_at_the_provider_gives_a_token_of_the_server(store: TokenStore) -> None:
    async with organization(store) as (idp, server, around):
        assert (await around.call()).status_code == 200
        _, exchange = (one.form for one in idp.asked("/token"))
        assert exchange["grant_type"] == EXCHANGE
        assert (exchange["audience"], exchange["resource"]) == (server.origin, server.url)
        assert [one.form["grant_type"] for one in server.asked("/token")] == [BEARER]
        assert server.asked("/authorize") == server.asked("/register") == []


async def test_the_state_names_the_provider(store: TokenStore) -> None:
    async with organization(store) as (_, _, around):
        await around.call()
        assert around.states[-1].startswith("signed in through acme until")
        assert around.states[-1].endswith("then renewed")


async def test_an_expired_token_is_replaced_without_asking_again(store: TokenStore) -> None:
    async with organization(store) as (idp, server, around):
        await around.call()
        await expire(store, around)
        assert (await around.call()).status_code == 200
        assert len(around.person.questions) == 1 and len(server.asked("/token")) == 2
        assert len(idp.asked("/authorize")) == 1


async def test_a_token_that_the_server_rejects_is_replaced(store: TokenStore) -> None:
    async with organization(store) as (_, server, around):
        await around.call()
        server.revoke()
        assert (await around.call()).status_code == 200 and len(around.person.questions) == 1


async def test_a_token_of_another_way_to_sign_in_is_not_used(store: TokenStore) -> None:
    async with organization(store) as (_, server, around):
        await around.call()
        other = Around(store, server.url)
        assert not other.auth._token()
        await other.auth._load()
        assert not other.auth._token()


async def test_the_grant_and_a_refresh_token_of_the_server_are_not_stored(
    store: TokenStore, tmp_path: Path
) -> None:
    async with organization(store, server={"refresh": True}) as (idp, server, around):
        await around.call()
        kept = " ".join(path.read_text() for path in (tmp_path / "sign-in").rglob("*") if path.is_file())
        grants = [one for one in idp.issued if one.startswith("canary-oauth-id-jag")]
        assert grants and not any(one in kept for one in grants)
        assert not any(one in kept for one in server.issued if "refresh" in one)
        assert not any(one in kept for one in (around.spec.oauth.client_secret, "canary-idp-secret"))


async def test_no_secret_is_recorded(store: TokenStore) -> None:
    async with organization(store, server={"rejects": "invalid_grant"}) as (idp, server, around):
        with pytest.raises(SignInFailed) as failed:
            await around.call()
        told = f"{failed.value} {failed.value.next_step} {around.redactor.redact(str(around.records))}"
        values = [*idp.issued, *server.issued, "canary-idp-secret", "canary-server-secret"]
        assert not any(one in told for one in values)


async def test_more_scopes_are_requested_when_a_call_needs_them(store: TokenStore) -> None:
    async with organization(store, server={"scopes": {"tools/call": "write"}}, scopes=("read",)) as (
        _idp,
        server,
        around,
    ):
        await around.call()
        assert (await around.call("tools/call")).status_code == 200
        assert [one.form.get("scope") for one in server.asked("/token")] == ["read", "read write"]
        assert len(around.person.questions) == 1


@pytest.mark.parametrize(
    ("idp", "server", "who"),
    [
        ({"allows": frozenset({"read"})}, {}, "the identity provider acme"),
        ({}, {"cuts": frozenset({"write"})}, r"the authorization server 127\.0\.0\.1"),
        ({"allows": frozenset()}, {}, "the identity provider acme"),
        ({}, {"cuts": frozenset({"read", "write"})}, r"the authorization server 127\.0\.0\.1"),
    ],
)
async def test_scopes_that_are_cut_name_who_did_it_and_the_server_goes_on(
    store: TokenStore, idp: dict[str, Any], server: dict[str, Any], who: str
) -> None:
    about = {"scopes": {"tools/call": "write"}, **server}
    async with organization(store, idp, about, scopes=("read",)) as (_, _, around):
        await around.call()
        with pytest.raises(SignInFailed, match=rf"{who} did not grant the scopes .*: write\."):
            await around.call("tools/call")
        await expire(store, around)
        assert (await around.call()).status_code == 200
        assert (await around.auth.sign_in()).tokens["access_token"]  # does not request them again


@pytest.mark.parametrize(
    ("idp", "server", "why"),
    [
        (
            {"refuses": "invalid_target"},
            {},
            r"identity provider acme refused access to this server: invalid_target: not for .*Contact its",
        ),
        ({"client": ("mcptui", "other")}, {}, r"acme.*invalid_client.*\[identity_providers\.acme\]"),
        ({"broken": {"/token": 503}}, {}, r"identity provider acme issues no tokens now \(HTTP 503\)"),
        ({"exchanged": {"issued_token_type": "x"}}, {}, r"acme sent a malformed reply: it is not an ID-JAG"),
        ({"issuer": "https://other.example"}, {}, r"acme has metadata of another issuer, https://other"),
        ({"broken": {"/.well-known/openid-configuration": 404}}, {}, r"acme has no metadata at http://127"),
        (
            {},
            {"rejects": "invalid_grant"},
            r"authorization server 127.* refused the grant of the identity provider: invalid_grant: bad",
        ),
        (
            {},
            {"client": ("at-server", "x")},
            r"authorization server.*invalid_client.*\[servers\.safe\.oauth\]",
        ),
        (
            {},
            {"issuer": "https://other.example"},
            r"authorization server 127.* has metadata of another issuer, https://other\.example",
        ),
        (
            {},
            {"broken": {"/.well-known/oauth-authorization-server": 503}},
            r"authorization server 127.* does not return its metadata now \(HTTP 503\)\. Try again later",
        ),
        ({}, {"broken": {"/token": 500}}, r"authorization server 127.* \(HTTP 500\)|server_error"),
        ({}, {"issued_as": {"token_type": "DPoP"}}, r"issued a token of the type DPoP.*not supported yet"),
        ({}, {"issued_as": {"access_token": ""}}, r"malformed reply: access_token is missing"),
    ],
)
async def test_an_error_names_the_side_that_refused(
    store: TokenStore, idp: dict[str, Any], server: dict[str, Any], why: str
) -> None:
    async with organization(store, idp, server) as (_, _, around):
        with pytest.raises(SignInFailed) as failed:
            await around.call()
        found = f"{failed.value.message} {failed.value.next_step}"
        assert re.search(why, found), found


DPOP = {"dpop_signing_alg_values_supported": ["ES256"]}


async def test_a_refusal_names_dpop_if_the_metadata_of_the_server_do(store: TokenStore) -> None:
    about = {"rejects": "invalid_dpop_proof", "extra": DPOP}
    async with organization(store, {"extra": {}}, about) as (_, _, around):
        with pytest.raises(SignInFailed) as failed:
            await around.call()
    assert "Its metadata name DPoP, not supported yet." in failed.value.next_step


async def test_a_refusal_of_the_provider_does_not_name_what_only_its_own_metadata_do(
    store: TokenStore,
) -> None:
    async with organization(store, {"refuses": "invalid_target", "extra": DPOP}) as (_, _, around):
        with pytest.raises(SignInFailed) as failed:
            await around.call()
    assert "DPoP" not in failed.value.next_step


async def test_dpop_of_the_server_is_kept_for_the_check_of_the_configuration(store: TokenStore) -> None:
    async with organization(store, server={"extra": DPOP}) as (_, _, around):
        await around.call()
    stored = next(one for one in await store.listed() if one.server == "safe")
    assert unsupported(stored.metadata) == "Its metadata name DPoP, not supported yet."


async def test_a_refusal_does_not_last(store: TokenStore) -> None:
    async with organization(store, {"refuses": "temporarily"}) as (idp, _, around):
        with pytest.raises(SignInFailed):
            await around.call()
        idp.refuses = ""
        assert (await around.call()).status_code == 200 and len(around.person.questions) == 1


async def test_a_metadata_document_is_the_client_if_none_is_configured(store: TokenStore) -> None:
    document = "https://example.com/client.json"
    async with organization(store, client_id="", client_secret="", client_metadata_url=document) as (
        _,
        server,
        around,
    ):
        assert (await around.call()).status_code == 200
        assert server.asked("/token")[0].form["client_id"] == document


async def test_without_a_client_the_setting_is_named(store: TokenStore) -> None:
    async with organization(store, client_id="", client_secret="") as (idp, _, around):
        with pytest.raises(SignInFailed, match=r"no client_id.*\[servers\.safe\.oauth\]"):
            await around.call()
        assert idp.requests == []


async def test_the_server_cannot_choose_where_the_grant_goes(store: TokenStore) -> None:
    """Its metadata name another authorization server, which gets nothing."""
    async with organization(store, server={"authorization_server": "https://evil.example"}) as (
        _,
        _one,
        around,
    ):
        assert (await around.call()).status_code == 200
        addresses = json.dumps([record.detail.get("url", "") for record in around.records])  # type: ignore[attr-defined]
        assert "evil.example" not in addresses


async def test_without_the_addon_the_settings_are_named(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authenticator, "service", lambda name: None)
    monkeypatch.setattr(authenticator, "missing", lambda *what: "it needs the add-on enterprise_sign_in")
    async with organization(store) as (idp, _, around):
        with pytest.raises(SignInFailed, match=r"add-on enterprise_sign_in.*\[servers\.safe\.oauth\]"):
            await around.call()
        assert idp.requests == []


async def test_the_grant_is_not_sent_without_encryption(store: TokenStore) -> None:
    extra = {"token_endpoint": "http://auth.example/token"}
    async with organization(store, server={"extra": extra}) as (_, _, around):
        with pytest.raises(SignInFailed, match=r"is not encrypted \(http\): http://auth\.example/token"):
            await around.call()


async def test_a_private_key_signs_the_second_exchange(store: TokenStore) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    about = {"client_secret": "", "private_key": key.decode(), "private_key_algorithm": "ES256"}
    async with organization(store, **about) as (_, server, around):
        assert (await around.call()).status_code == 200
        form = server.asked("/token")[0].form
        assert claims_of(form["client_assertion"])["aud"] == server.origin and "client_secret" not in form
