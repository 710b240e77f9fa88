"""A real MCP server on loopback that requires OAuth, with its authorization server.

    async with OAuthServer() as server:
        async with httpx2.AsyncClient(auth=...) as client:
            await client.post(server.url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

Both speak HTTP on one port. Every value that it issues begins with `canary-`. Faults are set in
`OAuthServer(...)`. `requests` has all requests.
"""

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

TOOLS = [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]


@dataclass(frozen=True)
class Asked:
    """One request as received."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """The response to one request."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class OAuthServer:
    """See the module.

    Attributes:
        expires_in: lifetime of access tokens in seconds, or what is sent in its place. None omits it.
        refresh: issue refresh tokens, rotated and valid for one use.
        scopes: scope that each method needs; without it the request gets 403 insufficient_scope.
        issuer: given in the metadata in place of the real one.
        iss: given in the answer to the browser. None omits it.
        advertise_iss: the metadata promise `iss` in answers.
        registration: offer dynamic registration.
        metadata: offer metadata of the server and of the authorization server.
        pkce: declare support for PKCE.
        mute: paths that never answer.
        broken: error status by path.
        authorize_error: answer to the browser with this error.
        client: id and secret of a client that is already registered.
        methods: token_endpoint_auth_methods_supported.
        extra: more metadata of the authorization server.
        authorization_server: the URL of another one.
        asks: reject requests without a token.
        revokes: the metadata have the revocation endpoint.
        challenge: `WWW-Authenticate` of a 401, in place of the real one.
        sse: speak HTTP+SSE, the transport of 2024-11-05.
        echoes: results of tools repeat every value that was issued, and the headers of the request.
    """

    expires_in: Any = 3600
    refresh: bool = True
    scopes: Mapping[str, str] = field(default_factory=dict)
    issuer: str = ""
    iss: str | None = "own"
    advertise_iss: bool = True
    registration: bool = True
    metadata: bool = True
    pkce: bool = True
    mute: frozenset[str] = frozenset()
    broken: Mapping[str, int] = field(default_factory=dict)
    authorize_error: str = ""
    client: tuple[str, str] = ("", "")
    methods: tuple[str, ...] = ("none",)
    extra: Mapping[str, Any] = field(default_factory=dict)
    authorization_server: str = ""
    asks: bool = True
    echoes: bool = False
    revokes: bool = False
    sse: bool = False
    challenge: str = ""

    requests: list[Asked] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.valid: dict[str, str] = {}
        self._refreshes: dict[str, str] = {}
        self._codes: dict[str, dict[str, str]] = {}
        self._clients: dict[str, str] = {}
        if self.client[0]:
            self._clients[self.client[0]] = self.client[1]
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def asked(self, path: str) -> list[Asked]:
        return [request for request in self.requests if request.path == path]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def canary(self, what: str) -> str:
        value = f"canary-{what}-{secrets.token_urlsafe(16)}"
        self.issued.append(value)
        return value

    def revoke(self) -> None:
        """Reject every access token from now on."""
        self.valid.clear()

    # ---- HTTP ------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # A cancelled task of a stream server is logged as an error (CPython 3.11).
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, target, _ = first.split(" ")
        parts = urlsplit(target)
        request = Asked(method, parts.path, dict(parse_qsl(parts.query)), headers, body)
        self.requests.append(request)
        if parts.path in self.mute:
            await asyncio.Event().wait()
        if self.sse and parts.path in ("/mcp", "/messages") and self._token_of(request) in self.valid:
            return await self._over_sse(request, writer)
        reply = self._reply(request)
        if reply.body == "endless":
            named = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
            writer.write(f"HTTP/1.1 {reply.status} Status\r\n{named}\r\n".encode())
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        body = b"" if reply.body is None else reply.body
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        said = {"content-type": "application/json", "content-length": str(len(payload)), **reply.headers}
        text = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        writer.write(f"HTTP/1.1 {reply.status} Status\r\n{text}\r\n".encode() + payload)
        await writer.drain()
        return True

    def _reply(self, request: Asked) -> Reply:
        if request.path in self.broken:
            return Reply(self.broken[request.path], {"error": "server_error"})
        match request.path:
            case "/.well-known/oauth-protected-resource/mcp" if self.metadata:
                return Reply(
                    body={
                        "resource": self.url,
                        "authorization_servers": [self.authorization_server or self.origin],
                    }
                )
            case "/.well-known/oauth-authorization-server" if self.metadata:
                return Reply(body=self._metadata())
            case "/register" if self.registration:
                return self._register(request)
            case "/authorize":
                return self._authorize(request)
            case "/token":
                return self._token(request)
            case "/revoke":
                return self._revoke(request)
            case "/mcp":
                return self._mcp(request)
        return Reply(404, {"error": "not_found"})

    # ---- the authorization server ----------------------------------------------------------------------

    def _metadata(self) -> dict[str, Any]:
        offered: dict[str, Any] = {
            "issuer": self.issuer or self.origin,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "token_endpoint_auth_methods_supported": list(self.methods),
        }
        if self.revokes:
            offered["revocation_endpoint"] = f"{self.origin}/revoke"
        if self.registration:
            offered["registration_endpoint"] = f"{self.origin}/register"
        if self.pkce:
            offered["code_challenge_methods_supported"] = ["S256"]
        if self.advertise_iss:
            offered["authorization_response_iss_parameter_supported"] = True
        return offered | dict(self.extra)

    def _register(self, request: Asked) -> Reply:
        ident = f"client-{len(self._clients)}"
        secret = "" if self.methods == ("none",) else self.canary("client-secret")
        self._clients[ident] = secret
        known = {"client_id": ident, "token_endpoint_auth_method": self.methods[0]}
        if secret:
            known["client_secret"] = secret
        return Reply(201, {**request.json, **known, "registration_access_token": self.canary("registration")})

    def _authorize(self, request: Asked) -> Reply:
        asked = dict(request.query)
        answer = {"state": asked["state"]}
        if self.authorize_error:
            answer |= {"error": self.authorize_error, "error_description": "You said no."}
        else:
            code = self.canary("code")
            self._codes[code] = asked
            answer["code"] = code
        if self.iss is not None:
            answer["iss"] = self.origin if self.iss == "own" else self.iss
        return Reply(302, headers={"location": f"{asked['redirect_uri']}?{urlencode(answer)}"})

    def _token(self, request: Asked) -> Reply:
        form = request.form
        client, secret = self._client_of(request)
        signed = "client_assertion" in form
        if not signed and self._clients.get(client) != secret and not client.startswith("https://"):
            return Reply(401, {"error": "invalid_client", "error_description": f"secret {secret!r} is wrong"})
        match form.get("grant_type"):
            case "authorization_code":
                asked = self._codes.pop(form["code"], None)
                if asked is None:
                    return Reply(400, {"error": "invalid_grant", "error_description": f"code {form['code']}"})
                digest = hashlib.sha256(form["code_verifier"].encode()).digest()
                if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
                    return Reply(400, {"error": "invalid_grant", "error_description": "verifier"})
                return self._tokens(asked.get("scope", ""))
            case "refresh_token":
                scope = self._refreshes.pop(form["refresh_token"], None)
                if scope is None:
                    return Reply(400, {"error": "invalid_grant"})
                return self._tokens(scope)
            case "client_credentials":
                return self._tokens(form.get("scope", ""))
        return Reply(400, {"error": "unsupported_grant_type"})

    def _revoke(self, request: Asked) -> Reply:
        """RFC 7009: 200 even for an unknown token."""
        client, secret = self._client_of(request)
        if self._clients.get(client) != secret:
            return Reply(401, {"error": "invalid_client"})
        self.valid.pop(request.form["token"], None)
        self._refreshes.pop(request.form["token"], None)
        return Reply()

    @staticmethod
    def _client_of(request: Asked) -> tuple[str, str]:
        form = request.form
        client, secret = form.get("client_id", ""), form.get("client_secret", "")
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            name, _, password = base64.b64decode(credentials).decode().partition(":")
            client, secret = unquote(name), unquote(password)
        return client, secret

    def _tokens(self, scope: str) -> Reply:
        access = self.canary("access")
        self.valid[access] = scope
        reply: dict[str, Any] = {"access_token": access, "token_type": "Bearer", "scope": scope}
        if self.expires_in is not None:
            reply["expires_in"] = self.expires_in
        if self.refresh:
            renewing = reply["refresh_token"] = self.canary("refresh")
            self._refreshes[renewing] = scope
        return Reply(body=reply, headers={"set-cookie": f"session={self.canary('cookie')}"})

    async def _over_sse(self, request: Asked, writer: asyncio.StreamWriter) -> bool:
        if request.method == "GET":
            self._stream = writer
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            writer.write(b"event: endpoint\ndata: /messages\n\n")
            await writer.drain()
            await asyncio.Event().wait()
        asked = request.json
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        if "id" in asked:
            answer = {"jsonrpc": "2.0", "id": asked["id"], **self._answer(asked["method"], asked)}
            self._stream.write(b"event: message\ndata: " + json.dumps(answer).encode() + b"\n\n")
            await self._stream.drain()
        return True

    # ---- the MCP server --------------------------------------------------------------------------------

    @staticmethod
    def _token_of(request: Asked) -> str:
        return request.headers.get("authorization", "").removeprefix("Bearer ")

    def _mcp(self, request: Asked) -> Reply:
        token = self._token_of(request)
        where = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        if self.asks and token not in self.valid:
            said = self.challenge or (f"Bearer {where}" if self.metadata else "Bearer")
            return Reply(401, {"error": "invalid_token"}, {"www-authenticate": said})
        if request.method != "POST":
            return Reply(405)
        asked = request.json
        method = asked.get("method", "")
        needed = self.scopes.get(method, "")
        if needed and needed not in self.valid.get(token, "").split():
            said = f'Bearer error="insufficient_scope", scope="{needed}", {where}'
            return Reply(403, {"error": "insufficient_scope"}, {"www-authenticate": said})
        if "id" not in asked:
            return Reply(202)
        more = {}
        if self.echoes and method == "initialize":
            more = {
                "mcp-session-id": self.canary("session"),
                "set-cookie": f"sid={self.canary('cookie')}",
            }
        answer = self._answer(method, asked)
        if self.echoes and method == "tools/call":
            text = json.dumps(
                [*self.issued, dict(request.headers), [one.body.decode() for one in self.requests]]
            )
            answer = {"result": {"content": [{"type": "text", "text": text}]}}
        return Reply(body={"jsonrpc": "2.0", "id": asked["id"], **answer}, headers=more)

    def _answer(self, method: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                version = asked["params"]["protocolVersion"]
                offers = {"capabilities": {"tools": {}}, "serverInfo": {"name": "safe", "version": "1"}}
                return {"result": {"protocolVersion": version, **offers}}
            case "tools/list":
                return {"result": {"tools": TOOLS}}
            case "tools/call":
                return {"result": {"content": [{"type": "text", "text": "3"}]}}
            case "ping":
                return {"result": {}}
        return {"error": {"code": -32601, "message": "Method not found"}}


def escaped(value: str) -> str:
    """Return a value in its URL encoding."""
    return quote(value, safe="")
