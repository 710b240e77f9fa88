"""Revokes the tokens of a sign-in at the authorization server that issued them (RFC 7009)."""

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx2

from tui.core.servers import OAuthSpec
from tui.core.text import clean_line
from tui.host.sign_in.exchange import OAuthExchange
from tui.host.sign_in.failures import SignInFailed
from tui.host.sign_in.token_store import StoredSignIn

SECONDS = 10.0
"""Timeout for all tokens of one server, because the person waits for it."""

REVOKED = ("refresh_token", "access_token")
"""The tokens of a sign-in; the names are also the hints. Many servers revoke the second with the first."""

_BASIC, _POST = "client_secret_basic", "client_secret_post"


async def revoke(
    sign_ins: Sequence[StoredSignIn], exchange_for: Callable[[StoredSignIn], OAuthExchange]
) -> str:
    """Revoke the tokens of sign-ins within `SECONDS`; return why one was not revoked, or ""."""
    problem = ""
    try:
        async with asyncio.timeout(SECONDS):
            for sign_in in sign_ins:
                problem = await _revoked(sign_in, exchange_for(sign_in)) or problem
    except TimeoutError:
        problem = f"the authorization server did not respond within {SECONDS:g} s"
    return problem


def with_secret(sign_in: StoredSignIn, url: str | None, oauth: OAuthSpec) -> StoredSignIn:
    """Return a sign-in with the client secret of the configuration, if it is of that client and address."""
    client = sign_in.client
    is_same = sign_in.url == url and client.get("client_id") == oauth.client_id
    if not oauth.client_secret or not is_same or client.get("client_secret"):
        return sign_in
    return replace(sign_in, client={**client, "client_secret": oauth.client_secret})


async def _revoked(sign_in: StoredSignIn, exchange: OAuthExchange) -> str:
    """Return why a token of a sign-in was not revoked, or ""."""
    problem = ""
    for name in REVOKED:
        token = sign_in.tokens.get(name)
        if not token:
            continue
        try:
            reply = await exchange.send(_request(sign_in, str(token), name))
        except SignInFailed as error:
            problem = error.message.rstrip(".")
            continue
        if reply.status_code != 200:
            problem = (
                f"{clean_line(reply.request.url.host, 80)} returned HTTP {reply.status_code}{_said(reply)}"
            )
    return problem


def _request(sign_in: StoredSignIn, token: str, name: str) -> httpx2.Request:
    """Return a request with the same client authentication as the token request (RFC 7009, 2.1)."""
    client = sign_in.client
    known, secret = str(client.get("client_id", "")), str(client.get("client_secret") or "")
    fields = {"token": token, "token_type_hint": name}
    headers = {}
    if secret and _method(client, sign_in.metadata) == _BASIC:
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
    return _POST if isinstance(offered, list) and _POST in offered and _BASIC not in offered else _BASIC


def _said(reply: httpx2.Response) -> str:
    """Return the code of an OAuth error, or ""."""
    try:
        found = reply.json()
    except ValueError:
        return ""
    code = found.get("error") if isinstance(found, dict) else None
    return f" ({clean_line(code, 80)})" if isinstance(code, str) and code else ""
