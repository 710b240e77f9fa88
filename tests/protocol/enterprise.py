"""A real identity provider and MCP servers that accept its grants, on loopback (SEP-990).

    async with IdentityProvider() as idp, EnterpriseServer(trusts=idp) as server:
        ...

Both are OAuth servers, with their faults. Every token ends in a signature that begins with `canary-`.
"""

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.protocol.oauth_server import Asked, OAuthServer, Reply

ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AT_IDP, AT_SERVER = ("mcptui", "canary-idp-secret"), ("at-server", "canary-server-secret")


def _part(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@dataclass
class IdentityProvider(OAuthServer):
    """Signs users in, and exchanges their ID tokens for grants.

    Attributes:
        lifetime: seconds that ID tokens are valid.
        refuses: the error of every token exchange.
        allows: the scopes that grants can have; None for all.
        claims: other claims of ID tokens.
        exchanged: other members of the reply to an exchange.
    """

    client: tuple[str, str] = AT_IDP
    methods: tuple[str, ...] = ("client_secret_post",)
    registration: bool = False
    pkce: bool = False
    lifetime: float = 3600
    refuses: str = ""
    allows: frozenset[str] | None = None
    claims: Mapping[str, Any] = field(default_factory=dict)
    exchanged: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.id_tokens: set[str] = set()
        self.grants: dict[str, dict[str, str]] = {}
        self._nonce = ""

    def _reply(self, request: Asked) -> Reply:
        if request.path == "/.well-known/openid-configuration" and request.path not in self.broken:
            return Reply(body=self._metadata())
        if request.path.startswith("/.well-known/"):
            return Reply(404)
        return super()._reply(request)

    def _authorize(self, request: Asked) -> Reply:
        self._nonce = request.query["nonce"]
        return super()._authorize(request)

    def jwt(self, typ: str, **claims: Any) -> str:
        found = f"{_part({'typ': typ})}.{_part(claims)}.{self.canary(typ)}"
        self.issued.append(found)
        return found

    def _tokens(self, scope: str) -> Reply:
        reply = super()._tokens(scope)
        now = time.time()
        claims = {"iss": self.origin, "aud": self.client[0], "sub": "me", "exp": now + self.lifetime}
        token = self.jwt("JWT", **(claims | {"nonce": self._nonce} | dict(self.claims)))
        self.id_tokens.add(token)
        reply.body["id_token"] = token
        return reply

    def _token(self, request: Asked) -> Reply:
        form = request.form
        if form.get("grant_type") != EXCHANGE:
            return super()._token(request)
        if self._client_of(request) != self.client:
            return Reply(401, {"error": "invalid_client"})
        if self.refuses:
            said = f"not for {form['resource']}, {form['subject_token']}"
            return Reply(400, {"error": self.refuses, "error_description": said})
        if form["subject_token"] not in self.id_tokens:
            return Reply(400, {"error": "invalid_grant"})
        scopes = form.get("scope", "").split()
        granted = [one for one in scopes if self.allows is None or one in self.allows]
        grant = self.jwt("oauth-id-jag+jwt", aud=form["audience"], resource=form["resource"])
        self.grants[grant] = {**form, "granted": " ".join(granted)}
        reply = {"access_token": grant, "issued_token_type": ID_JAG, "token_type": "N_A", "expires_in": 300}
        if granted != scopes:
            reply["scope"] = " ".join(granted)
        return Reply(body=reply | dict(self.exchanged))

    def forget_tokens(self) -> None:
        """Accept no ID token that was issued before."""
        self.id_tokens.clear()


@dataclass
class EnterpriseServer(OAuthServer):
    """An MCP server with its authorization server, which accepts grants of an identity provider once each.

    Attributes:
        trusts: the identity provider.
        rejects: the error for every grant.
        cuts: scopes that are never granted.
    """

    client: tuple[str, str] = AT_SERVER
    methods: tuple[str, ...] = ("client_secret_basic",)
    registration: bool = False
    refresh: bool = False
    trusts: IdentityProvider | None = None
    rejects: str = ""
    cuts: frozenset[str] = frozenset()
    issued_as: Mapping[str, Any] = field(default_factory=dict)

    def _token(self, request: Asked) -> Reply:
        form = request.form
        if form.get("grant_type") != BEARER:
            return super()._token(request)
        client = self._client_of(request)
        is_signed = "client_assertion" in form
        if client != self.client and not (is_signed or client[0].startswith("https://")):
            return Reply(401, {"error": "invalid_client"})
        assert self.trusts is not None
        grant = self.trusts.grants.pop(form["assertion"], None)
        if grant is None or (grant["audience"], grant["resource"]) != (self.origin, self.url):
            return Reply(400, {"error": "invalid_grant"})
        if self.rejects:
            return Reply(400, {"error": self.rejects, "error_description": f"bad {form['assertion']}"})
        scopes = [one for one in grant["granted"].split() if one not in self.cuts]
        reply = self._tokens(" ".join(scopes))
        reply.body |= dict(self.issued_as)
        return reply
