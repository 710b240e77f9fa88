"""Signing in where the authorization server forgot the client, or has odd URLs and redirects."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.protocol.oauth_server import Asked, OAuthServer, Reply
from tests.unit.host.sign_in.people import Around
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.token_store import TokenStore


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "sign-in", use_keychain=False)


@pytest.mark.parametrize("where", ["token", "page"])
async def test_a_client_that_the_authorization_server_forgot_is_registered_anew(
    store: TokenStore, where: str
) -> None:
    async with OAuthServer(refresh=False) as server:
        first = Around(store, server.url)
        await first.call()
        server._clients.clear()
        server.revoke()
        if where == "page":
            own = server._reply

            def reply(request: Asked) -> Reply:
                unknown = request.path == "/authorize" and request.query["client_id"] not in server._clients
                server.authorize_error = "unauthorized_client" if unknown else ""
                return own(request)

            server._reply = reply  # type: ignore[method-assign]
        second = Around(store, server.url)
        await second.call()
        assert len(server.asked("/register")) == 2 and len(second.person.questions) == 2
        assert second.sign_ins.state("safe").startswith("signed in")


async def test_a_refresh_by_a_forgotten_client_leads_to_a_new_registration_with_one_question(
    store: TokenStore,
) -> None:
    async with OAuthServer() as server:
        await Around(store, server.url).call()
        server._clients.clear()
        server.revoke()
        second = Around(store, server.url)
        await second.call()
        assert len(server.asked("/register")) == 2 and len(second.person.questions) == 1


async def test_a_configured_client_that_is_unknown_is_an_error_that_names_its_settings(
    store: TokenStore,
) -> None:
    async with OAuthServer() as server:
        around = Around(store, server.url, client_id="gone", client_secret="s")
        with pytest.raises(SignInFailed) as caught:
            await around.call()
    assert "client_id and client_secret in [servers.safe.oauth]" in caught.value.next_step
    assert len(around.person.questions) == 1


@pytest.mark.parametrize(
    ("query", "start"), [("?tenant=a&state=b", "?tenant=a&state=b&response"), ("?", "?response")]
)
async def test_parameters_follow_those_of_the_authorization_endpoint(
    store: TokenStore, query: str, start: str
) -> None:
    async with OAuthServer() as server:
        server.extra = {"authorization_endpoint": f"{server.origin}/authorize{query}"}
        around = Around(store, server.url)
        await around.call()
        url = around.person.questions[0].url
    assert url.startswith(f"{server.origin}/authorize{start}") and url.count("?") == 1
    assert around.sign_ins.state("safe").startswith("signed in")


@pytest.mark.parametrize("status", [301, 302])
@pytest.mark.parametrize("path", ["/register", "/token"])
async def test_a_form_is_sent_again_after_a_redirect_within_the_authorization_server(
    store: TokenStore, path: str, status: int
) -> None:
    async with OAuthServer() as server:
        own = server._reply

        def reply(request: Asked) -> Reply:
            if request.path == path:
                return Reply(status, None, {"location": f"{path}/"})
            return own(replace(request, path=path) if request.path == f"{path}/" else request)

        server._reply = reply  # type: ignore[method-assign]
        around = Around(store, server.url)
        await around.call()
    assert around.sign_ins.state("safe").startswith("signed in")


async def test_a_form_is_not_sent_to_another_origin_after_a_redirect(store: TokenStore) -> None:
    async with OAuthServer() as server, OAuthServer() as other:
        own = server._reply

        def reply(request: Asked) -> Reply:
            moved = Reply(302, None, {"location": f"{other.origin}/token"})
            return moved if request.path == "/token" else own(request)

        server._reply = reply  # type: ignore[method-assign]
        with pytest.raises(SignInFailed):
            await Around(store, server.url).call()
    assert not other.requests
