"""The SDK's OAuth providers, set up for one server, and their state from and to the token store.

Imports the SDK's OAuth code: load it only when a server needs it, in a thread. It does not (mcp
2.3): use the expiry of stored tokens, refresh at the right endpoint after a restart, send a secret without a
named method, or request configured scopes. JWT libraries are loaded only for a private key.
"""

import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    union_scopes,
    validate_authorization_response_iss,
)
from mcp.client.auth.utils import issuers_match as issuers_match
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl, BaseModel, ValidationError

from tui.core.language.translate import message
from tui.core.library_imports import load_credentials as load_credentials
from tui.core.secrets.oauth_values import Callback, lifetime, with_lifetime
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.servers import OAuthSpec, ServerSpec
from tui.core.text import clean_line
from tui.host.sign_in.authorization_server import CLIENT_ERRORS, SignInFailed

CLIENT_NAME = "mcptui"
OFFLINE = "offline_access"
Send = Callable[[httpx2.Request], Awaitable[httpx2.Response]]
_Model = TypeVar("_Model", bound=BaseModel)
_METHODS = ("client_secret_basic", "client_secret_post", "none")


class SignInStorage:
    """The storage of the SDK's provider: one sign-in, kept here and passed to `save`."""

    def __init__(self, stored: StoredSignIn, save: Callable[[StoredSignIn], Any]) -> None:
        self.stored = stored
        self.context: Any = None
        self._save = save

    async def get_tokens(self) -> OAuthToken | None:
        return _sound(OAuthToken, self.stored.tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        seconds = lifetime(tokens.expires_in)
        expires = None if seconds is None else time.time() + seconds
        await self._keep(tokens=with_lifetime(_plain(tokens)), expires_at=expires)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _sound(OAuthClientInformationFull, self.stored.client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        # Tokens belong to the registration that they were issued to.
        await self._keep(client=_plain(client_info), tokens={}, expires_at=None)

    async def drop_tokens(self) -> None:
        await self._keep(tokens={}, expires_at=None)

    async def drop_client(self) -> None:
        await self._keep(client={}, tokens={}, expires_at=None)

    async def _keep(self, **changes: Any) -> None:
        metadata, resource = self.context.oauth_metadata, self.context.protected_resource_metadata
        if metadata is not None:
            changes |= {"metadata": _plain(metadata), "issuer": str(metadata.issuer)}
        if resource is not None:
            changes["resource"] = _plain(resource)
        self.stored = replace(self.stored, **changes)
        self.stored = await self._save(self.stored)


class UserProvider(OAuthClientProvider):
    """Signs the user in with a browser.

    Attributes:
        scopes: the configured scopes, requested instead of those that the server suggests.
        stepping_up: more scopes are being requested than were granted before.
        requires_pkce: whether the issuer must announce PKCE, which is used in any case.
    """

    scopes = ""
    stepping_up = False
    requires_pkce = True

    async def _perform_authorization(self) -> httpx2.Request:
        _choose_method(self.context)
        if self.requires_pkce:
            _require_pkce(self.context.oauth_metadata)
        metadata = self.context.client_metadata
        if self.scopes:
            suggested = (metadata.scope or "").split()
            more = metadata.scope if self.stepping_up else OFFLINE if OFFLINE in suggested else None
            metadata.scope = union_scopes(self.scopes, more)
        return await super()._perform_authorization()


def user_provider(
    spec: ServerSpec,
    storage: SignInStorage,
    *,
    redirect_address: str,
    metadata_address: str,
    show: Callable[[str], Any] | None,
    answered: Callable[[], Awaitable[Callback]] | None,
    stepping_up: bool = False,
) -> UserProvider:
    """Return a provider that passes the address to open to `show`, and gets the answer from `answered`.

    `metadata_address` is that of a client metadata document, or "".
    """
    oauth = spec.oauth
    scopes = " ".join(oauth.scopes)

    async def code() -> AuthorizationCodeResult:
        assert answered is not None
        return _code_of(await answered(), provider.context.oauth_metadata)

    provider = UserProvider(
        spec.url or "",
        OAuthClientMetadata(
            client_name=CLIENT_NAME,
            redirect_uris=[AnyUrl(redirect_address)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=scopes or None,
        ),
        storage,
        show and (lambda address: show(_one_query(address, provider.context.oauth_metadata))),
        answered and code,
        metadata_address or None,
    )
    provider.scopes, provider.stepping_up = scopes, stepping_up
    _restore(provider, storage)
    return provider


def _code_of(found: Callback, metadata: OAuthMetadata | None) -> AuthorizationCodeResult:
    """Return the code of an answer. Raises SignInFailed for an error."""
    if found.error:
        # RFC 9207, 2.4: an error from another issuer does not count either.
        validate_authorization_response_iss(found.issuer, metadata)
        said = f"{found.error}: {found.description}" if found.description else found.error
        raise SignInFailed(
            message("sign-in rejected: {reason}.", reason=said.rstrip(".")),
            next_step=message("Restart the server to try again."),
            rejects_client=found.error in CLIENT_ERRORS,
        )
    return AuthorizationCodeResult(code=found.code, state=found.state, iss=found.issuer)


def registered_client(oauth: OAuthSpec, redirect_address: str, known_issuer: str) -> dict[str, Any]:
    """Return the registration of a client that the configuration names.

    It belongs to the configured issuer, or else to the first one that it was used with.
    """
    issuer = oauth.issuer or known_issuer
    return {
        "client_id": oauth.client_id,
        **({"client_secret": oauth.client_secret} if oauth.client_secret else {}),
        **({"issuer": issuer} if issuer else {}),
        "redirect_uris": [redirect_address],
    }


def credentials_provider(spec: ServerSpec, storage: SignInStorage) -> OAuthClientProvider:
    """Return a provider for the client credentials of a server: a secret, or a private key.

    They go only to the configured issuer, or else to the first one that they were used with. Call
    `load_credentials` first, in a thread.
    """
    oauth = spec.oauth
    module = load_credentials(with_jwt=bool(oauth.private_key))
    about: dict[str, Any] = {
        "scope": " ".join(oauth.scopes) or None,
        "issuer": oauth.issuer or storage.stored.issuer or None,
        "client_id": oauth.client_id,
    }
    if oauth.private_key:
        make = partial(module.PrivateKeyJWTOAuthProvider, assertion_provider=assertion_for(oauth))
    else:
        make = partial(module.ClientCredentialsOAuthProvider, client_secret=oauth.client_secret)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about an issuer that is not known yet
        provider: OAuthClientProvider = make(spec.url or "", storage, **about)
    storage.stored = replace(storage.stored, client={"client_id": oauth.client_id})
    _restore(provider, storage)
    return provider


def assertion_for(oauth: OAuthSpec) -> Callable[[str], Awaitable[str]]:
    """Return a function that signs an assertion for an issuer with the private key. Imports PyJWT."""
    keys = load_credentials(with_jwt=True).SignedJWTParameters(
        issuer=oauth.client_id,
        subject=oauth.client_id,
        signing_key=oauth.private_key,
        signing_algorithm=oauth.private_key_algorithm,
    )
    found: Callable[[str], Awaitable[str]] = keys.create_assertion_provider()
    return found


def reply_fault(sent: Mapping[str, Any], body: bytes) -> str:
    """Return why the reply to a request for a token or a registration is malformed, or "".

    Without its values: errors of the SDK quote them, and they may be tokens in a wrong place.
    """
    try:
        if "grant_type" in sent:
            OAuthToken.model_validate_json(body)
        elif "redirect_uris" in sent:
            OAuthClientInformationFull.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            return message("the body is not JSON")
        kind = message("is missing") if first["type"] == "missing" else message("is invalid")
        return f"{first['loc'][0]} {kind}" if first["loc"] else message("it is not an object")
    return ""


async def metadata_of(issuer: str, send: Send) -> dict[str, Any]:
    """Return the metadata at an issuer's own address, which may be those of another issuer; {} for none."""
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer):
        goes_on, found = await handle_auth_metadata_response(await send(create_oauth_metadata_request(url)))
        if found is not None:
            return _plain(found)
        if not goes_on:
            break
    return {}


async def resource_of(url: str, rejection: httpx2.Response, send: Send) -> tuple[str, list[str]]:
    """Return the resource identifier of a server and the scopes that its metadata suggest (RFC 9728)."""
    own, named = resource_url_from_server_url(url), extract_resource_metadata_from_www_auth(rejection)
    for address in build_protected_resource_metadata_discovery_urls(named, url):
        found = await handle_protected_resource_response(await send(create_oauth_metadata_request(address)))
        if found is not None and check_resource_allowed(own, str(found.resource)):
            return str(found.resource), found.scopes_supported or []
    return own, []


def _restore(provider: OAuthClientProvider, storage: SignInStorage) -> None:
    """Copy what an earlier provider has learned to a new one."""
    context, stored = provider.context, storage.stored
    storage.context = context
    if tokens := _sound(OAuthToken, stored.tokens):
        context.current_tokens = tokens
        context.token_expiry_time = stored.expires_at
    context.client_info = _sound(OAuthClientInformationFull, stored.client) or context.client_info
    context.oauth_metadata = _sound(OAuthMetadata, stored.metadata) or context.oauth_metadata
    if found := _sound(ProtectedResourceMetadata, stored.resource):
        context.protected_resource_metadata = found
        context.auth_server_url = str(found.authorization_servers[0])


def _sound(kind: type[_Model], table: Mapping[str, Any]) -> _Model | None:
    """Return a part of a stored sign-in; None if there is none, or the file is damaged."""
    try:
        return kind.model_validate(dict(table)) if table else None
    except ValidationError:
        return None


def _choose_method(context: Any) -> None:
    """Name the method by which a client secret is sent, if the registration does not."""
    info = context.client_info
    if info is None or not info.client_secret or info.token_endpoint_auth_method:
        return
    metadata = context.oauth_metadata
    supported = metadata.token_endpoint_auth_methods_supported if metadata else None
    # RFC 8414, 2: without the list it is client_secret_basic.
    known = [method for method in _METHODS if method in (supported or ["client_secret_basic"])]
    info.token_endpoint_auth_method = known[0] if known else "client_secret_basic"


def _one_query(address: str, metadata: OAuthMetadata | None) -> str:
    """Return an authorization URL whose parameters follow those of its endpoint (RFC 6749, 3.1).

    The SDK adds them with a second question mark.
    """
    endpoint = str(metadata.authorization_endpoint) if metadata is not None else ""
    if "?" not in endpoint or not address.startswith(f"{endpoint}?"):
        return address
    separator = "" if endpoint.endswith(("?", "&")) else "&"
    return f"{endpoint}{separator}{address[len(endpoint) + 1 :]}"


def _require_pkce(metadata: OAuthMetadata | None) -> None:
    """2025-11-25 basic/authorization: clients must reject an issuer whose metadata does not announce PKCE."""
    if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise SignInFailed(
            (
                message(
                    "the authorization server {host} does not support PKCE (S256).",
                    host=clean_line(metadata.issuer.host or "", 80),
                )
            ),
            next_step=message("MCP requires it. Contact the server's operator."),
        )


def _plain(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
