"""Signing in to a real OAuth server on loopback, with a person who agrees."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.protocol.oauth_server import OAuthServer
from tests.unit.host.sign_in.people import Around, Person, final_address, safe
from tui.core.questions import Action, AddressQuestion, QuestionAnswer
from tui.core.servers import Grant
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.token_store import TokenStore


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "sign-in", use_keychain=False)


async def expire(store: TokenStore, around: Around) -> None:
    """Expire the access token of `around`, in memory and in the store."""
    found = await store.find("safe", around.spec.url or "")
    assert found is not None
    around.auth._stored = await store.save(replace(found, expires_at=1.0))


# ---- a sign-in ---------------------------------------------------------------------------------------


async def test_the_next_run_uses_the_stored_token(store: TokenStore) -> None:
    async with OAuthServer() as server:
        await Around(store, server.url).call()
        later = Around(store, server.url)
        assert (await later.call()).status_code == 200
        assert later.person.questions == [] and later.states[-1].startswith("signed in until")


async def test_concurrent_calls_lead_to_one_sign_in(store: TokenStore) -> None:
    async with safe(store) as (server, around):
        responses = await asyncio.gather(*(around.call() for _ in range(5)))
        assert [response.status_code for response in responses] == [200] * 5
        assert len(around.person.questions) == 1 and len(server.asked("/token")) == 1


async def test_over_ssh_a_pasted_url_completes_the_sign_in(store: TokenStore) -> None:
    async with OAuthServer() as server:

        class Remote(Person):
            async def ask(self, question):  # type: ignore[no-untyped-def]
                self.questions.append(question)
                final = await asyncio.to_thread(final_address, question.url)
                return QuestionAnswer(Action.ACCEPT, pasted=final)

        around = Around(store, server.url, Remote())
        assert (await around.call()).status_code == 200
        assert around.opened == []


@pytest.mark.parametrize(
    "wrong", ["code=1", "http://[x?code=1&state=2", "http://127.0.0.1:1/callback?code=1&state=other"]
)
async def test_a_wrong_pasted_url_is_asked_for_again(store: TokenStore, wrong: str) -> None:
    async with OAuthServer() as server:

        class Hasty(Person):
            async def ask(self, question):  # type: ignore[no-untyped-def]
                self.questions.append(question)
                right = await asyncio.to_thread(final_address, question.url)
                return QuestionAnswer(Action.ACCEPT, pasted=wrong if len(self.questions) == 1 else right)

        around = Around(store, server.url, Hasty())
        assert (await around.call()).status_code == 200
        again = around.person.questions[1].message
        assert again.startswith("T") and "Paste" in again


async def test_a_declined_sign_in_says_how_to_sign_in_and_does_not_ask_twice(store: TokenStore) -> None:
    async with OAuthServer() as server:
        around = Around(store, server.url, Person(lambda question: QuestionAnswer(Action.DECLINE)))
        for _ in range(2):
            with pytest.raises(SignInFailed, match=r"declined.*mcptui login safe"):
                await around.call()
        assert len(around.person.questions) == 1 and around.opened == []
        assert [one.allowed for one in around.decisions.records] == [False]
        assert around.states[-1] == "not signed in"


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"authorize_error": "access_denied"}, r"sign-in rejected: access_denied: You said no\."),
        ({"metadata": False, "registration": False}, r"offers no sign-in.*servers\.safe\.headers"),
        ({"registration": False}, r"did not register.*client_id in \[servers\.safe\.oauth\]"),
    ],
)
async def test_a_sign_in_that_is_rejected_or_not_offered_says_why(
    store: TokenStore, about: dict[str, object], why: str
) -> None:
    async with OAuthServer(**about) as server:
        with pytest.raises(SignInFailed, match=why):
            await Around(store, server.url).call()


async def test_without_a_browser_the_person_is_asked_to_paste(store: TokenStore) -> None:
    async with OAuthServer() as server:

        class Pastes(Person):
            async def ask(self, question):  # type: ignore[no-untyped-def]
                self.questions.append(question)
                if len(self.questions) == 1:
                    return QuestionAnswer(Action.ACCEPT)
                final = await asyncio.to_thread(final_address, question.url)
                return QuestionAnswer(Action.ACCEPT, pasted=final)

        around = Around(store, server.url, Pastes())
        around.sign_ins.open_browser = lambda address: False
        assert (await around.call()).status_code == 200
        asked, again = around.person.questions
        assert asked.opens and not again.opens
        assert "Cannot open a browser here." in again.message


async def test_signing_in_can_start_before_the_server_requires_it(store: TokenStore) -> None:
    async with safe(store, asks=False) as (server, around):
        signed_in = await around.auth.sign_in()
        assert signed_in.tokens["access_token"] in server.valid
        assert around.sign_ins.state("safe").startswith("signed in until")


# ---- refresh, step-up, client credentials ---------------------------------------------------------------


async def test_an_expired_token_is_refreshed_even_after_a_restart(store: TokenStore) -> None:
    async with safe(store) as (server, around):
        await around.call()
        await expire(store, around)
        later = Around(store, server.url)
        assert (await later.call()).status_code == 200
        grants = [request.form["grant_type"] for request in server.asked("/token")]
        assert grants == ["authorization_code", "refresh_token"] and later.person.questions == []
        assert len(server.asked("/mcp")) == 3  # it never saw the expired token


async def test_a_token_rejected_before_it_expires_is_refreshed_without_a_question(
    store: TokenStore,
) -> None:
    async with safe(store) as (server, around):
        await around.call()
        server.revoke()
        assert (await around.call()).status_code == 200
        assert len(around.person.questions) == 1


async def test_a_rejected_refresh_token_leads_to_a_new_sign_in(store: TokenStore) -> None:
    async with safe(store) as (server, around):
        await around.call()
        await expire(store, around)
        server._refreshes.clear()
        assert (await around.call()).status_code == 200
        assert len(around.person.questions) == 2


async def test_an_issuer_that_is_down_during_a_refresh_does_not_end_the_sign_in(store: TokenStore) -> None:
    async with safe(store) as (server, around):
        await around.call()
        await expire(store, around)
        server.broken = {"/token": 503}
        with pytest.raises(SignInFailed, match=r"HTTP 503.*still signed in"):
            await around.call()
        server.broken = {}
        assert (await around.call()).status_code == 200 and len(around.person.questions) == 1


async def test_a_token_that_another_process_refreshed_is_used(store: TokenStore) -> None:
    async with OAuthServer() as server:
        first, second = Around(store, server.url), Around(store, server.url)
        await first.call()
        await second.call()
        await expire(store, first)
        second.auth._stored = first.auth._stored
        for around in (first, second):
            assert (await around.call()).status_code == 200
        grants = [request.form["grant_type"] for request in server.asked("/token")]
        assert grants.count("refresh_token") == 1


async def test_a_call_that_needs_more_scopes_asks_for_them(store: TokenStore) -> None:
    async with safe(store, scopes={"tools/list": "read", "tools/call": "write"}) as (server, around):
        await around.call("tools/list")
        assert (await around.call("tools/call")).status_code == 200
        scopes = [request.query.get("scope") for request in server.asked("/authorize")]
        assert scopes == [None, "read", "read write"]
        more = "It requires additional permissions. Requested scopes: "
        said = [question.message for question in around.person.questions]
        assert said == ["", f"{more}read", f"{more}read write"]


async def test_a_scope_that_is_never_granted_is_requested_once(store: TokenStore) -> None:
    async with safe(store, scopes={"tools/call": "admin"}) as (server, around):
        server._tokens_scope = ""  # type: ignore[attr-defined]
        original = server._tokens
        server._tokens = lambda scope: original("")  # type: ignore[method-assign]
        response = await around.call("tools/call")
        assert response.status_code == 403 and len(server.asked("/authorize")) == 2


async def test_configured_scopes_are_requested(store: TokenStore) -> None:
    async with OAuthServer() as server:
        await Around(store, server.url, scopes=("mail.read", "mail.send")).call()
        assert server.asked("/authorize")[0].query["scope"] == "mail.read mail.send"


async def test_a_private_key_signs_client_credentials(store: TokenStore) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    async with OAuthServer() as server:
        about = {"client_id": "robot", "private_key": key.decode(), "private_key_algorithm": "ES256"}
        around = Around(store, server.url, grant=Grant.CREDENTIALS, **about)
        assert (await around.call()).status_code == 200
        assert server.asked("/token")[0].form["client_assertion"].count(".") == 2


# ---- clients -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_a_registered_client_uses_its_assigned_auth_method(store: TokenStore, method: str) -> None:
    async with OAuthServer(methods=(method,)) as server:
        assert (await Around(store, server.url).call()).status_code == 200
        assert server.asked("/register")[0].json["redirect_uris"][0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_configured_client_is_used_without_registration(store: TokenStore, method: str) -> None:
    async with OAuthServer(client=("mine", "canary-mine"), methods=(method,), registration=False) as server:
        around = Around(store, server.url, client_id="mine", client_secret="canary-mine")
        assert (await around.call()).status_code == 200
        assert server.asked("/authorize")[0].query["client_id"] == "mine"


async def test_a_client_metadata_document_replaces_registration(store: TokenStore) -> None:
    document = "https://mcptui.example/client.json"
    async with OAuthServer(extra={"client_id_metadata_document_supported": True}) as server:
        around = Around(store, server.url, client_metadata_url=document)
        assert (await around.call()).status_code == 200
        assert server.asked("/authorize")[0].query["client_id"] == document and not server.asked("/register")


async def test_the_registration_is_reused_with_the_same_redirect_uri(store: TokenStore) -> None:
    async with OAuthServer(refresh=False) as server:
        await Around(store, server.url).call()
        server.revoke()
        await Around(store, server.url).call()
        first, second = (request.query["redirect_uri"] for request in server.asked("/authorize"))
        assert first == second and len(server.asked("/register")) == 1


async def test_if_the_registered_port_is_taken_the_client_registers_again(store: TokenStore) -> None:
    async with safe(store, refresh=False) as (server, around):
        await around.call()
        server.revoke()
        port = int(server.asked("/authorize")[0].query["redirect_uri"].split(":")[2].split("/")[0])
        taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", port)
        assert (await Around(store, server.url).call()).status_code == 200
        assert len(server.asked("/register")) == 2
        taken.close()
        await taken.wait_closed()


async def test_a_taken_configured_port_is_reported(store: TokenStore) -> None:
    taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    async with OAuthServer() as server:
        with pytest.raises(SignInFailed, match=f"port {port}, the callback_port"):
            await Around(store, server.url, callback_port=port).call()
    taken.close()
    await taken.wait_closed()


# ---- servers without sign-in, and missing settings -----------------------------------------------------


async def test_the_2025_03_26_flow_without_server_metadata_works(store: TokenStore) -> None:
    async with OAuthServer(metadata=False, iss=None) as server:
        assert (await Around(store, server.url).call()).status_code == 200


async def test_signing_in_to_a_server_without_oauth_is_an_error(store: TokenStore) -> None:
    async with OAuthServer(asks=False, metadata=False, registration=False) as server:
        with pytest.raises(SignInFailed, match="it does not require signing in"):
            await Around(store, server.url).auth.sign_in()


async def test_signing_in_to_an_unreachable_server_is_an_error(store: TokenStore) -> None:
    with pytest.raises(SignInFailed, match="cannot connect"):
        await Around(store, "http://127.0.0.1:1/mcp").auth.sign_in()


async def test_a_request_with_a_valid_token_does_not_wait_for_another_sign_in(
    store: TokenStore,
) -> None:
    granted = asyncio.Event()

    class Slow(Person):
        async def ask(self, question):  # type: ignore[no-untyped-def]
            self.questions.append(question)
            if len(self.questions) > 1:
                await granted.wait()
            return QuestionAnswer(Action.ACCEPT)

    async with OAuthServer(scopes={"tools/call": "write"}) as server:
        around = Around(store, server.url, Slow())
        await around.call("tools/list")
        stepping_up = asyncio.create_task(around.call("tools/call"))
        await until(lambda: len(around.person.questions) == 2)
        assert (await around.call("tools/list")).status_code == 200
        granted.set()
        assert (await stepping_up).status_code == 200


# ---- scopes that a call needed and did not get -----------------------------------------------------------


def reluctant() -> Person:
    """Return a person who grants the scope that listing needs, and declines any other."""

    def answer(question: AddressQuestion) -> QuestionAnswer:
        return QuestionAnswer(Action.DECLINE if "write" in question.message else Action.ACCEPT)

    return Person(answer)


async def declined_once(store: TokenStore, server: OAuthServer) -> None:
    around = Around(store, server.url, reluctant())
    await around.call("tools/list")
    with pytest.raises(SignInFailed, match=r"mcptui login safe"):
        await around.call("tools/call")


NEEDS = {"tools/list": "read", "tools/call": "write"}


async def test_a_later_sign_in_requests_the_scope_that_a_call_did_not_get(store: TokenStore) -> None:
    async with OAuthServer(scopes=NEEDS) as server:
        await declined_once(store, server)
        login = Around(store, server.url)
        await login.auth.sign_in()
        assert login.person.questions[-1].url.count("scope=read+write") == 1
        later = Around(store, server.url)
        assert (await later.call("tools/call")).status_code == 200 and later.person.questions == []


async def test_a_scope_that_was_granted_is_not_requested_again(store: TokenStore) -> None:
    async with OAuthServer(scopes=NEEDS) as server:
        await declined_once(store, server)
        await Around(store, server.url).auth.sign_in()
        again = Around(store, server.url)
        await again.auth.sign_in()
        assert "write" not in again.person.questions[-1].message


async def test_a_scope_is_remembered_even_if_nobody_is_signed_in(store: TokenStore) -> None:
    async with OAuthServer(asks=False, scopes={"tools/call": "write"}) as server:
        around = Around(store, server.url, reluctant())
        with pytest.raises(SignInFailed):
            await around.call("tools/call")
        login = Around(store, server.url)
        await login.auth.sign_in()
        assert login.person.questions[-1].url.count("scope=write") == 1


async def test_a_remembered_scope_does_not_end_the_sign_in(store: TokenStore) -> None:
    async with OAuthServer(scopes=NEEDS) as server:
        await declined_once(store, server)
        later = Around(store, server.url, reluctant())
        assert (await later.call("tools/list")).status_code == 200 and later.person.questions == []


async def test_a_scope_that_the_authorization_server_does_not_know_is_requested_once(
    store: TokenStore,
) -> None:
    async with OAuthServer(scopes=NEEDS) as server:
        await declined_once(store, server)
        server.authorize_error = "invalid_scope"
        login = Around(store, server.url)
        with pytest.raises(SignInFailed, match="invalid_scope"):
            await login.auth.sign_in()
        server.authorize_error = ""
        again = Around(store, server.url)
        await again.auth.sign_in()
        assert "write" not in again.person.questions[-1].message


async def test_a_sign_in_in_another_process_serves_the_call_that_needed_it(store: TokenStore) -> None:
    async with OAuthServer(scopes=NEEDS) as server:
        around = Around(store, server.url, reluctant())
        await around.call("tools/list")
        with pytest.raises(SignInFailed):
            await around.call("tools/call")
        await Around(store, server.url).auth.sign_in()
        assert (await around.call("tools/call")).status_code == 200


# ---- what is not supported yet -------------------------------------------------------------------------


async def test_a_failed_sign_in_says_that_the_metadata_name_dpop(store: TokenStore) -> None:
    extra = {"dpop_signing_alg_values_supported": ["ES256"]}
    async with safe(store, extra=extra, broken={"/token": 400}) as (_, around):
        with pytest.raises(SignInFailed, match=r"metadata name DPoP, not supported yet\."):
            await around.call()


async def test_a_sign_in_that_works_keeps_what_the_metadata_name(store: TokenStore) -> None:
    async with safe(store, extra={"dpop_signing_alg_values_supported": ["ES256"]}) as (_, around):
        assert (await around.call()).status_code == 200
        (kept,) = await store.of("safe")
        assert kept.metadata["dpop_signing_alg_values_supported"] is True


async def test_a_server_that_requires_dpop_is_not_signed_in_to_in_vain(store: TokenStore) -> None:
    async with safe(store, challenge='DPoP algs="ES256"') as (_, around):
        with pytest.raises(SignInFailed, match=r"bound to a key \(DPoP\), which is not supported yet"):
            await around.call()
        assert around.person.questions == []
