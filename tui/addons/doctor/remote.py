"""The steps of a remote server after its first response, from the traffic: sign-in, session, close."""

import base64
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from tui.addons.doctor.network import Answer
from tui.addons.doctor.steps import Step
from tui.addons.doctor.wire import Observed, Sent
from tui.core.jsonrpc.reader import json_mapping
from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.core.text import clean_line, quoted_name
from tui.core.units import age
from tui.host.sign_in.sign_ins import state_of
from tui.host.sign_in.token_store import StoredSignIn

_SCOPE = re.compile(r'scope="?([^",]*)')
_DESCRIPTION = re.compile(r'error_description="([^"]*)"')
_ERROR = re.compile(r'\berror="?([\w.]+)')


def authorization(spec: ServerSpec) -> str:
    """Return the configured Authorization header, or ""."""
    return next((value for name, value in spec.headers.items() if name.lower() == "authorization"), "")


def sign_in_steps(
    spec: ServerSpec, wire: Observed, status: ServerStatus, stored: StoredSignIn | None
) -> Iterator[Step]:
    """Yield the steps of authorization: documents, registration, token, scopes; or that none is needed."""
    refused = [one for one in wire.sent if one.status in (401, 403)]
    last = wire.sent[-1] if wire.sent else Sent()
    header = authorization(spec)
    if not refused and not wire.sign_in and not header and stored is None:
        if wire.sent:
            yield Step("token", "none needed")
        return
    challenge = next((one.challenge for one in reversed(refused) if one.challenge), "")
    if not header and wire.sign_in:
        yield from _discovery(spec, wire)
    yield _token(spec, status, stored, challenge, rejected=last.status == 401)
    if scope := _scopes(refused, challenge, stored, status):
        yield scope


def _discovery(spec: ServerSpec, wire: Observed) -> Iterator[Step]:
    documents = [one for one in wire.sign_in if "/.well-known/" in str(one.get("url", ""))]
    told = [f"{_path(one)} {one.get('status') or one.get('failed')}" for one in documents]
    good = [one for one in documents if one.get("status") == 200]
    if documents and not good:
        seen = f"the server requires a token, and has no OAuth metadata: {', '.join(told)}"
        fix = 'if it takes a fixed token, set `headers = { Authorization = "Bearer ${TOKEN}" }`, or --header'
        yield Step.failed("well-known", seen, fix)
        return
    if documents:
        yield Step("well-known", ", ".join(told))
    for one in wire.sign_in:
        url, asked = str(one.get("url", "")), one.get("sent")
        if one.get("http") == "POST" and isinstance(asked, Mapping) and "redirect_uris" in asked:
            code = one.get("status")
            if code in (200, 201):
                yield Step("registration", f"registered at {_host(url)}")
            else:
                fix = "register a client by hand, and set client_id in its [oauth] table"
                yield Step.failed("registration", f"{_host(url)} answered HTTP {code}", fix)


def _token(
    spec: ServerSpec,
    status: ServerStatus,
    stored: StoredSignIn | None,
    challenge: str,
    *,
    rejected: bool,
) -> Step:
    said = _DESCRIPTION.search(challenge) or _ERROR.search(challenge)
    quoted = f" ({quoted_name(said[1], 120)})" if said else ""
    running = status.state is ServerState.RUNNING
    if header := authorization(spec):
        scheme, _, token = header.partition(" ")
        expires = _expiry(token)
        if expires is not None and expires < time.time():
            seen = f"the token of the Authorization header expired {age(time.time() - expires)} ago{quoted}"
            return Step.failed("token", seen, "get a new token, and set the header's variable")
        if rejected and not running:
            seen = f"the server rejects the configured Authorization header{quoted}"
            return Step.failed(
                "token", seen, "check the value and its variable, or remove the header to sign in"
            )
        taken = "accepted" if running else "sent"
        return Step("token", f"Authorization header ({clean_line(scheme, 20)}) {taken}")
    login = f"run `mcptui login {spec.url if spec.process_of else spec.name}`"
    if stored is None or not stored.tokens:
        if running:
            return Step("token", "none needed")
        return Step.failed("token", f"the server requires a sign-in{quoted}", login)
    if rejected and not running:
        state = state_of(stored)
        return Step.failed("token", f"the server rejects the stored token ({state}){quoted}", login)
    return Step("token", state_of(stored))


def _scopes(
    refused: list[Sent], challenge: str, stored: StoredSignIn | None, status: ServerStatus
) -> Step | None:
    granted = str(stored.tokens.get("scope", "")) if stored is not None else ""
    if "insufficient_scope" in challenge:
        found = _SCOPE.search(challenge)
        wanted = clean_line(found[1], 200) if found else "more scopes"
        seen = f"the token lacks a scope: {wanted} required, {granted or 'unknown'} granted"
        return Step.failed("scopes", seen, "sign in again (`mcptui login`), or get a token with that scope")
    if any(one.status == 403 for one in refused) and status.state is not ServerState.RUNNING:
        return Step.failed(
            "scopes", "HTTP 403: access is refused", "check the account's rights, and the scopes of the token"
        )
    return Step("scopes", granted) if granted else None


def _expiry(token: str) -> float | None:
    """Return when a JWT expires, in seconds since 1970; None if it does not say, or is none."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        expires = json_mapping(base64.urlsafe_b64decode(padded)).get("exp")
    except ValueError:
        return None
    return float(expires) if isinstance(expires, int | float) else None


def _path(one: Mapping[str, Any]) -> str:
    return clean_line(urlsplit(str(one.get("url", ""))).path, 80)


def _host(url: str) -> str:
    return clean_line(urlsplit(url).hostname or "", 80)


# ---- HTTP --------------------------------------------------------------------------------------------


def failed_exchange(
    wire: Observed, status: ServerStatus, answer: Answer | None, elsewhere: str
) -> tuple[str, str, str]:
    """Return the step at which a start failed, what else was seen, and what to do; or ""."""
    posts = [one for one in wire.http("POST") if one.method]
    code = status.reach.status if status.reach is not None else 0
    last = posts[-1] if posts else Sent()
    code = last.status or code
    if answer is not None and answer.is_old_sse:
        return (
            "transport",
            "GET opens the stream of HTTP+SSE, the transport of 2024-11-05",
            'set `transport = "sse"`, or --transport sse',
        )
    if any(one.session and one.status in (400, 404) for one in posts):
        return "session", _LOST_SESSION[0], _LOST_SESSION[1]
    if elsewhere and code in (400, 404, 405, 410, 200, 301, 302, 307, 308):
        return "address", f"there is an MCP server at {elsewhere}", f"use {elsewhere}"
    match code:
        case 404 | 410:
            return "address", "", "check the path. Most servers are at /mcp"
        case 405:
            return (
                "405/406",
                "",
                "this address takes no POST. Check the path, and whether a proxy allows POST",
            )
        case 406 | 415:
            fix = "the server must accept `Accept: application/json, text/event-stream`"
            return "405/406", "", fix
        case 407:
            return "proxy", "", ""
        case 301 | 302 | 303 | 307 | 308:
            return "redirect", "", ""
        case 200 | 202 if last.kind.startswith("text/html"):
            return (
                "answer",
                "a web page, perhaps of a proxy or a login",
                "open the URL in a browser, and check the proxy",
            )
        case _ if code >= 500:
            return "answer", "the server failed", "look at the server's own log"
        case 200 if "within" in status.detail or not last.status:
            return (
                "stream",
                "the response began, and no message came",
                "check the server, and proxies that buffer event streams",
            )
    return "", "", ""


_LOST_SESSION = (
    "the server lost the session that it had just opened",
    "if it has several instances, route each session to the one that opened it",
)


def session_step(wire: Observed, protocol: str) -> Step:
    """Say whether the server has a session, and keeps it."""
    if lost := next(
        (one for one in wire.sent if one.session and one.method and one.status in (400, 404)), None
    ):
        return Step.failed(
            "session", f"{_LOST_SESSION[0]}: {lost.method} got HTTP {lost.status}", _LOST_SESSION[1]
        )
    opened = next((one.opened for one in wire.sent if one.opened), "")
    if opened:
        return Step("session", f"opened by the server ({len(opened)} characters)")
    return Step(
        "session", "none: no session is used" if protocol >= "2026" else "none: the server is stateless"
    )


def close_step(wire: Observed) -> Step:
    """Say how the server took the end of the session."""
    deleted = next(iter(wire.http("DELETE")), None)
    if deleted is None:
        return Step("close", "nothing to close")
    if deleted.status in (200, 202, 204, 404, 405):
        more = ": sessions end by a timeout" if deleted.status == 405 else ""
        return Step("close", f"DELETE, HTTP {deleted.status}{more}")
    return Step.warning(
        "close", f"DELETE, HTTP {deleted.status or 'no response'}", "answer 200 or 405 to DELETE"
    )
