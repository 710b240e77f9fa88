"""The user's sign-in at an identity provider, which several servers share."""

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.protocol.enterprise import EnterpriseServer, IdentityProvider
from tests.unit.addons.enterprise_sign_in.organization import organization, settings
from tests.unit.host.sign_in.people import Around, Person
from tui.addons.enterprise_sign_in import identities
from tui.addons.enterprise_sign_in.issuers import Issuer
from tui.core.questions import Action, QuestionAnswer
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.token_store import TokenStore

ACCOUNT = "identity_providers/acme"


async def expire_both(store: TokenStore, around: Around) -> None:
    """Expire the access token and the ID token."""
    for account in ("safe", ACCOUNT):
        found = (await store.of(account))[0]
        kept = await store.save(replace(found, expires_at=1.0))
        if account == "safe":
            around.auth._stored = kept


def other_server(around: Around, server: EnterpriseServer, idp: IdentityProvider, name: str) -> Around:
    """Return the authenticator of another server in the same run."""
    found = Around(around.sign_ins.store, server.url, around.person, **settings(idp, server))
    found.spec = replace(found.spec, name=name)
    found.sign_ins = around.sign_ins
    found.auth = found.authenticator()
    return found


async def test_several_servers_share_one_sign_in(store: TokenStore) -> None:
    async with organization(store) as (idp, _, around), EnterpriseServer(trusts=idp) as second:
        other = other_server(around, second, idp, "other")
        responses = await asyncio.gather(around.call(), other.call())
        assert [one.status_code for one in responses] == [200, 200]
        assert len(around.person.questions) == 1 and len(idp.asked("/authorize")) == 1


async def test_servers_that_wait_for_a_declined_question_do_not_ask_again(store: TokenStore) -> None:
    person = Person(lambda question: QuestionAnswer(Action.DECLINE))
    async with (
        organization(store, person=person) as (idp, _, around),
        EnterpriseServer(trusts=idp) as second,
    ):
        other = other_server(around, second, idp, "other")
        failed = await asyncio.gather(around.call(), other.call(), return_exceptions=True)
        assert all(isinstance(one, SignInFailed) for one in failed) and len(person.questions) == 1


async def test_the_question_names_the_provider_and_shows_its_address(store: TokenStore) -> None:
    async with organization(store) as (idp, _, around):
        await around.call()
        question = around.person.questions[0]
        assert question.url.startswith(f"{idp.origin}/authorize?") and "nonce=" in question.url
        assert "code_challenge_method=S256" in question.url
        assert question.message.startswith("You sign in at the identity provider acme, once for all")
        assert "Requested scopes: openid" in question.message


async def test_a_server_that_started_on_its_own_is_not_signed_in(store: TokenStore) -> None:
    async with organization(store) as (_, _, around):
        around.sign_ins.quiet.add("safe")
        with pytest.raises(
            SignInFailed, match=r"requires signing in at the identity provider acme\. Press s"
        ):
            await around.call()
        around.sign_ins.quiet.discard("safe")
        assert (await around.call()).status_code == 200


async def test_a_refresh_token_of_the_provider_gives_a_new_id_token(store: TokenStore) -> None:
    async with organization(store) as (_idp, _, around):
        await around.call()
        before = (await store.of(ACCOUNT))[0].tokens
        await expire_both(store, around)
        assert (await around.call()).status_code == 200
        after = (await store.of(ACCOUNT))[0].tokens
        assert after["id_token"] != before["id_token"] and after["refresh_token"] != before["refresh_token"]
        assert len(around.person.questions) == 1


async def test_without_a_refresh_token_the_user_signs_in_again(store: TokenStore) -> None:
    async with organization(store, {"refresh": False}) as (_, _, around):
        await around.call()
        await expire_both(store, around)
        assert (await around.call()).status_code == 200 and len(around.person.questions) == 2


async def test_an_id_token_that_the_provider_forgot_is_replaced(store: TokenStore) -> None:
    async with organization(store, {"refresh": False}) as (idp, server, around):
        await around.call()
        idp.forget_tokens()
        server.revoke()
        assert (await around.call()).status_code == 200 and len(around.person.questions) == 2


async def test_offline_access_is_requested_if_it_is_supported(store: TokenStore) -> None:
    async with organization(store, {"extra": {"scopes_supported": ["openid", "offline_access"]}}) as (
        idp,
        _,
        around,
    ):
        await around.call()
        assert idp.asked("/authorize")[0].query["scope"] == "openid offline_access"


@pytest.mark.parametrize(
    ("idp", "why"),
    [
        ({"claims": {"nonce": "other"}}, r"of another sign-in \(nonce\)"),
        ({"claims": {"aud": "somebody"}}, "for another client"),
        ({"claims": {"aud": ["mcptui", "somebody"], "azp": "somebody"}}, r"to another client \(azp\)"),
        ({"claims": {"iss": "https://other.example"}}, r"of another issuer, https://other\.example"),
        ({"lifetime": -10}, "has expired"),
        ({"iss": "https://other.example"}, "iss mismatch"),
        ({"authorize_error": "access_denied"}, "sign-in rejected: access_denied"),
        ({"mute": frozenset({"/none"}), "broken": {"/token": 400}}, "refused the sign-in: server_error"),
    ],
)
async def test_a_sign_in_that_is_not_valid_is_not_kept(
    store: TokenStore, idp: dict[str, Any], why: str
) -> None:
    async with organization(store, idp) as (_, server, around):
        with pytest.raises(SignInFailed) as failed:
            await around.call()
        assert re.search(why, failed.value.message), failed.value.message
        assert await store.of(ACCOUNT) == [] and server.asked("/token") == []


async def test_the_id_token_is_stored_as_a_secret(store: TokenStore) -> None:
    async with organization(store) as (_, _, around):
        await around.call()
        kept = (await store.of(ACCOUNT))[0]
        assert {"id_token", "refresh_token"} == set(kept.tokens) == set(kept.secrets())
        assert "id_token" not in kept.without_secrets().tokens


async def test_an_id_token_is_not_used_shortly_before_it_expires(store: TokenStore) -> None:
    async with organization(store, {"lifetime": identities.MARGIN - 5, "refresh": False}) as (
        _,
        server,
        around,
    ):
        await around.call()
        server.revoke()
        await around.call()
        assert len(around.person.questions) == 2


async def test_an_id_token_that_another_process_renewed_is_used(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with organization(store) as (idp, _, around):
        await around.call()
        renewed = (await store.of(ACCOUNT))[0]
        await expire_both(store, around)
        send = Issuer.asked

        async def asked(self: Issuer, fields: Any, proof: Any = None) -> Any:
            if fields["grant_type"] == "refresh_token":
                await store.save(renewed)
                fields = {**fields, "refresh_token": "used"}
            return await send(self, fields, proof)

        monkeypatch.setattr(Issuer, "asked", asked)
        idp._refreshes.clear()
        assert (await around.call()).status_code == 200 and len(around.person.questions) == 1


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint"])
async def test_an_endpoint_that_is_not_encrypted_is_not_used(store: TokenStore, name: str) -> None:
    async with organization(store, {"extra": {name: "http://idp.example/x"}}) as (_, server, around):
        with pytest.raises(SignInFailed, match=r"is not encrypted \(http\): http://idp\.example/x"):
            await around.call()
        assert server.asked("/token") == [] and await store.of(ACCOUNT) == []
