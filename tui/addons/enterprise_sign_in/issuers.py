"""Requests to issuers: their metadata, client authentication, and what they say when they refuse."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tui.core.http_waits import is_down
from tui.core.jsonrpc.reader import json_mapping
from tui.core.text import clean_line, text_in
from tui.host.sign_in.authorization_server import (
    CLIENT_ERRORS,
    RETRY,
    OAuthExchange,
    SignInFailed,
    authenticated,
)

OpenExchange = Callable[[str], OAuthExchange]
"""Returns what sends requests for an issuer: its address decides which others are acceptable."""

_METHODS = "token_endpoint_auth_methods_supported"
_WORDS = ("error", "error_description")


@dataclass(frozen=True, slots=True)
class Issuer:
    """An identity provider or an authorization server, with its metadata (RFC 8414).

    Attributes:
        name: what it is, in words, to begin an error with.
        client: our `client_id` there, and the `client_secret` or "".
        redact: replaces secrets in what it says.
    """

    name: str
    metadata: Mapping[str, Any]
    exchange: OAuthExchange
    client: Mapping[str, str] = field(repr=False)
    redact: Callable[[str], str]

    async def asked(
        self, fields: Mapping[str, str], proof: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send a request to the token endpoint, with the secret or a `proof`, a signed assertion.

        Raises SignInFailed, but not for a refusal.
        """
        address, methods = str(self.metadata["token_endpoint"]), self.metadata.get(_METHODS)
        return await self.sent(authenticated(address, fields, self.client, methods, proof or {}))

    async def sent(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises SignInFailed if the issuer does not work now, but not for a refusal."""
        reply = await self.exchange.send(request)
        if is_down(reply.status_code):
            raise SignInFailed(
                f"{self.name} issues no tokens now (HTTP {reply.status_code}).", next_step="Try again later."
            )
        return reply

    def refused(self, what: str, reply: httpx2.Response, next_step: str, table: str) -> SignInFailed:
        """Return the error that it refused `what`, in its words. `table` is that of our client there."""
        code, said = (clean_line(text_in(json_mapping(reply.content), name), 300) for name in _WORDS)
        words = ": ".join(filter(None, (code, said))).rstrip(".") or f"HTTP {reply.status_code}"
        if code in CLIENT_ERRORS:
            next_step = f"Check client_id and client_secret in {table}."
        return SignInFailed(f"{self.name} refused {what}: {self.redact(words)}.", next_step=next_step)

    def malformed(self, why: str) -> SignInFailed:
        """Return the error that its reply is malformed."""
        return SignInFailed(f"{self.name} sent a malformed reply: {why}.", next_step=RETRY)


async def metadata_of(issuer: str, name: str, exchange: OAuthExchange, sdk: Any) -> dict[str, Any]:
    """Return the metadata of an issuer from its own address. Raises SignInFailed."""
    status = 0

    async def send(request: httpx2.Request) -> httpx2.Response:
        nonlocal status
        reply = await exchange.send(request)
        status = reply.status_code
        return reply

    if not (found := await sdk.metadata_of(issuer, send)):
        if is_down(status):
            raise SignInFailed(
                f"{name} does not return its metadata now (HTTP {status}).", next_step="Try again later."
            )
        raise SignInFailed(
            f"{name} has no metadata at {clean_line(issuer, 200)}.", next_step="Check its `issuer`."
        )
    metadata: dict[str, Any] = found
    if not sdk.issuers_match(said := str(metadata["issuer"]), issuer):
        raise SignInFailed(
            f"{name} has metadata of another issuer, {clean_line(said, 200)}.",
            next_step=f"Check its `issuer`, which is {clean_line(issuer, 200)}.",
        )
    return metadata


def error_of(reply: httpx2.Response) -> str:
    """Return the error code of a refusal (RFC 6749, 5.2), or ""."""
    return clean_line(text_in(json_mapping(reply.content), "error"), 80)
