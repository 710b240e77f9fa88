"""Revokes the tokens of a sign-in at the authorization server that issued them (RFC 7009)."""

import asyncio
import base64
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx2

from tui.core.errors import McptuiError
from tui.core.servers import OAuthSpec, ServerSpec
from tui.core.text import clean_line
from tui.host.sign_in.authorization_server import OAuthExchange
from tui.host.sign_in.keychain_values import Remember, resolved_oauth
from tui.host.sign_in.token_store import StoredSignIn

SECONDS = 10.0
"""Timeout for all tokens of one server; the user waits for it."""

REVOKED = ("refresh_token", "access_token")
"""The revocable tokens of a sign-in, by their type hints. Many servers revoke the second with the first."""

_BASIC, _POST = "client_secret_basic", "client_secret_post"
_JWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


async def revoke(
    sign_ins: Sequence[StoredSignIn],
    exchange_for: Callable[[StoredSignIn], OAuthExchange],
    spec: ServerSpec | None,
    remember: Remember,
) -> str:
    """Revoke the tokens of sign-ins within `SECONDS`; return why one was not revoked, or "".

    Each token has the same share of the time. Sign-ins of the client that `spec` configures use its secret or
    private key, which are not stored with them.
    """
    tokens = [(one, kind) for one in sign_ins for kind in REVOKED if one.tokens.get(kind)]
    problem = ""
    for sign_in, kind in tokens:
        share = SECONDS / len(tokens)
        try:
            async with asyncio.timeout(share):
                found = await _revoked(sign_in, kind, exchange_for(sign_in), spec, remember)
        except TimeoutError:
            found = f"the authorization server did not respond within {share:.3g} s"
        problem = problem or found
    return problem


async def _revoked(
    sign_in: StoredSignIn, kind: str, exchange: OAuthExchange, spec: ServerSpec | None, remember: Remember
) -> str:
    """Return why a token was not revoked, or ""."""
    try:
        oauth = OAuthSpec()
        if spec is not None and is_configured_client(sign_in, spec):
            oauth = await resolved_oauth(spec, remember)
        if oauth.client_secret:
            sign_in = replace(sign_in, client={**sign_in.client, "client_secret": oauth.client_secret})
        proof = await _assertion(oauth, sign_in.issuer) if oauth.private_key else {}
        reply = await exchange.send(_request(sign_in, kind, proof))
    except McptuiError as error:
        where = f"{error.where}: " if error.where else ""
        return f"{where}{error.message}".rstrip(".")
    if reply.status_code == 200:
        return ""
    return f"{clean_line(reply.request.url.host, 80)} returned HTTP {reply.status_code}{_error_code(reply)}"


def is_configured_client(sign_in: StoredSignIn, spec: ServerSpec) -> bool:
    """Return whether a sign-in was made with the client, address and issuer that `spec` configures."""
    oauth = spec.oauth
    if sign_in.url != re.sub("^ws", "http", spec.url or ""):
        return False
    issuer = sign_in.issuer.rstrip("/")
    same_issuer = bool(issuer) and oauth.issuer.rstrip("/") in ("", issuer)
    return same_issuer and oauth.client_id != "" and oauth.client_id == sign_in.client.get("client_id")


async def _assertion(oauth: OAuthSpec, issuer: str) -> dict[str, str]:
    """Return the fields that authenticate a client with a private key; good for one request (RFC 7523)."""
    module = await asyncio.to_thread(importlib.import_module, "tui.host.sign_in.provider")
    await asyncio.to_thread(module.load_credentials, with_jwt=True)
    return {"client_assertion": await module.assertion_for(oauth)(issuer), "client_assertion_type": _JWT}


def _request(sign_in: StoredSignIn, kind: str, proof: Mapping[str, str]) -> httpx2.Request:
    """Return a request with the same client authentication as the token request (RFC 7009, 2.1)."""
    client = sign_in.client
    known, secret = str(client.get("client_id", "")), str(client.get("client_secret") or "")
    fields = {"token": str(sign_in.tokens[kind]), "token_type_hint": kind}
    headers = {}
    if proof:
        fields |= {"client_id": known, **proof}
    elif secret and _method(client, sign_in.metadata) == _BASIC:
        pair = f"{quote(known, safe='')}:{quote(secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        fields |= {"client_id": known} | ({"client_secret": secret} if secret else {})
    return httpx2.Request("POST", sign_in.revocation_endpoint, data=fields, headers=headers)


def _method(client: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return how the client secret is sent; RFC 8414, 2: in a header, unless something else is named."""
    if (named := client.get("token_endpoint_auth_method")) in (_BASIC, _POST):
        return str(named)
    offered = metadata.get("revocation_endpoint_auth_methods_supported")
    offered = offered or metadata.get("token_endpoint_auth_methods_supported")
    return _POST if isinstance(offered, list) and _POST in offered and _BASIC not in offered else _BASIC


def _error_code(reply: httpx2.Response) -> str:
    """Return the code of an OAuth error, or ""."""
    try:
        found = reply.json()
    except ValueError:
        return ""
    code = found.get("error") if isinstance(found, dict) else None
    return f" ({clean_line(code, 80)})" if isinstance(code, str) and code else ""
