"""Servers that misuse signing in: nothing is opened, no token is kept, and the error says why."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx2
import pytest

from tests.foreign import NUMBERS, OTHERS
from tests.protocol.oauth_server import Asked, OAuthServer, Reply
from tests.unit.host.sign_in.people import Around, Person, browse, safe
from tui.core.questions import Action, QuestionAnswer
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.servers import Grant
from tui.host.sign_in import authorization_server, browser_sign_in
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.token_store import TokenStore


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "sign-in", use_keychain=False)


async def refused(around: Around, match: str) -> SignInFailed:
    with pytest.raises(SignInFailed, match=match) as caught:
        await around.call()
    stored = await around.sign_ins.store.find("safe", around.spec.url or "")
    assert stored is None or not stored.tokens
    return caught.value


ISSUER, CALLBACK = "unexpected authorization server:", "unexpected authorization server:.*iss"


@pytest.mark.parametrize(
    ("about", "why", "is_asked"),
    [
        ({"issuer": "https://evil.example"}, rf"{ISSUER}.*evil\.example", False),
        ({"pkce": False}, "does not support PKCE", False),
        ({"extra": {"authorization_endpoint": "http://a:b@127.0.0.1/authorize"}}, "user name", False),
        ({"extra": {"authorization_endpoint": "http://evil.example/a"}}, "not encrypted", False),
        ({"extra": {"token_endpoint": "http://evil.example/token"}}, "not encrypted", True),
        ({"iss": "https://evil.example"}, CALLBACK, True),
        ({"iss": "https://auth.example"}, CALLBACK, True),
        ({"iss": None}, "iss", True),
    ],
)
async def test_a_server_with_a_wrong_issuer_or_address_gets_no_code_and_is_rejected_as_early_as_possible(
    store: TokenStore, about: dict[str, Any], why: str, is_asked: bool
) -> None:
    async with safe(store, **about) as (server, around):
        await refused(around, why)
        assert bool(around.person.questions) is bool(around.opened) is is_asked
        assert not server.asked("/token")


async def test_an_error_from_another_issuer_is_not_repeated(store: TokenStore) -> None:
    async with OAuthServer(iss="https://evil.example", authorize_error="call-this-number") as server:
        failure = await refused(Around(store, server.url), "iss")
        assert "call-this-number" not in str(failure)


@pytest.mark.parametrize("path", ["/.well-known/oauth-authorization-server", "/register", "/token"])
async def test_an_authorization_server_that_never_responds_times_out(
    store: TokenStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorization_server, "SECONDS", 0.3)
    async with OAuthServer(mute=frozenset({path})) as server:
        began = time.monotonic()
        await refused(Around(store, server.url), r"did not respond within 0\.3 s")
        assert time.monotonic() - began < 20


async def test_an_endless_reply_is_cut_off(store: TokenStore) -> None:
    class Endless(OAuthServer):
        def _metadata(self) -> Any:
            return "endless"

    async with Endless() as server:
        await refused(Around(store, server.url), "more than 1024 KiB")


@pytest.mark.parametrize("endpoint", ["javascript:alert(1)", "file:///etc/passwd", "https:///"])
async def test_an_invalid_url_makes_the_metadata_unusable(store: TokenStore, endpoint: str) -> None:
    async with safe(store, extra={"authorization_endpoint": endpoint}) as (server, around):
        await refused(around, "unexpected authorization server:")
        (opened,) = around.opened  # the default path of the issuer
        assert opened.startswith(f"{server.origin}/authorize?")


async def test_a_callback_with_a_wrong_state_is_ignored(store: TokenStore) -> None:
    async with safe(store) as (server, around):

        def attacked(address: str) -> bool:
            redirect = dict(parse_qsl(address.partition("?")[2]))["redirect_uri"]
            browse(f"{redirect}?code=canary-evil&state=guessed")
            return browse(address)

        around.sign_ins.open_browser = attacked
        assert (await around.call()).status_code == 200
        assert "canary-evil" not in [request.form.get("code") for request in server.asked("/token")]


async def test_a_pasted_url_of_another_sign_in_is_rejected(store: TokenStore) -> None:
    pasted = "http://127.0.0.1:1/callback?code=canary&state=other"
    person = Person(lambda question: QuestionAnswer(Action.ACCEPT, pasted=pasted))
    async with OAuthServer() as server:
        await refused(Around(store, server.url, person), "another sign-in")
        assert len(person.questions) == browser_sign_in.PASTES
        assert not server.asked("/token")


async def test_a_browser_that_returns_no_callback_times_out(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_sign_in, "BROWSER_SECONDS", 0.1)
    async with safe(store) as (_, around):
        around.sign_ins.open_browser = lambda address: True
        await refused(around, "no response from the browser")


async def test_client_credentials_do_not_follow_the_server_to_another_issuer(store: TokenStore) -> None:
    robot = OAuthServer(client=("robot", "canary-robot"), methods=("client_secret_basic",), refresh=False)
    async with robot as server:
        about: dict[str, Any] = {
            "grant": Grant.CREDENTIALS,
            "client_id": "robot",
            "client_secret": "canary-robot",
        }
        assert (await Around(store, server.url, **about).call()).status_code == 200
        async with OAuthServer() as evil:
            server.authorization_server = evil.origin
            server.revoke()
            with pytest.raises(SignInFailed, match="unexpected authorization server:"):
                await Around(store, server.url, **about).call()
            assert not evil.asked("/token")


async def test_a_refresh_token_is_not_sent_to_a_server_that_names_another_issuer(store: TokenStore) -> None:
    async with OAuthServer() as server, OAuthServer() as evil:
        around = Around(store, server.url)
        await around.call()
        (token,) = server._refreshes
        server.authorization_server = evil.origin
        server.revoke()
        server._refreshes.clear()
        assert (await around.call()).status_code == 401  # signed in at the other issuer, in vain
        assert [request.form["grant_type"] for request in evil.asked("/token")] == ["authorization_code"]
        assert [request for request in evil.requests if token in str(request)] == []


async def test_an_endless_401_body_is_cut_off(store: TokenStore) -> None:
    class Endless(OAuthServer):
        def _mcp(self, request: Asked) -> Reply:
            reply = super()._mcp(request)
            return Reply(401, "endless", reply.headers) if reply.status == 401 else reply

    async with Endless() as server:
        assert (await Around(store, server.url).call()).status_code == 200


async def test_no_sign_in_is_started_at_an_unencrypted_internet_address(
    store: TokenStore,
) -> None:
    around = Around(store, "http://mcp.example.com/mcp")
    response = httpx2.Response(401)
    with pytest.raises(SignInFailed, match="not encrypted"):
        await around.auth._sign_in("sign in", httpx2.Request("POST", around.spec.url or ""), response)
    assert around.person.questions == []


async def test_a_refresh_that_lost_a_race_keeps_the_token_of_the_winner(store: TokenStore) -> None:
    async with OAuthServer() as server:
        first, second = Around(store, server.url), Around(store, server.url)
        await first.call()
        await second.call()
        used = first.auth._stored
        expired = replace(used, expires_at=1.0)
        first.auth._stored = await store.save(expired)
        await first.call()  # the winner has a new refresh token
        winner = first.auth._stored
        second.auth._stored = replace(expired, saved_at=winner.saved_at)  # it did not notice
        original = store.find

        async def late(server: str, url: str) -> StoredSignIn | None:
            found = await original(server, url)
            return found and replace(found, saved_at=found.saved_at + 1) if lost else found

        lost: list[bool] = []

        store.find = late  # type: ignore[method-assign]
        token = server._token

        def answer(request: Asked) -> Reply:
            lost.append(True)
            return token(request)

        server._token = answer  # type: ignore[method-assign]
        assert (await second.call()).status_code == 200
        assert second.person.questions == [] and len(first.person.questions) == 1
        found = await original("safe", server.url)
        assert found is not None and found.tokens == winner.tokens


async def test_an_issuer_without_metadata_is_named(store: TokenStore) -> None:
    async with OAuthServer(authorization_server="http://127.0.0.1:1/none", registration=False) as server:
        await refused(Around(store, server.url), "cannot connect to the authorization server")
    async with OAuthServer(registration=False) as server:
        server.authorization_server = f"{server.origin}/nobody"
        await refused(Around(store, server.url), r"nobody has no metadata")


LIFETIMES = [one for one in (*NUMBERS, *OTHERS) if one not in (2**31, "3600")]


@pytest.mark.parametrize("expires_in", LIFETIMES, ids=lambda value: repr(value)[:20])
async def test_a_token_is_used_whatever_its_lifetime_is_said_to_be(
    store: TokenStore, expires_in: Any
) -> None:
    async with OAuthServer(expires_in=expires_in) as server:
        for _ in range(2):  # also by the next run
            around = Around(store, server.url)
            assert [(await around.call()).status_code for _ in range(2)] == [200, 200]
            assert around.states[-1] == "signed in"
        assert len(server.asked("/token")) == 1


@pytest.mark.parametrize("expires_in", ["3600", 3600.0, "3600.5", 3600.9])
async def test_a_lifetime_may_be_text_or_have_a_fraction(store: TokenStore, expires_in: Any) -> None:
    async with safe(store, expires_in=expires_in) as (server, around):
        assert (await around.call()).status_code == 200
        assert around.states[-1].startswith("signed in until")
        found = await store.find("safe", server.url)
        assert found is not None and found.tokens["expires_in"] == 3600


async def test_a_damaged_registration_leads_to_another_one(store: TokenStore) -> None:
    async with OAuthServer() as server:
        await Around(store, server.url).call()
        found = await store.find("safe", server.url)
        assert found is not None
        damaged = {"client": {"client_id": 5}, "metadata": {"issuer": 5}, "resource": {"resource": []}}
        await store.save(replace(found, **damaged, expires_at=1.0))
        around = Around(store, server.url)
        assert (await around.call()).status_code == 200
        assert len(around.person.questions) == 1


@pytest.mark.parametrize("char", ["\u00e9", "\n", "\x00"])
async def test_an_access_token_that_no_header_can_carry_is_refused_with_a_reason(
    store: TokenStore, char: str
) -> None:
    async with OAuthServer() as server:
        issue = server.canary
        server.canary = lambda what: issue(what) + char * (what == "access")  # type: ignore[method-assign]
        failure = await refused(Around(store, server.url), "cannot be sent: it contains a")
        assert "canary" not in str(failure)


LEAK = "canary-token-Qw8fK2xV77"
MALFORMED = [
    {"access_token": [LEAK], "token_type": "Bearer"},
    {"access_token": {"value": LEAK}, "token_type": "Bearer"},
    {"access_token": "a-sound-token", "token_type": "Bearer", "scope": [LEAK, 5]},
    {"access_token": "a-sound-token", "token_type": LEAK},
    {"access_token": "a-sound-token", "token_type": "Bearer", "refresh_token": {"a": [{"b": LEAK}]}},
    {"accessToken": LEAK, "token_type": "Bearer"},
    {"data": {"access_token": LEAK, "token_type": "Bearer"}},
    [{"access_token": LEAK}],
    f"access_token={LEAK}&token_type=bearer".encode(),
    f'{{"access_token": "{LEAK}", '.encode(),
    f"<p>Bad token {LEAK}</p>".encode(),
    f'"{LEAK}"'.encode(),
]


def answering(path: str, body: Any, status: int = 200, grant: str = "") -> OAuthServer:
    """Return a server that answers at a path with a body, if `grant` is what is asked for."""
    server = OAuthServer(expires_in=3600)
    own = server._token if path == "/token" else server._register

    def answer(request: Asked) -> Reply:
        if grant and request.form.get("grant_type") != grant:
            return own(request)
        return Reply(status, body)

    setattr(server, own.__name__, answer)
    return server


def told(around: Around, failure: object, caplog: pytest.LogCaptureFixture) -> str:
    return f"{failure} {getattr(failure, 'next_step', '')} {around.records} {around.states} {caplog.text}"


@pytest.mark.parametrize(
    ("status", "body"),
    [*((200, body) for body in MALFORMED), *((400, body) for body in (MALFORMED[0], *MALFORMED[5:]))],
)
async def test_a_malformed_token_reply_is_neither_quoted_nor_recorded(
    store: TokenStore, body: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    async with answering("/token", body, status) as server:
        around = Around(store, server.url)
        failure = await refused(around, "malformed reply" if status == 200 else "Token exchange failed")
        assert LEAK not in told(around, failure, caplog)


@pytest.mark.parametrize("lifetime", [LEAK, {"secret": LEAK}, [LEAK]])
async def test_a_malformed_lifetime_is_neither_quoted_nor_recorded(
    store: TokenStore, lifetime: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    async with safe(store, expires_in=lifetime) as (_, around):
        assert (await around.call()).status_code == 200
        assert LEAK not in told(around, "", caplog)


@pytest.mark.parametrize("body", MALFORMED[:5])
async def test_a_malformed_refresh_reply_is_neither_quoted_nor_recorded(
    store: TokenStore, body: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    async with answering("/token", body, grant="refresh_token") as server:
        around = Around(store, server.url)
        await around.call()
        stored = await store.find("safe", server.url)
        assert stored is not None
        await store.save(replace(stored, expires_at=time.time() - 5))
        around = Around(store, server.url)
        await around.call()  # signs in again
        assert len(around.person.questions) == 1
        assert LEAK not in told(around, "", caplog)


@pytest.mark.parametrize(
    "body",
    [
        {"client_id": ["c"], "client_secret": LEAK, "redirect_uris": ["http://127.0.0.1/"]},
        {"client_id": "c", "client_secret": [LEAK]},
        {"client": {"client_id": "c", "client_secret": LEAK}},
        {"client_id": {"client_secret": LEAK}},
        f'{{"client_secret": "{LEAK}"'.encode(),
    ],
)
@pytest.mark.parametrize("status", [201, 400])
async def test_a_malformed_registration_is_neither_quoted_nor_recorded(
    store: TokenStore, body: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    async with answering("/register", body, status) as server:
        around = Around(store, server.url)
        failure = await refused(around, "malformed reply" if status == 201 else "did not register")
        assert LEAK not in told(around, failure, caplog)
        assert not server.asked("/token")


async def test_a_damaged_stored_sign_in_is_not_quoted(store: TokenStore) -> None:
    async with safe(store) as (server, around):
        await around.call()
        stored = await store.find("safe", server.url)
        assert stored is not None
        await store.save(replace(stored, tokens={"access_token": [LEAK], "token_type": "Bearer"}))
        around = Around(store, server.url)
        await around.call()
        assert len(around.person.questions) == 1 and LEAK not in repr(around.records)


@pytest.mark.parametrize("path", ["/.well-known/oauth-authorization-server", "/register", "/token"])
async def test_a_redirect_within_the_authorization_server_is_followed(store: TokenStore, path: str) -> None:
    async with OAuthServer() as server:
        own = server._reply

        def reply(request: Asked) -> Reply:
            if request.path == path:
                return Reply(307, None, {"location": "/moved"})
            return own(replace(request, path=path) if request.path == "/moved" else request)

        server._reply = reply  # type: ignore[method-assign]
        around = Around(store, server.url)
        await around.call()
        assert server.asked("/moved") and around.sign_ins.state("safe").startswith("signed in")


async def test_cookies_and_addresses_outside_ascii_of_an_authorization_server_are_sent_back(
    store: TokenStore,
) -> None:
    async with OAuthServer() as server:
        own, seen = server._reply, list[str]()

        def reply(request: Asked) -> Reply:
            seen.append(request.headers.get("cookie", ""))
            found = own(request)
            if request.path == "/.well-known/oauth-authorization-server":
                found = Reply(302, None, {"location": "/moved\u00e9"})
            elif request.path == "/moved%C3%A9":
                found = own(replace(request, path="/.well-known/oauth-authorization-server"))
            found.headers["set-cookie"] = "sid=caf\u00e9; Path=/"
            return found

        server._reply = reply  # type: ignore[method-assign]
        await Around(store, server.url).call()
    assert "sid=caf\u00e9".encode().decode("latin-1") in seen


async def test_a_header_line_that_is_not_http_is_neither_quoted_nor_recorded(
    store: TokenStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with OAuthServer() as server:
        own = server._reply

        def reply(request: Asked) -> Reply:
            found = own(request)
            if request.path == "/token":
                found.headers["set-cookie"] = f"sid={LEAK}\0"
            return found

        server._reply = reply  # type: ignore[method-assign]
        around = Around(store, server.url)
        failure = await refused(
            around,
            "cannot connect to the authorization server .*: a header line of the response is not valid HTTP",
        )
        assert LEAK not in told(around, failure, caplog)


async def test_a_stored_registration_that_the_library_rejects_is_reported_when_it_renews(
    store: TokenStore,
) -> None:
    async with safe(store) as (server, around):
        await around.call()
        stored = await store.find("safe", server.url)
        assert stored is not None
        client = {**stored.client, "token_endpoint_auth_method": "carrier_pigeon"}
        await store.save(replace(stored, client=client, expires_at=1.0))
        with pytest.raises(SignInFailed, match=r"sign-in failed: .*carrier_pigeon"):
            await Around(store, server.url).call()
