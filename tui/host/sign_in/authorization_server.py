"""Requests to authorization servers, also to revoke tokens, and why a sign-in failed, with the next step.

The SDK sends these requests and reads the replies without any bounds. Here they are checked, and bounded in
time and size. They do not pass the tap of the MCP server: each is recorded as one event, with secret values
replaced. Does not import the SDK.
"""

import asyncio
import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2

from tui.core.errors import McptuiError, ServerError, dotted, reason_of, with_stop
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import message, sentences
from tui.core.secrets.oauth_values import (
    dpop_fields,
    fields_of,
    masked_address,
    masked_fields,
    secrets_of,
    secrets_of_header,
    with_lifetime,
)
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.server_secrets import Remember, resolved_oauth
from tui.core.servers import OAuthSpec, ServerSpec
from tui.core.text import clean_line, text_in
from tui.core.web import MAX_COOKIES, address_fault, header_value_fault, host_of, joined, proxy_problem
from tui.host.frames.tap import WireTap
from tui.host.sign_in.private_networks import PrivateAddress, public_only
from tui.host.sign_in.sdk_import import load_provider

if TYPE_CHECKING:
    from mcp.client.auth.oauth2 import OAuthContext


class SignInFailed(ServerError):
    """The sign-in failed. `is_offered`: the server supports signing in.

    `rejects_client`: the authorization server does not know the client. `lasts`: the user was asked, and is
    not asked again for this connection.
    """

    lasts = False

    def __init__(
        self, message: str, *, next_step: str, is_offered: bool = True, rejects_client: bool = False
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.is_offered = is_offered
        self.rejects_client = rejects_client


def explained(error: Exception, said: str, server: str, context: "OAuthContext") -> SignInFailed:
    """Explain an error of the SDK to the user.

    `said` is the message of the error, cleaned and redacted; `context` is the SDK's state so far.
    """
    kind = type(error).__name__
    known = context.protected_resource_metadata
    if kind == "OAuthRegistrationError" and context.oauth_metadata is None:
        if known is None:
            return SignInFailed(
                message("it requires valid credentials, and offers no sign-in (no OAuth metadata)."),
                next_step=message(
                    'Set a header in [{table}], for example Authorization = "Bearer ${{TOKEN}}".',
                    table=dotted(("servers", server, "headers")),
                ),
                is_offered=False,
            )
        issuer = clean_line(str(known.authorization_servers[0]), 120)
        return SignInFailed(
            message("its authorization server {issuer} has no metadata.", issuer=issuer),
            next_step=message("Contact the server's operator."),
        )
    if kind == "OAuthRegistrationError":
        return SignInFailed(
            message("its authorization server did not register mcptui: {said}.", said=said),
            next_step=message(
                "Register a client manually and set client_id in [{table}].",
                table=dotted(("servers", server, "oauth")),
            ),
        )
    if "issuer" in said or "iss " in said:
        return SignInFailed(
            message("unexpected authorization server: {said}.", said=said),
            next_step=(
                message(
                    "No token was accepted. If the server has moved, run `mcptui logout {server}`, then "
                    "sign in.",
                    server=server,
                )
            ),
        )
    return SignInFailed(
        message("sign-in failed: {said}.", said=said or kind),
        next_step=message("Restart the server to try again."),
    )


SECONDS = 30.0
"""Time for one request, from connecting to the last byte of the reply."""

MAX_REPLY = 1024 * 1024
DISCARDED_BYTES = 64 * 1024
DISCARDED_SECONDS = 2.0
RETRY = message("Try again. If it still fails, contact the server's operator.")
CLIENT_ERRORS = frozenset({"invalid_client", "unauthorized_client"})
"""Errors for a client that the authorization server does not know (RFC 6749, 4.1.2.1 and 5.2)."""

_OF_THE_BODY = (b"content-encoding", b"content-length", b"transfer-encoding")

FaultOf = Callable[[Mapping[str, Any], bytes], str]


class OAuthExchange:
    """Sends the requests of one sign-in.

    Args:
        server_url: the address of the MCP server.
        client: sends; not tapped. The caller closes it.
        tap: reports each exchange without its secrets, as an event.
        remember: takes secrets to redact from now on, by name.
        fault_of: returns why the reply to a request with these fields is malformed, or "".
        issuer: the authorization server that the user has configured, or "": it may be in a private network.
    """

    def __init__(
        self,
        server_url: str,
        client: httpx2.AsyncClient,
        *,
        tap: WireTap,
        remember: Remember,
        fault_of: FaultOf = lambda sent, body: "",
        issuer: str = "",
    ) -> None:
        self._fault_of = fault_of
        self._server_url = server_url
        self._issuer = issuer
        self._client = client
        self._tap = tap
        self._remember = remember
        self.rejects_client = False
        """Whether the authorization server no longer knows the client."""
        self.refused = False
        """Whether a request for a token or a registration was refused, or its reply malformed."""
        self.named: dict[str, bool] = {}
        """What metadata name that is not supported yet."""

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return the reply with its whole body. Raises SignInFailed."""
        address = masked_address(str(request.url))
        host = clean_line(request.url.host, 80)
        if fault := address_fault(str(request.url), self._server_url):
            raise _not_used(address, fault)
        chosen_by = self._issuer if host_of(self._issuer) == request.url.host else self._server_url
        request.extensions = {**request.extensions, **public_only(str(request.url), chosen_by)}
        sent = await request.aread()  # that of a redirect is not in memory yet
        fields = fields_of(sent, request.headers.get("content-type", "")) if sent else {}
        self._remember(secrets_of(fields) | secrets_of_header(request.headers.get("authorization", "")))
        about: dict[str, object] = {"http": request.method, "url": address}
        if sent:
            about["sent"] = masked_fields(fields, len(sent))
        response, body = await self._answer(request, address, about)
        reply = fields_of(body, response.headers.get("content-type", ""))
        self._remember(secrets_of(reply) | _cookies(response))
        about |= {"status": response.status_code, "received": masked_fields(reply, len(body))}
        token = None if reply is None else reply.get("access_token")
        if reply is not None and token is not None:
            # The SDK would reject the token over a lifetime that is not a whole number, or fail to add it.
            body = json.dumps(with_lifetime(reply)).encode()
        status = response.status_code
        self.named |= dpop_fields(reply or {})
        if request.method == "POST" and status >= 400:
            self.refused = True
            self.rejects_client |= text_in(reply or {}, "error") in CLIENT_ERRORS
        if (
            request.method == "POST"
            and status in (200, 201)
            and (fault := self._fault_of(fields or {}, body))
        ):
            self.refused = True
            about["failed"] = f"malformed: {fault}"
            self._tap.event("sign-in", **about)
            if (fields or {}).get("grant_type") != "refresh_token":
                raise SignInFailed(
                    message(
                        "the authorization server {host} sent a malformed reply: {fault}.",
                        host=host,
                        fault=fault,
                    ),
                    next_step=RETRY,
                )
            status, body = 400, b""  # as if the token were not renewed: the user signs in again
        else:
            self._tap.event("sign-in", **about)
        if isinstance(token, str) and (fault := header_value_fault(token)):
            why = fault.partition(".")[0]
            raise SignInFailed(
                message(
                    "the token of the authorization server {host} cannot be sent: it {why}.",
                    host=host,
                    why=why,
                ),
                next_step=message("Contact the server's operator."),
            )
        if status >= 400 and body:  # the SDK quotes it, and in plain text any word may be secret
            hidden = b"the body is not a JSON object"
            body = hidden if reply is None else json.dumps(masked_fields(reply, len(body))).encode()
        # Those of the body do not apply any more: it is decoded.
        headers = [one for one in response.headers.raw if one[0].lower() not in _OF_THE_BODY]
        whole = httpx2.Response(status, headers=headers, content=body, request=request)
        whole.next_request = response.next_request
        if request.method == "POST" and status in (301, 302) and whole.next_request is not None:
            # As GET, which httpx2 makes of it, the request would lose its form. The SDK follows it, as all
            # redirects, only within the origin.
            to, kind = whole.next_request.url, request.headers.get("content-type", "")
            onward = {**whole.next_request.headers, "content-type": kind}
            whole.next_request = httpx2.Request("POST", to, headers=onward, content=sent)
        return whole

    async def _answer(
        self, request: httpx2.Request, address: str, about: dict[str, object]
    ) -> tuple[httpx2.Response, bytes]:
        """Return the reply and its body; record and explain why there is none."""
        host = clean_line(request.url.host, 80)
        try:
            return await self._bounded(request)
        except (TimeoutError, httpx2.TimeoutException):
            self._tap.event("sign-in", **about, failed=f"no response within {SECONDS:g} s")
            raise SignInFailed(
                message(
                    "the authorization server {host} did not respond within {seconds:g} s.",
                    host=host,
                    seconds=SECONDS,
                ),
                next_step=RETRY,
            ) from None
        except PrivateAddress as error:
            self._tap.event("sign-in", **about, failed=str(error))
            step: str = message(
                "If it belongs to your organization, set it as `issuer` in the server's `oauth`."
            )
            raise _not_used(address, error.fault, step) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            why = reason_of(error)
            self._tap.event("sign-in", **about, failed=why)
            through = proxy_problem(
                error, str(request.url), message("the authorization server {host}", host=host)
            )
            problem, step = through or (
                message("cannot connect to the authorization server {host}: {why}", host=host, why=why),
                RETRY,
            )
            raise SignInFailed(with_stop(problem), next_step=step) from None

    async def _bounded(self, request: httpx2.Request) -> tuple[httpx2.Response, bytes]:
        async with asyncio.timeout(SECONDS):
            # No redirects: the SDK follows redirects within the origin itself.
            response = await self._client.send(request, stream=True, auth=None, follow_redirects=False)
            try:
                if (body := await joined(response.aiter_bytes(), MAX_REPLY)) is None:
                    raise SignInFailed(
                        message(
                            "{host} returned more than {limit} KiB.",
                            host=clean_line(request.url.host, 80),
                            limit=MAX_REPLY // 1024,
                        ),
                        next_step=RETRY,
                    )
            finally:
                await response.aclose()
        return response, body


_WRONG_METADATA = message("The server's operator must correct its OAuth metadata.")


def _not_used(address: str, fault: str, step: str = _WRONG_METADATA) -> SignInFailed:
    shown = clean_line(address, 200)
    return SignInFailed(
        message("its sign-in URL {fault}: {shown}.", fault=fault, shown=shown),
        next_step=sentences(message("It was not used."), step),
    )


async def discard(response: httpx2.Response) -> None:
    """Read a body that nobody needs, so that its connection can be used again, and close the response.

    Only up to a limit, because httpx2 would read an endless one.
    """
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    size = 0
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DISCARDED_SECONDS):
            async for block in stream:
                size += len(block)
                if size > DISCARDED_BYTES:
                    break
    with suppress(httpx2.HTTPError):
        await stream.aclose()
    response.stream = httpx2.ByteStream(b"")


def _cookies(response: httpx2.Response) -> dict[str, str]:
    """Return the values of the cookies that a reply sets, of those that the client keeps."""
    headers = response.headers.get_list("set-cookie")[-MAX_COOKIES:]
    said = [header.partition(";")[0].partition("=") for header in headers]
    return {f"cookie.{name.strip()}": value.strip() for name, _, value in said if value}


_SCOPE = re.compile(r'(?<![\w-])scope=(?:"([^"]*)"|([^\s,]+))', re.IGNORECASE)
_SCOPE_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_METADATA = re.compile(r'(?<![\w-])resource_metadata="[^"]*"')


def scopes_of(response: httpx2.Response) -> list[str]:
    """Return the scopes that a rejection asks for (RFC 6750, 3)."""
    found = _SCOPE.search(response.headers.get("www-authenticate", ""))
    listed = (found[1] if found[1] is not None else found[2]).split() if found else []
    return [scope for scope in listed if _SCOPE_TOKEN.fullmatch(scope)]


def scope_refusal(scopes: str, challenge: httpx2.Response | None) -> httpx2.Response:
    """Return a rejection that asks for these scopes, with the metadata address of a real one."""
    said = challenge.headers.get("www-authenticate", "") if challenge is not None else ""
    where = _METADATA.search(said)
    more = f", {where[0]}" if where else ""
    header = f'Bearer error="insufficient_scope", scope="{scopes}"{more}'
    return httpx2.Response(403, headers={"www-authenticate": header})


REVOKING_SECONDS = 10.0
"""Timeout for all tokens of one server; the user waits for it."""

_BASIC, _POST = "client_secret_basic", "client_secret_post"
_JWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


async def revoke(
    sign_ins: Sequence[StoredSignIn],
    client: httpx2.AsyncClient,
    spec: ServerSpec | None,
    tap: WireTap,
    remember: Remember,
) -> str:
    """Revoke the tokens of sign-ins within `REVOKING_SECONDS`; return why one was not revoked, or "".

    Each token has the same share of the time. Sign-ins of the client that `spec` configures use its secret or
    private key, which are not stored with them. `client`, `tap` and `remember` are those of an exchange.
    """
    for one in sign_ins:
        remember(one.secrets())
    tokens = [(one, kind) for one in sign_ins for kind in one.revocable]
    problem = ""
    for sign_in, kind in tokens:
        share = REVOKING_SECONDS / len(tokens)
        try:
            async with asyncio.timeout(share):
                exchange = OAuthExchange(sign_in.url, client, tap=tap, remember=remember)
                found = await _revoked(sign_in, kind, exchange, spec, remember)
        except TimeoutError:
            found = message("the authorization server did not respond within {share:.3g} s", share=share)
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
        proof = await proof_for(oauth, sign_in.issuer)
        reply = await exchange.send(_request(sign_in, kind, proof))
    except McptuiError as error:
        where = f"{error.where}: " if error.where else ""
        return f"{where}{error.message}".rstrip(".")
    if reply.status_code == 200:
        return ""
    code = clean_line(text_in(json_mapping(reply.content), "error"), 80)
    said = message(
        "{host} returned HTTP {status}",
        host=clean_line(reply.request.url.host, 80),
        status=reply.status_code,
    )
    return f"{said} ({code})" if code else said


def is_configured_client(sign_in: StoredSignIn, spec: ServerSpec) -> bool:
    """Return whether a sign-in was made with the client, address and issuer that `spec` configures."""
    oauth = spec.oauth
    if sign_in.url != re.sub("^ws", "http", spec.url or ""):
        return False
    issuer = sign_in.issuer.rstrip("/")
    same_issuer = bool(issuer) and oauth.issuer.rstrip("/") in ("", issuer)
    return same_issuer and oauth.client_id != "" and oauth.client_id == sign_in.client.get("client_id")


def _request(sign_in: StoredSignIn, kind: str, proof: Mapping[str, str]) -> httpx2.Request:
    """Return a request with the same client authentication as the token request (RFC 7009, 2.1)."""
    offered = sign_in.metadata.get("revocation_endpoint_auth_methods_supported")
    offered = offered or sign_in.metadata.get("token_endpoint_auth_methods_supported")
    fields = {"token": str(sign_in.tokens[kind]), "token_type_hint": kind}
    return authenticated(sign_in.revocation_endpoint, fields, sign_in.client, offered, proof)


def authenticated(
    address: str,
    fields: Mapping[str, str],
    client: Mapping[str, Any],
    methods: object,
    proof: Mapping[str, str],
) -> httpx2.Request:
    """Return a request with the authentication of a client (RFC 6749, 2.3.1).

    `methods` are those that the authorization server supports. `proof` is a signed assertion, or empty.
    """
    known, secret = str(client.get("client_id", "")), str(client.get("client_secret") or "")
    headers = {}
    if proof:
        fields = {**fields, "client_id": known, **proof}
    elif secret and _method(client, methods) == _BASIC:
        pair = f"{quote(known, safe='')}:{quote(secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        fields = {**fields, "client_id": known, **({"client_secret": secret} if secret else {})}
    return httpx2.Request("POST", address, data=dict(fields), headers=headers)


async def proof_for(oauth: OAuthSpec, issuer: str) -> dict[str, str]:
    """Return the signed assertion of a client with a private key, valid for one request (RFC 7523), or {}."""
    if not oauth.private_key:
        return {}
    module = await asyncio.to_thread(load_provider)
    await asyncio.to_thread(module.load_credentials, with_jwt=True)
    return {"client_assertion": await module.assertion_for(oauth)(issuer), "client_assertion_type": _JWT}


def _method(client: Mapping[str, Any], offered: object) -> str:
    """Return how the client secret is sent; RFC 8414, 2: in a header, unless something else is named."""
    if (named := client.get("token_endpoint_auth_method")) in (_BASIC, _POST):
        return str(named)
    return _POST if isinstance(offered, list) and _POST in offered and _BASIC not in offered else _BASIC
