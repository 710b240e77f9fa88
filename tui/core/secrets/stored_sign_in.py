"""A sign-in to a server as it is stored: its tokens, its client, and which parts are secret. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from tui.core.language.translate import message, together
from tui.core.secrets.keychain import name_of
from tui.core.secrets.oauth_values import with_lifetime
from tui.core.units import bounded
from tui.core.web import header_value_fault

_SECRET_OF = {"tokens": ("access_token", "refresh_token", "id_token"), "client": ("client_secret",)}


@dataclass(frozen=True, slots=True)
class StoredSignIn:
    """A sign-in to one server at one issuer.

    Attributes:
        server: the configured name.
        url: the server's address; tokens are never used for another one.
        client: the registration (RFC 7591), with `identity_provider` and its `identity_issuer` if the tokens
            were obtained through one; tokens: the token response (RFC 6749, 5.1).
        expires_at: when the access token expires, in seconds since 1970; None if the issuer did not say.
        metadata: the issuer's own metadata (RFC 8414); resource: that of the server (RFC 9728).
        renewable: there is a refresh token.
        wanted: scopes that the server required since and that were not granted, for the next `mcptui login`.
        place: "keychain" or "file": where the secrets are.
        reason: why they are not in the keychain, or "".
    """

    server: str
    url: str
    issuer: str = ""
    client: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, Any] = field(default_factory=dict, repr=False)
    expires_at: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    resource: Mapping[str, Any] = field(default_factory=dict, repr=False)
    saved_at: float = 0.0
    renewable: bool = False
    place: str = ""
    reason: str = ""
    wanted: str = ""

    @property
    def key(self) -> str:
        """The name of its file, and of its entry in the keychain."""
        return name_of(self.server, self.url, self.issuer)

    @property
    def identity_provider(self) -> tuple[str, str]:
        """The name and issuer of the identity provider that it was obtained through; both "" without one."""
        return str(self.client.get("identity_provider", "")), str(self.client.get("identity_issuer", ""))

    @property
    def revocation_endpoint(self) -> str:
        """The address at which its tokens can be revoked (RFC 7009), or ""."""
        found = self.metadata.get("revocation_endpoint")
        return found if isinstance(found, str) else ""

    @property
    def callback_port(self) -> int:
        """The port of the redirect address that its client is registered with, or 0."""
        try:
            return urlsplit(str(self.client["redirect_uris"][0])).port or 0
        except (KeyError, IndexError, TypeError, ValueError):
            return 0

    @property
    def revocable(self) -> tuple[str, ...]:
        """The names of its tokens that could be revoked; many servers revoke the second with the first."""
        return tuple(kind for kind in ("refresh_token", "access_token") if self.tokens.get(kind))

    @property
    def is_dynamic(self) -> bool:
        """Whether the client may be registered dynamically (deprecated): its id is no metadata document."""
        return "://" not in str(self.client.get("client_id", "://"))

    def secrets(self) -> dict[str, str]:
        """Return its secret values, by names that may be shown."""
        return {
            name: str(value)
            for part, names in _SECRET_OF.items()
            for name in names
            if (value := getattr(self, part).get(name))
        }

    def with_secrets(self, secrets: Mapping[str, Any]) -> "StoredSignIn":
        """Return it with these secrets, except those that cannot be sent."""
        parts: dict[str, Any] = {
            part: _with_sendable(
                {**getattr(self, part), **{name: secrets[name] for name in names if name in secrets}}, part
            )
            for part, names in _SECRET_OF.items()
        }
        return replace(self, **parts)

    def without_secrets(self) -> "StoredSignIn":
        parts: dict[str, Any] = {
            part: {name: value for name, value in getattr(self, part).items() if name not in names}
            for part, names in _SECRET_OF.items()
        }
        return replace(self, **parts)


def checked(found: StoredSignIn) -> StoredSignIn:
    """Return a sign-in that was read, its numbers within bounds; raise TypeError if it is not one."""
    texts = (found.server, found.url, found.issuer, found.place, found.reason, found.wanted)
    tables = (found.client, found.tokens, found.metadata, found.resource)
    if not (
        all(isinstance(text, str) for text in texts) and all(isinstance(table, dict) for table in tables)
    ):
        raise TypeError("not a sign-in")
    tokens = with_lifetime(found.tokens)
    expires = bounded(found.expires_at)
    if "expires_in" in found.tokens and "expires_in" not in tokens:
        expires = None  # from a lifetime that says nothing
    return replace(
        found,
        tokens=_with_sendable(tokens, "tokens"),
        client=_with_sendable(found.client, "client"),
        expires_at=expires,
        saved_at=bounded(found.saved_at) or 0.0,
        renewable=found.renewable is True,
    )


def _with_sendable(table: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return a part without secrets that cannot be sent."""
    return {
        name: value
        for name, value in table.items()
        if name not in _SECRET_OF[part] or (isinstance(value, str) and not header_value_fault(value))
    }


@dataclass(frozen=True, slots=True)
class SignedOut:
    """A sign-out that deleted the tokens of `count` sign-ins; `revocable` of them could be revoked.

    `lasting` of them could not, because their authorization servers revoke no tokens. `problem` is why one
    did not revoke a sign-in, or "". `still_at` is the identity provider that the user is still signed in at.
    """

    count: int
    revocable: int = 0
    problem: str = ""
    lasting: int = 0
    still_at: str = ""

    @property
    def told(self) -> str:
        """A sentence about whether the tokens were revoked, after a blank; or ""."""
        if self.problem:
            text = message("Not revoked: {problem}. The tokens work until they expire.", problem=self.problem)
            return together(" ", text)
        if self.revocable and self.lasting:
            text = message(
                "Revoked: the tokens of {n}. The others work until they expire, because their authorization "
                "servers do not revoke tokens.",
                n=self.revocable,
            )
            return together(" ", text)
        return together(" ", message("Tokens revoked.")) if self.revocable else ""
