"""Gets access tokens for servers of an organization, in two exchanges (SEP-990).

The identity provider exchanges the user's ID token for a grant, an ID-JAG, that is meant for one
authorization server (RFC 8693). That server exchanges the grant for an access token (RFC 7523). Both
addresses are configured. The MCP server says only which resource it is, and which scopes it needs. The grant
is used once and never stored.

The SDK's provider has only the second exchange, for clients with a secret, and does not ask for the
server's resource identifier (mcp 2.3).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tui.addons.enterprise_sign_in.identities import Identities, table_of
from tui.addons.enterprise_sign_in.issuers import Issuer, OpenExchange, error_of, metadata_of
from tui.core.errors import dotted
from tui.core.jsonrpc.reader import json_mapping
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.secrets.oauth_values import lifetime, unsupported, with_lifetime
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, text_in
from tui.host.sign_in.authorization_server import OAuthExchange, SignInFailed, proof_for, scopes_of
from tui.host.sign_in.sign_ins import SignIns

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"

_STALE = frozenset({"invalid_grant", "invalid_token", "login_required", "interaction_required"})
"""Errors of an identity provider that another ID token may overcome."""


class AccessTokens:
    """Gets tokens for all servers of a host whose settings name an identity provider."""

    def __init__(self, sign_ins: SignIns) -> None:
        self._sign_ins = sign_ins
        self._identities = Identities(sign_ins)

    async def token(
        self,
        spec: ServerSpec,
        stored: StoredSignIn,
        rejection: httpx2.Response,
        *,
        stepping_up: bool,
        exchange: OpenExchange,
        sdk: Any,
    ) -> StoredSignIn:
        """Return a sign-in with a new token for a server that rejected a request.

        The secrets of `spec` are filled in. When `stepping_up`, the scopes of the rejection are requested in
        addition to those of `stored`. `sdk` is the module `provider`. Raises SignInFailed, ConfigError.
        """
        own: list[OAuthExchange] = []  # with the server and its authorization server

        def opened(base: str) -> OAuthExchange:
            made = exchange(base)
            if base in (spec.url, spec.oauth.issuer):
                own.append(made)
            return made

        def named() -> dict[str, bool]:
            return {name: True for one in own for name in one.named}

        try:
            found = await self._token(spec, stored, rejection, stepping_up, opened, sdk)
        except SignInFailed as error:
            if any(one.refused for one in own):
                error.next_step = f"{error.next_step} {unsupported(named())}".rstrip()
            raise
        return replace(found, metadata={**named(), **found.metadata})

    async def _token(
        self,
        spec: ServerSpec,
        stored: StoredSignIn,
        rejection: httpx2.Response,
        stepping_up: bool,
        exchange: OpenExchange,
        sdk: Any,
    ) -> StoredSignIn:
        since, oauth, provider = time.monotonic(), spec.oauth, spec.oauth.identity_provider
        assert provider is not None
        needed = scopes_of(rejection)
        resource, suggested = await sdk.resource_of(spec.url or "", rejection, exchange(spec.url or "").send)
        scopes = list(oauth.scopes) or needed or suggested
        if stepping_up:
            scopes = list(dict.fromkeys((*str(stored.tokens.get("scope", "")).split(), *scopes, *needed)))
        at = await self._authorization_server(spec, exchange, sdk)
        target = {"audience": str(at.metadata["issuer"]), "resource": resource, **_scope(scopes)}
        grant, granted = await self._grant(spec, provider, target, exchange, sdk, since)
        if stepping_up:
            _require(
                needed,
                scopes if granted is None else granted,
                f"the identity provider {clean_line(provider.name, 64)}",
            )
        fields = {"grant_type": _BEARER, "assertion": grant, "resource": resource, **_scope(scopes)}
        reply = await at.asked(fields, await proof_for(oauth, str(at.metadata["issuer"])))
        if reply.status_code != 200:
            raise _refused_by_server(spec, at, reply)
        tokens = json_mapping(reply.content)
        if not (access := text_in(tokens, "access_token")):
            raise at.malformed("access_token is missing")
        if (kind := text_in(tokens, "token_type")).lower() != "bearer":
            raise SignInFailed(
                f"{at.name} issued a token of the type {clean_line(kind, 40) or 'unknown'}.",
                next_step="mcptui supports bearer tokens only: DPoP is not supported yet.",
            )
        issued = _scopes_in(tokens)
        final = next(one for one in (issued, granted, scopes) if one is not None)
        if stepping_up:
            _require(needed, final, at.name)
        seconds = lifetime(tokens.get("expires_in"))
        kept = {"access_token": access, "token_type": "Bearer", "expires_in": seconds, **_scope(final)}
        # Without a refresh token: access ends when the organization ends it.
        client = {
            "client_id": at.client["client_id"],
            "identity_provider": provider.name,
            "identity_issuer": provider.issuer,
        }
        return replace(
            stored,
            issuer=str(at.metadata["issuer"]),
            client=client,
            tokens=with_lifetime(kept),
            expires_at=None if seconds is None else time.time() + seconds,
            metadata=at.metadata,
            resource={},
        )

    async def _authorization_server(self, spec: ServerSpec, exchange: OpenExchange, sdk: Any) -> Issuer:
        oauth = spec.oauth
        client_id = oauth.client_id or oauth.client_metadata_url or self._sign_ins.client_metadata_url
        if not client_id:
            raise SignInFailed(
                "it has no client_id for its authorization server.",
                next_step=f"Set client_id, or client_metadata_url, in {_table(spec)}.",
            )
        sender = exchange(oauth.issuer)
        name = f"the authorization server {clean_line(urlsplit(oauth.issuer).hostname or '', 80)}"
        metadata = await metadata_of(oauth.issuer, name, sender, sdk)
        client = {"client_id": client_id, "client_secret": oauth.client_secret}
        return Issuer(name, metadata, sender, client, self._sign_ins.redact)

    async def _grant(
        self,
        spec: ServerSpec,
        provider: IdentityProvider,
        target: dict[str, str],
        exchange: OpenExchange,
        sdk: Any,
        since: float,
    ) -> tuple[str, list[str] | None]:
        """Return an ID-JAG, and the scopes that the identity provider reports for it; None: as requested."""
        at = await self._identities.issuer(provider, exchange, sdk)
        fields = {
            "grant_type": _EXCHANGE,
            "requested_token_type": _ID_JAG,
            "subject_token_type": _ID_TOKEN,
            **target,
        }
        token = await self._identities.id_token(provider, at, spec.name, sdk, since=since)
        reply = await at.asked({**fields, "subject_token": token})
        if error_of(reply) in _STALE:
            token = await self._identities.id_token(provider, at, spec.name, sdk, since=since, refused=token)
            reply = await at.asked({**fields, "subject_token": token})
        if reply.status_code != 200:
            step = "Contact its administrator."
            raise at.refused("access to this server", reply, step, table_of(provider))
        found = json_mapping(reply.content)
        if found.get("issued_token_type") != _ID_JAG or not text_in(found, "access_token"):
            raise at.malformed("it is not an ID-JAG")
        return text_in(found, "access_token"), _scopes_in(found)


def _scope(scopes: Sequence[str]) -> dict[str, str]:
    return {"scope": " ".join(scopes)} if scopes else {}


def _scopes_in(reply: Mapping[str, Any]) -> list[str] | None:
    """Return the scopes that a token reply names, which may be none; None if they are those requested."""
    return scope.split() if isinstance(scope := reply.get("scope"), str) else None


def _require(needed: Sequence[str], granted: Sequence[str], by: str) -> None:
    if missing := [scope for scope in needed if scope not in granted]:
        raise SignInFailed(
            f"{by} did not grant the scopes that the request needs: {clean_line(' '.join(missing), 200)}.",
            next_step="Contact its administrator.",
        )


def _refused_by_server(spec: ServerSpec, at: Issuer, reply: httpx2.Response) -> SignInFailed:
    step = "Contact its administrator: it must accept grants of the identity provider for this client."
    if _PROFILE not in (at.metadata.get("authorization_grant_profiles_supported") or ()):
        step = "Its metadata do not name this kind of grant (id-jag). Contact its administrator."
    return at.refused("the grant of the identity provider", reply, step, _table(spec))


def _table(spec: ServerSpec) -> str:
    return f"[{dotted(('servers', spec.name, 'oauth'))}]"
