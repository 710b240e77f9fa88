"""The steps of a remote server after its first response, from the traffic: sign-in, session, close."""

import re
import shlex
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tui.addons.doctor.network import ANSWER_GET, PROXY_CREDENTIALS, Answer, Network
from tui.addons.doctor.steps import Step
from tui.addons.doctor.wire import Observed, Sent
from tui.core.errors import reason_of
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import N_, message, n_message
from tui.core.secrets.oauth_values import claims_of, unsupported
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason, Transport
from tui.core.text import clean_line, mapping, quoted_name
from tui.core.units import age
from tui.host.sign_in.sign_ins import NOT_SIGNED_IN, state_of

STREAM_SECONDS = 3.0
_SCOPE = re.compile(r'scope="?([^",]*)')
_DESCRIPTION = re.compile(r'error_description="([^"]*)"')
_ERROR = re.compile(r'\berror="?([\w.]+)')


def authorization(spec: ServerSpec) -> str:
    """Return the configured Authorization header, or ""."""
    return next((value for name, value in spec.headers.items() if name.lower() == "authorization"), "")


def sign_in_steps(
    spec: ServerSpec, wire: Observed, status: ServerStatus, stored: StoredSignIn | None, login: str
) -> Iterator[Step]:
    """Yield the steps of authorization: documents, registration, token, scopes; or that none is needed.

    `login` is what `mcptui login` takes.
    """
    refused = [one for one in wire.sent if one.status in (401, 403)]
    challenge = next((one.challenge for one in reversed(refused) if one.challenge), "")
    is_401 = bool(wire.sign_in) or any(one.status == 401 for one in refused)
    header = authorization(spec)
    if is_401 and not header:
        yield from _discovery(spec, wire)
    if is_401 or header or stored is not None:
        yield _token(spec, status, stored, challenge, login, rejected=is_401)
    elif wire.answers:
        yield Step("token", message("none needed"))
    granted = str(stored.tokens.get("scope", "")) if stored is not None else ""
    if "insufficient_scope" in challenge:
        found = _SCOPE.search(challenge)
        wanted = clean_line(found[1], 200) if found else message("more scopes")
        granted = granted or message("unknown")
        seen = message(
            "the token lacks a scope: {wanted} required, {granted} granted", wanted=wanted, granted=granted
        )
        yield Step.failed(
            "scopes", seen, message("sign in again (`mcptui login`), or get a token with that scope")
        )
    elif granted:
        yield Step("scopes", granted)


def _discovery(spec: ServerSpec, wire: Observed) -> Iterator[Step]:
    documents = [one for one in wire.sign_in if "/.well-known/" in str(one.get("url", ""))]
    told = [f"{_path(one)} {one.get('status') or one.get('failed')}" for one in documents]
    good = [one for one in documents if one.get("status") == 200]
    if documents and not good:
        seen = message(
            "the server requires a token, and has no OAuth metadata: {answers}", answers=", ".join(told)
        )
        fix = message(
            'if it takes a fixed token, set `headers = { Authorization = "Bearer ${TOKEN}" }`, or --header'
        )
        yield Step.failed("well-known", seen, fix)
        return
    if documents:
        yield Step("well-known", ", ".join(told))
    named: dict[str, Any] = {}
    provider = spec.oauth.identity_provider
    for one in good:
        if provider is None or urlsplit(str(one.get("url"))).netloc != urlsplit(provider.issuer).netloc:
            named |= mapping(one.get("received"))
    if sentence := unsupported(named):
        yield Step("sign-in", sentence.removesuffix("."))
    for one in wire.sign_in:
        url, asked = str(one.get("url", "")), one.get("sent")
        if one.get("http") == "POST" and isinstance(asked, Mapping) and "redirect_uris" in asked:
            code = one.get("status")
            if code in (200, 201):
                yield Step("registration", message("registered at {host}", host=_host(url)))
            else:
                fix = message("register a client by hand, and set client_id in its [oauth] table")
                seen = message("{host} answered HTTP {status}", host=_host(url), status=code)
                yield Step.failed("registration", seen, fix)


def _token(
    spec: ServerSpec,
    status: ServerStatus,
    stored: StoredSignIn | None,
    challenge: str,
    login: str,
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
            seen = message(
                "the token of the Authorization header expired {time} ago{quoted}",
                time=age(time.time() - expires),
                quoted=quoted,
            )
            return Step.failed("token", seen, message("get a new token, and set the header's variable"))
        if rejected and not running:
            seen = message("the server rejects the configured Authorization header{quoted}", quoted=quoted)
            return Step.failed(
                "token", seen, message("check its value and variable, or remove the header to sign in")
            )
        words = N_("Authorization header ({kind}) sent")
        if running:
            words = N_("Authorization header ({kind}) accepted")
        return Step("token", message(words, kind=clean_line(scheme, 20)))
    state = state_of(stored) if stored is not None else NOT_SIGNED_IN
    if running or not rejected:
        return Step("token", state)
    if "does not match expected" in status.detail:
        fix = message(
            "the server's operator must correct `resource` in its metadata, or use the URL that it names"
        )
        return Step.failed("token", status.detail, fix)
    if status.reason is not StopReason.NEEDS_SIGN_IN:  # it failed before the user was to be asked
        return Step.failed("token", status.detail, status.next_step)
    has_token = stored is not None and bool(stored.tokens) and "expired" not in state
    what = N_("the server requires a sign-in: {state}{quoted}")
    if has_token:
        what = N_("the server rejects the stored token: {state}{quoted}")
    seen = message(what, state=state, quoted=quoted)
    return Step.failed("token", seen, message("run `mcptui login {server}`", server=shlex.quote(login)))


def _expiry(token: str) -> float | None:
    """Return when a JWT expires, in seconds since 1970; None if it does not say, or is none."""
    expires = claims_of(token).get("exp")
    return float(expires) if isinstance(expires, int | float) else None


def _path(one: Mapping[str, Any]) -> str:
    return clean_line(urlsplit(str(one.get("url", ""))).path, 80)


def _host(url: str) -> str:
    return clean_line(urlsplit(url).hostname or "", 80)


# ---- HTTP --------------------------------------------------------------------------------------------


def failed_exchange(wire: Observed, status: ServerStatus, answer: Answer | None) -> tuple[str, str, str]:
    """Return the step at which a start failed, what else was seen, and what to do; or ""."""
    posts = [one for one in wire.http("POST") if one.method]
    last = posts[-1] if posts else Sent()
    code = last.status or (status.reach.status if status.reach is not None else 0)
    if answer is not None and answer.is_old_sse:
        seen = message("GET opens the stream of HTTP+SSE, the transport of 2024-11-05")
        return "transport", seen, message('set `transport = "sse"`, or --transport sse')
    if any(one.session and one.status in (400, 404) for one in posts):
        return "session", *_LOST_SESSION
    if code == 200 and last.kind.startswith("text/html"):
        fix = message("open the URL in a browser, and check the proxy")
        return "answer", message("a web page, perhaps of a proxy or a login"), fix
    if code == 200 and "json" not in last.kind and '"jsonrpc"' in status.detail:
        kind = clean_line(last.kind, 60) or message("no type")
        return (
            "answer",
            message("a JSON-RPC message sent as {kind}", kind=kind),
            message("send it with `Content-Type: application/json`"),
        )
    if code == 200 and (_LATE in status.detail or not last.status):
        fix = message("check the server, and proxies that buffer event streams")
        return "stream", message("the response began, and no message came"), fix
    for number, words, advice in _BY_WORDS:
        if code == number and re.search(words, status.detail):
            return advice
    if code in (502, 503, 504):
        return "answer", "", message("a gateway answers for the server: check that the server behind it runs")
    if code >= 500:
        return "answer", message("the server failed"), message("read the server's own log")
    return _BY_STATUS.get(code, ("", "", ""))


_LATE = " within "
_HOST_HEADER = r"(?i:\bhosts?\b)"
_OTHER_HOST = (
    "answer",
    "",
    message("the server allows only some Host headers: add this one to its allowed hosts"),
)
_BY_WORDS = (
    # nginx and Go, which answer plain HTTP on such a port.
    (
        400,
        "(?i:plain HTTP request was sent to HTTPS|HTTP request to an HTTPS)",
        ("tls", message("the port expects TLS"), message("try https://")),
    ),
    (
        400,
        "(?i:session)",
        ("session", "", message("the server must accept initialize without Mcp-Session-Id")),
    ),
    (403, _HOST_HEADER, _OTHER_HOST),
    (421, _HOST_HEADER, _OTHER_HOST),
    (
        0,
        " lost: ",
        ("answer", "", message("check that the port is that of the server, and read the server's log")),
    ),
    (
        0,
        _LATE,
        (
            "answer",
            "",
            message("the server takes connections and does not respond: read its log, restart it"),
        ),
    ),
)
_ACCEPT = message("the server must accept `Accept: application/json, text/event-stream`")
_BY_STATUS = {
    **dict.fromkeys((301, 302, 303, 307, 308), ("redirect", "", "")),
    403: (
        "answer",
        "",
        message("check the account's rights, a missing header, and the network (VPN, allow-list)"),
    ),
    **dict.fromkeys((404, 410), ("address", "", message("check the path. Most servers are at /mcp"))),
    405: (
        "405/406",
        "",
        message("this address takes no POST. Check the path, and whether a proxy allows POST"),
    ),
    **dict.fromkeys((406, 415), ("405/406", "", _ACCEPT)),
    407: ("proxy", message("the proxy requires credentials"), PROXY_CREDENTIALS),
    429: ("answer", "", ""),
}
_LOST_SESSION = (
    message("the server lost the session that it had just opened"),
    message("if it has several instances, route each session to the one that opened it"),
)


def session_step(wire: Observed, status: ServerStatus) -> Step:
    """Say whether the server has a session, and keeps it."""
    if status.reach is not None and status.reach.kind != "HTTP":
        return Step("session", message("that of its connection ({kind})", kind=status.reach.kind))
    if lost := next(
        (one for one in wire.sent if one.session and one.method and one.status in (400, 404)), None
    ):
        seen = message(
            "{problem}: {method} got HTTP {status}",
            problem=_LOST_SESSION[0],
            method=lost.method,
            status=lost.status,
        )
        return Step.failed("session", seen, _LOST_SESSION[1])
    opened = next((one.opened for one in wire.sent if one.opened), "")
    if opened:
        chars = len(opened)
        seen = n_message(
            "opened by the server ({n} character)", "opened by the server ({n} characters)", chars
        )
        return Step("session", seen)
    return Step(
        "session",
        message("none: no session is used")
        if is_modern(status.protocol)
        else message("none: the server is stateless"),
    )


async def stream_steps(
    network: Network, spec: ServerSpec, wire: Observed, status: ServerStatus, stored: StoredSignIn | None
) -> list[Step]:
    """Open the stream for messages of the server once more, to see whether it opens; before 2026-07-28."""
    if spec.transport is not Transport.HTTP or is_modern(status.protocol) or status.reach is None:
        return []
    if status.reach.kind != "HTTP":
        return [Step("stream", message("{kind}, open", kind=status.reach.kind))]
    headers = {"mcp-protocol-version": status.protocol}
    if session := next((one.opened for one in wire.sent if one.opened), ""):
        headers["mcp-session-id"] = session
    if stored is not None and (token := stored.tokens.get("access_token")):
        headers["authorization"] = f"Bearer {token}"
    try:
        found = await network.ask(spec.url or "", headers, seconds=STREAM_SECONDS)
    except TimeoutError:
        seen = message(
            "GET has no response within {seconds:g} s: the stream never opens", seconds=STREAM_SECONDS
        )
        return [Step.warning("stream", seen, ANSWER_GET)]
    except (httpx2.HTTPError, OSError) as error:
        return [Step.warning("stream", f"GET: {reason_of(error)}", ANSWER_GET)]
    if found.status == 405:
        return [Step("stream", message("none (405): the server sends nothing on its own"))]
    # 409: the one that the session has opened already.
    if found.status == 409 or (found.status == 200 and found.kind == "text/event-stream"):
        return [Step("stream", message("opens"))]
    return [
        Step.warning(
            "stream",
            message("GET has {answer}", answer=f"HTTP {found.status} {found.kind}".rstrip()),
            ANSWER_GET,
        )
    ]


def close_step(wire: Observed) -> Step:
    """Say how the server took the end of the session."""
    deleted = next(iter(wire.http("DELETE")), None)
    if deleted is None:
        return Step("close", message("nothing to close"))
    if deleted.status in (200, 202, 204, 404, 405):
        seen = f"DELETE, HTTP {deleted.status}"
        if deleted.status == 405:
            seen = message("{answer}: sessions end by a timeout", answer=seen)
        return Step("close", seen)
    status = deleted.status or message("no response")
    seen = message("DELETE, HTTP {status}", status=status)
    return Step.warning("close", seen, message("answer 200 or 405 to DELETE"))
