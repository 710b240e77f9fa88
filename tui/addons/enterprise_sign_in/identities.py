"""The user's sign-in at an identity provider: one ID token for all servers that use the provider.

The ID token comes from the token endpoint over TLS, so its signature need not be checked (OpenID Connect
Core, 3.1.3.7); its claims are.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tui.addons.enterprise_sign_in.issuers import Issuer, OpenExchange, metadata_of
from tui.core.errors import McptuiError, StorageError, dotted, reason_of
from tui.core.jsonrpc.reader import json_mapping
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.secrets.oauth_values import claims_of
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.server_secrets import provider_spec, resolved_oauth
from tui.core.text import clean_line, text_in
from tui.core.units import bounded
from tui.host.sign_in.authorization_server import SignInFailed
from tui.host.sign_in.browser_sign_in import BrowserSignIn, CallbackListener
from tui.host.sign_in.sign_ins import SignIns

MARGIN = 30.0
"""Seconds before its expiry from which an ID token is not used any more."""

_OPENID, _OFFLINE = "openid", "offline_access"


class Identities:
    """The sign-ins at identity providers. Several servers that need one wait for the same."""

    def __init__(self, sign_ins: SignIns) -> None:
        self._sign_ins = sign_ins
        self._locks: dict[str, asyncio.Lock] = {}
        self._failed: dict[str, tuple[float, SignInFailed]] = {}

    async def issuer(self, provider: IdentityProvider, exchange: OpenExchange, sdk: Any) -> Issuer:
        """Return a provider with its metadata and our credentials. Raises SignInFailed, ConfigError."""
        sender, name = exchange(provider.issuer), name_of(provider)
        metadata = await metadata_of(provider.issuer, name, sender, sdk)
        oauth = await resolved_oauth(provider_spec(provider), self._sign_ins.remember)
        client = {"client_id": oauth.client_id, "client_secret": oauth.client_secret}
        return Issuer(name, metadata, sender, client, self._sign_ins.redact)

    async def id_token(
        self,
        provider: IdentityProvider,
        at: Issuer,
        server: str,
        sdk: Any,
        *,
        since: float,
        refused: str = "",
    ) -> str:
        """Return a valid ID token other than the `refused` one. Renew it, or let the user sign in.

        `server` needs it since a time of `monotonic`; after a later failure, it does not ask again. Raises
        SignInFailed.
        """
        async with self._locks.setdefault(provider.account, asyncio.Lock()):
            stored = await self._stored(provider)
            if stored is not None:
                if (token := _valid(stored)) and token != refused:
                    return token
                if token := await self._renewed(provider, at, stored):
                    return token
                # Another mcptui process may have renewed it meanwhile: many refresh tokens work only once.
                newer = await self._stored(provider)
                if newer is not None and newer.saved_at > stored.saved_at and (token := _valid(newer)):
                    return token
            failed_at, failure = self._failed.get(provider.account, (0.0, None))
            if failure is not None and failed_at > since:
                raise failure  # the user was asked for another server meanwhile
            try:
                return await self._signed_in(provider, at, server, sdk)
            except SignInFailed as error:
                if server not in self._sign_ins.quiet:
                    error.lasts = True
                    self._failed[provider.account] = time.monotonic(), error
                raise

    async def _stored(self, provider: IdentityProvider) -> StoredSignIn | None:
        stored = await self._sign_ins.store.find(provider.account, provider.issuer)
        if stored is None or stored.client.get("client_id") != provider.client_id:
            return None
        self._sign_ins.remember(stored.secrets())
        return stored

    async def _renewed(self, provider: IdentityProvider, at: Issuer, stored: StoredSignIn) -> str:
        """Return a new ID token for a refresh token, or ""."""
        if not (refresh := str(stored.tokens.get("refresh_token", ""))):
            return ""
        reply = await at.asked({"grant_type": "refresh_token", "refresh_token": refresh})
        said = json_mapping(reply.content)
        token = text_in(said, "id_token")
        if reply.status_code != 200 or _fault_of(token, provider):
            return ""
        return await self._keep(at, stored, {"refresh_token": refresh, **_tokens(said)})

    async def _signed_in(self, provider: IdentityProvider, at: Issuer, server: str, sdk: Any) -> str:
        """Let the user sign in with a browser; return the ID token. Raises SignInFailed."""
        sign_ins, nonce = self._sign_ins, secrets.token_urlsafe(16)
        async with CallbackListener() as listener:
            try:
                await listener.open(provider.callback_port)
            except OSError as error:
                raise SignInFailed(
                    f"cannot use port {provider.callback_port}, the callback_port of"
                    f" {table_of(provider)}: {reason_of(error)}.",
                    next_step="Quit the program that uses it, then try again.",
                ) from None
            browser = BrowserSignIn(server, provider.issuer, listener, sign_ins, where=at.name)
            stored = StoredSignIn(provider.account, provider.issuer, provider.issuer, metadata=at.metadata)
            offered = at.metadata.get("scopes_supported")
            more = provider.scopes or ((_OFFLINE,) if _OFFLINE in (offered or ()) else ())
            oauth = replace(
                provider_spec(provider).oauth,
                scopes=tuple(dict.fromkeys((_OPENID, *more))),
                client_secret=at.client["client_secret"],
            )
            client = sdk.registered_client(oauth, listener.address, provider.issuer)
            flow = sdk.user_provider(
                replace(provider_spec(provider), oauth=oauth),
                sdk.SignInStorage(replace(stored, client=client), None),
                redirect_address=listener.address,
                metadata_address="",
                show=lambda address: browser.show(f"{address}&nonce={nonce}"),
                answered=browser.answered,
            )
            flow.requires_pkce = False  # MCP requires that of authorization servers, OpenID Connect does not
            try:
                reply = await at.sent(await flow._perform_authorization())
            except McptuiError:
                raise
            except Exception as error:  # of the SDK: a wrong state or issuer
                said = sign_ins.redact(clean_line(reason_of(error), 300))
                raise SignInFailed(
                    f"the sign-in at {at.name} failed: {said}.", next_step="Try again."
                ) from None
        if reply.status_code != 200:
            step = "Try again, or contact its administrator."
            raise at.refused("the sign-in", reply, step, table_of(provider))
        answer = json_mapping(reply.content)
        if fault := _fault_of(text_in(answer, "id_token"), provider, nonce):
            raise at.malformed(fault)
        client = {"client_id": provider.client_id}
        token = await self._keep(at, replace(stored, client=client), _tokens(answer))
        sign_ins.on_provider(provider.account)
        return token

    async def _keep(self, at: Issuer, stored: StoredSignIn, tokens: Mapping[str, str]) -> str:
        token = tokens["id_token"]
        kept = replace(
            stored, tokens=tokens, expires_at=bounded(claims_of(token).get("exp")), metadata=at.metadata
        )
        self._sign_ins.remember(kept.secrets())
        try:
            await self._sign_ins.store.save(kept)
        except StorageError:
            pass  # it is used once, and the user signs in again next time
        return token


def name_of(provider: IdentityProvider) -> str:
    """Return a provider in words, to begin an error with."""
    return f"the identity provider {clean_line(provider.name, 64)}"


def table_of(provider: IdentityProvider) -> str:
    """Return the table of its settings."""
    return f"[{dotted(('identity_providers', provider.name))}]"


def _tokens(said: Mapping[str, Any]) -> dict[str, str]:
    """Return what is kept of a reply: not its access token, which nothing needs."""
    return {name: text for name in ("id_token", "refresh_token") if (text := text_in(said, name))}


def _valid(stored: StoredSignIn) -> str:
    """Return the ID token of a sign-in, or "" if it has expired."""
    token, expires = str(stored.tokens.get("id_token", "")), stored.expires_at
    return "" if expires is None or time.time() > expires - MARGIN else token


def _fault_of(token: str, provider: IdentityProvider, nonce: str = "") -> str:
    """Return why an ID token is not one of this provider for us (OpenID Connect Core, 3.1.3.7), or ""."""
    claims = claims_of(token)
    audience, expires = claims.get("aud"), bounded(claims.get("exp"))
    if not claims:
        return "it has no ID token"
    if str(claims.get("iss")).rstrip("/") != provider.issuer.rstrip("/"):
        return f"the ID token is of another issuer, {clean_line(str(claims.get('iss')), 120)}"
    if provider.client_id not in (audience if isinstance(audience, list) else [audience]):
        return "the ID token is for another client"
    if claims.get("azp", provider.client_id) != provider.client_id:
        return "the ID token was issued to another client (azp)"
    if expires is None or expires < time.time():
        return "the ID token has expired"
    return "the ID token is of another sign-in (nonce)" if nonce and claims.get("nonce") != nonce else ""
