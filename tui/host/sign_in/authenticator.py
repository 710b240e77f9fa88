"""Adds an access token to requests; signs in, refreshes or requests more scopes if the server rejects them.

The SDK's provider handles OAuth, and is loaded only for that. It would hold a lock during every request.
Here, a request with a valid token never waits, and each sign-in is a short run of the provider.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

from tui.core.addons import missing, service
from tui.core.errors import McptuiError, StorageError, dotted, reason_of, with_stop
from tui.core.http_waits import is_down
from tui.core.jsonrpc.protocol import VERSION_HEADER
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import message, sentences
from tui.core.secrets.oauth_values import dpop_fields, lifetime, masked_address, unsupported
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.server_secrets import resolved_oauth
from tui.core.servers import Grant, ServerSpec
from tui.core.text import clean_line
from tui.core.time_limits import TimeLimits
from tui.core.web import is_private, proxy_problem
from tui.host.frames.tap import WireTap
from tui.host.sign_in.authorization_server import (
    OAuthExchange,
    SignInFailed,
    discard,
    explained,
    scope_refusal,
    scopes_of,
)
from tui.host.sign_in.browser_sign_in import BrowserSignIn, CallbackListener
from tui.host.sign_in.sdk_import import load_provider
from tui.host.sign_in.sign_ins import SignIns

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider

EXPIRY_MARGIN = 10.0
"""Seconds before its expiry at which an access token is replaced, at most a tenth of its lifetime."""

CHALLENGE_SECONDS = 10.0
ENTERPRISE = "enterprise sign-in"
"""The service that signs in at identity providers."""

_WANTED_CHARS = 4096

OpenClient = Callable[[], httpx2.AsyncClient]


class Authenticator(httpx2.Auth):
    """Signs in to one server for one connection. After the user has declined, it does not ask again.

    Args:
        spec: the server; it has a `url`.
        sign_ins: what all servers share.
        tap: reports each request to an authorization server without its secrets, as an event.
        clocks: those of the start and of calls, which stand still while the user signs in.
        open_client: returns a new client for requests to authorization servers; not tapped.
    """

    def __init__(
        self,
        spec: ServerSpec,
        sign_ins: SignIns,
        tap: WireTap,
        clocks: TimeLimits,
        open_client: OpenClient,
    ) -> None:
        self._spec = spec
        self._url = re.sub("^ws", "http", spec.url or "")
        self._around = sign_ins
        self._tap = tap
        self._clocks = clocks
        self._open_client = open_client
        self._stored = StoredSignIn(spec.name, self._url)
        self._loaded = False
        self._sdk: Any = None
        self._lock = asyncio.Lock()
        self._declined: SignInFailed | None = None
        self._failed_at = 0.0
        self._named: Mapping[str, Any] = {}

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send `request` with a token. After a rejection, try refresh, sign-in and step-up, each only once.

        Raises SignInFailed.
        """
        began = time.monotonic()
        await self._load()
        tried: set[str] = set()
        while True:
            if not self._token() and self._stored.tokens.get("refresh_token"):
                async with self._lock:
                    if not self._token():
                        await self._refreshed(request)
            if token := self._token():
                request.headers["Authorization"] = f"Bearer {token}"
            response = yield request
            step = self._next_step(response, tried)
            if not step:
                return
            tried.add(step)
            await discard(response)
            if not await self._renewed(step, request, response, token, began):
                return
            sent = json_mapping(request.content)
            if "id" in sent:
                why = f"HTTP {response.status_code}, sent again with another token"
                self._tap.refused(sent["id"], why)

    async def sign_in(self) -> StoredSignIn:
        """Sign in now, even if the server does not require it. Raises SignInFailed."""
        self._around.quiet.discard(self._spec.name)
        await self._load()
        async with self._open_client() as client:
            challenge = await self._challenge(client)
        request = httpx2.Request("POST", self._url)
        step, refusal = "sign in", challenge or httpx2.Response(401)
        if self._stored.wanted:
            step, refusal = "step up", scope_refusal(self._stored.wanted, challenge)
        try:
            async with self._lock:
                await self._sign_in(step, request, refusal)
        except SignInFailed as error:
            if "invalid_scope" in error.message:  # otherwise every later sign-in would request it too
                await self._asked_for(self._stored.wanted.split())
            if challenge is None and not error.is_offered:
                raise SignInFailed(
                    message("it does not require signing in."), next_step=message("Start it directly.")
                ) from None
            raise
        return self._stored

    # ---- tokens ----------------------------------------------------------------------------------------

    async def _load(self) -> None:
        if self._loaded:  # so that a slow sign-in delays no other request
            return
        async with self._lock:
            if not self._loaded:
                found = await self._around.store.find(self._spec.name, self._url)
                if found is not None and self._is_of_these_settings(found):
                    self._take(found)
            self._loaded = True

    def _is_of_these_settings(self, found: StoredSignIn) -> bool:
        oauth = self._spec.oauth
        through = oauth.identity_provider
        if found.identity_provider != (("", "") if through is None else (through.name, through.issuer)):
            return False
        return oauth.client_id in ("", found.client.get("client_id"))

    def _take(self, found: StoredSignIn) -> None:
        """Use a sign-in from the store."""
        self._stored = found
        self._around.remember(found.secrets())
        self._around.tell(found)

    def _token(self) -> str:
        tokens, expires = self._stored.tokens, self._stored.expires_at
        margin = min(EXPIRY_MARGIN, (lifetime(tokens.get("expires_in")) or 0) / 10)
        if expires is not None and time.time() > expires - margin:
            return ""
        return str(tokens.get("access_token", ""))

    def _next_step(self, response: httpx2.Response, tried: set[str]) -> str:
        """Return what to do about a response that rejects the request, or ""."""
        if response.status_code == 403:
            said = response.headers.get("www-authenticate", "")
            return "step up" if "insufficient_scope" in said and "step up" not in tried else ""
        if response.status_code != 401:
            return ""
        schemes = response.headers.get("www-authenticate", "").lower()
        if schemes.startswith("dpop") and "bearer" not in schemes:
            raise SignInFailed(
                message("it accepts only tokens that are bound to a key (DPoP), which is not supported yet."),
                next_step=message("Contact the server's operator."),
            )
        steps = ["refresh", "sign in"] if self._stored.tokens.get("refresh_token") else ["sign in"]
        return next((step for step in steps if step not in tried and "sign in" not in tried), "")

    async def _renewed(
        self, step: str, request: httpx2.Request, response: httpx2.Response, used: str, began: float
    ) -> bool:
        """Get another token than `used`; return whether there is one."""
        async with self._lock:
            if (current := self._token()) and current != used:
                return True  # another request has done it meanwhile
            if step == "step up" and await self._another_did_it():
                return True
            if step == "refresh":
                # After a failure, the request is sent without a token, and then a sign-in follows.
                await self._refreshed(request)
                return True
            if self._declined is not None and (step == "sign in" or self._failed_at > began):
                await self._want(step, response)
                raise self._declined
            try:
                await self._sign_in(step, request, response)
            except SignInFailed as error:
                await self._want(step, response)
                if error.lasts or self._spec.oauth.identity_provider is None:
                    self._declined, self._failed_at = error, time.monotonic()
                self._around.tell(self._stored)
                raise
            self._declined = None
            return bool(self._token())

    async def _want(self, step: str, response: httpx2.Response) -> None:
        """Remember the scopes that a request needs and did not get, so that a later sign-in requests them."""
        if self._spec.oauth.identity_provider is not None:
            return  # the organization decides which scopes are granted, not the next sign-in
        known, needed = self._stored.wanted.split(), scopes_of(response)
        if step == "step up" and not set(needed) <= set(known):
            wanted = " ".join(dict.fromkeys((*known, *needed)))
            if len(wanted) <= _WANTED_CHARS:
                self._stored = replace(self._stored, wanted=wanted)
                await self._around.store.want(self._stored)

    # ---- runs of the provider --------------------------------------------------------------------------

    async def _refreshed(self, request: httpx2.Request) -> None:
        """Refresh the access token; if that fails, drop it. Raises SignInFailed."""
        if await self._another_did_it():
            return
        self._sdk = await asyncio.to_thread(load_provider)
        storage = self._sdk.SignInStorage(self._stored, self._save)
        async with self._open_client() as client:
            exchange = self._exchange(client)
            provider = await self._provider(storage, "http://127.0.0.1/callback", None)
            provider.context.token_expiry_time = 1.0

            async def renewed(outgoing: httpx2.Request) -> httpx2.Response:
                reply = await exchange.send(outgoing)
                if is_down(reply.status_code):
                    host = clean_line(outgoing.url.host, 80)
                    raise SignInFailed(
                        message(
                            "{host} cannot renew the sign-in (HTTP {status}).",
                            host=host,
                            status=reply.status_code,
                        ),
                        next_step=message("Try again later. You are still signed in."),
                    )
                return reply

            await self._run(provider, renewed, request)
            if provider.context.current_tokens is None and not await self._another_did_it():
                forgotten = exchange.rejects_client and not self._spec.oauth.client_id
                await (storage.drop_client() if forgotten else storage.drop_tokens())

    async def _another_did_it(self) -> bool:
        """Use the token that another mcptui process got meanwhile: many refresh tokens work only once."""
        newer = await self._around.store.find(self._spec.name, self._url)
        if newer is None or newer.saved_at <= self._stored.saved_at:
            return False
        self._take(newer)
        return bool(self._token())

    async def _sign_in(self, step: str, request: httpx2.Request, response: httpx2.Response) -> None:
        """Sign in, or ask for more scopes. Raises SignInFailed."""
        host = urlsplit(self._url).hostname or ""
        if self._url.startswith("http:") and not is_private(host):
            raise SignInFailed(
                message("it requires signing in, but its URL is not encrypted (http)."),
                next_step=message("mcptui sends no secrets to it. Use an https:// URL."),
            )
        self._sdk = await asyncio.to_thread(load_provider)
        if self._spec.oauth.identity_provider is not None:
            await self._exchanged(step, response)
        elif not await self._attempt(step, request, response):
            # Registered anew: the authorization server no longer knew the client.
            await self._attempt(step, request, response)
        if self._stored.wanted and step == "step up":
            await self._asked_for(scopes_of(response))
        await self._around.store.forget_other_issuers(self._stored)
        self._around.tell(self._stored)

    async def _exchanged(self, step: str, response: httpx2.Response) -> None:
        """Get a token for the user's sign-in at the identity provider. Raises SignInFailed."""
        around = self._around
        if around.enterprise is None:
            if (made := await asyncio.to_thread(service, ENTERPRISE)) is None:
                raise SignInFailed(
                    f"{missing('setting', 'identity_providers')}.",
                    next_step=message(
                        "Remove identity_provider from its settings: {table}.", table=self._table
                    ),
                )
            around.enterprise = around.enterprise or made(around)  # another server may have been first
        spec = replace(self._spec, url=self._url, oauth=await resolved_oauth(self._spec, around.remember))
        with self._clocks.standing_still():
            async with self._open_client() as client:
                found = await around.enterprise.token(
                    spec,
                    self._stored,
                    response,
                    stepping_up=step == "step up",
                    exchange=partial(OAuthExchange, client=client, tap=self._tap, remember=around.remember),
                    sdk=self._sdk,
                )
        await self._save(found)

    @property
    def _table(self) -> str:
        return f"[{dotted(('servers', self._spec.name, 'oauth'))}]"

    async def _attempt(self, step: str, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Sign in with the client as registered; return False if it has to be registered anew.

        Raises SignInFailed.
        """
        storage = self._sdk.SignInStorage(self._stored, self._save)
        was_registered = self._stored.is_dynamic
        with self._clocks.standing_still():
            async with self._open_client() as client, CallbackListener() as listener:
                browser = None
                if self._spec.oauth.grant is Grant.USER:
                    await self._listen(listener)
                    storage.stored = self._stored
                    browser = BrowserSignIn(
                        self._spec.name, self._url, listener, self._around, stepping_up=step == "step up"
                    )
                provider = await self._provider(storage, listener.address, browser)
                exchange = self._exchange(client)
                try:
                    await self._run(provider, exchange.send, request, response)
                except SignInFailed as error:
                    exchange.rejects_client |= error.rejects_client
                    if exchange.refused:
                        named = unsupported({**storage.stored.metadata, **exchange.named})
                        error.next_step = f"{error.next_step} {named}".rstrip()
                    if exchange.rejects_client and self._spec.oauth.client_id:
                        error.next_step = message(
                            "Check client_id and client_secret in {table}.", table=self._table
                        )
                    can_register = was_registered and not self._spec.oauth.client_id
                    if can_register and browser is not None and browser.unanswered and step == "sign in":
                        # An authorization server may report an unknown client on its page only.
                        await storage.drop_client()
                        again = message(
                            "If the browser showed an error, try again: mcptui then registers anew."
                        )
                        error.next_step = sentences(again, error.next_step)
                    if not (can_register and exchange.rejects_client):
                        raise
                    await storage.drop_client()
                    return False
        return True

    async def _asked_for(self, scopes: list[str]) -> None:
        """Forget that these scopes are wanted: they were requested, and granted or rejected."""
        left = [scope for scope in self._stored.wanted.split() if scope not in scopes]
        self._stored = replace(self._stored, wanted=" ".join(left))
        await self._around.store.want(self._stored)

    async def _run(
        self,
        provider: "OAuthClientProvider",
        send: Callable[[httpx2.Request], Awaitable[httpx2.Response]],
        request: httpx2.Request,
        rejection: httpx2.Response | None = None,
    ) -> None:
        """Run the provider until it would send the request, or send it again after its `rejection`.

        It may end at any request. Raises SignInFailed for its errors.
        """
        shadow = _stripped_request(request)
        flow = provider.async_auth_flow(shadow)
        try:
            outgoing = await anext(flow)
            while outgoing is not shadow or rejection is not None:
                if outgoing is shadow and rejection is not None:
                    status, headers, rejection = rejection.status_code, rejection.headers, None
                    outgoing = await flow.asend(httpx2.Response(status, headers=headers, request=shadow))
                else:
                    outgoing = await flow.asend(await send(outgoing))
        except StopAsyncIteration:
            pass
        except (McptuiError, asyncio.CancelledError):
            raise
        except Exception as error:  # errors of the SDK, and of parsing what it reads
            # Those of pydantic quote values.
            what = message("a reply is malformed") if hasattr(error, "errors") else reason_of(error)
            said = self._around.redact(clean_line(what, 300))
            raise explained(error, said, self._spec.name, provider.context) from None
        finally:
            with suppress(RuntimeError):
                await flow.aclose()

    async def _provider(
        self, storage: Any, redirect_address: str, browser: BrowserSignIn | None
    ) -> "OAuthClientProvider":
        oauth = await resolved_oauth(self._spec, self._around.remember)
        spec = replace(self._spec, oauth=oauth, url=self._url)
        if oauth.grant is Grant.CREDENTIALS:
            await asyncio.to_thread(self._sdk.load_credentials, with_jwt=bool(oauth.private_key))
            provider: OAuthClientProvider = self._sdk.credentials_provider(spec, storage)
            return provider
        if oauth.client_id:
            client = self._sdk.registered_client(oauth, redirect_address, storage.stored.issuer)
            storage.stored = replace(storage.stored, client=client)
        provider = self._sdk.user_provider(
            spec,
            storage,
            redirect_address=redirect_address,
            metadata_address=oauth.client_metadata_url or self._around.client_metadata_url,
            show=browser.show if browser else None,
            answered=browser and browser.answered,
            stepping_up=browser is not None and browser.stepping_up,
        )
        return provider

    async def _listen(self, listener: CallbackListener) -> None:
        """Open the listener at the registered port, or register again with another port."""
        configured = self._spec.oauth.callback_port
        registered = 0 if self._spec.oauth.client_id else self._stored.callback_port
        try:
            await listener.open(configured or registered)
        except OSError as error:
            if configured:
                raise SignInFailed(
                    message(
                        "cannot use port {port}, the callback_port of {table}: {reason}.",
                        port=configured,
                        table=self._table,
                        reason=reason_of(error),
                    ),
                    next_step=message("Quit the program that uses it, then try again."),
                ) from None
            self._stored = replace(self._stored, client={})
            await listener.open(0)

    async def _challenge(self, client: httpx2.AsyncClient) -> httpx2.Response | None:
        """Return the server's rejection of a request without a token; None if the server accepts it."""
        about: dict[str, object] = {"http": "GET", "url": masked_address(self._url)}
        try:
            async with asyncio.timeout(CHALLENGE_SECONDS):
                async with client.stream(
                    "GET", self._url, headers={"accept": "text/event-stream"}, follow_redirects=False
                ) as response:
                    self._tap.event("sign-in", **about, status=response.status_code)
                    refused = response.status_code == 401
                    return httpx2.Response(401, headers=response.headers) if refused else None
        except (httpx2.HTTPError, TimeoutError) as error:
            why = (
                reason_of(error)
                if str(error)
                else message("no response within {seconds:g} s", seconds=CHALLENGE_SECONDS)
            )
            self._tap.event("sign-in", **about, failed=why)
            through = proxy_problem(error, self._url, message("the server"))
            problem, step = through or (
                message("cannot connect: {why}", why=why),
                message("Check the URL, and that the server is running."),
            )
            raise SignInFailed(with_stop(problem), next_step=step) from None

    async def _save(self, stored: StoredSignIn) -> StoredSignIn:
        self._around.remember(stored.secrets())
        kept = dpop_fields(self._stored.metadata)
        stored = replace(stored, metadata={**kept, **self._named, **stored.metadata})
        self._stored = stored
        try:
            self._stored = await self._around.store.save(stored)
        except StorageError as error:
            self._stored = replace(stored, place="memory", reason=error.message)
        self._around.tell(self._stored)
        return self._stored

    def _exchange(self, client: httpx2.AsyncClient) -> OAuthExchange:
        remember, fault_of = self._around.remember, self._sdk.reply_fault
        issuer = self._spec.oauth.issuer
        made = OAuthExchange(
            self._url, client, tap=self._tap, remember=remember, fault_of=fault_of, issuer=issuer
        )
        self._named = made.named
        return made


def _stripped_request(request: httpx2.Request) -> httpx2.Request:
    """Return a request for the provider: without its body, and without headers except the version."""
    version = request.headers.get(VERSION_HEADER)
    return httpx2.Request("POST", request.url, headers={VERSION_HEADER: version} if version else {})
