"""Failures of one HTTP request, as sentences with cause and next step. Pure."""

import re
import ssl
from http import HTTPStatus

import httpx2

from tui.core.errors import McptuiError, composed, origin_of, reason_of, with_stop
from tui.core.http_waits import retry_after
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message, sentences
from tui.core.text import clean_line, quoted_name, whole_words
from tui.core.units import size as shown_size
from tui.core.units import wait_words
from tui.core.web import media_type, proxy_for, proxy_problem
from tui.host.transports.http_client import (
    CONNECT_SECONDS,
    UnreadableCertificates,
    redirect_target,
    redirects_to_itself,
)

QUOTED = 160
"""Characters of a server's own words in a sentence."""

MARKUP = re.compile(r"<(?:script|style)\b.*?</(?:script|style)\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
LATER = message("Try again later.")
CHECK = message("Check the URL, and that the server is running.")
GONE = message("The server responded at this URL before. Restart it if the error persists.")
LOOPS = message(
    "The server, or a proxy in front of it, is misconfigured. Check the URL, including a trailing slash."
)
NEEDS_HEADER = message("Set an Authorization header under headers, or sign in.")
WRONG_HEADER = message("The server rejected the configured Authorization header. Check headers.")
NO_ACCESS = message("The server refuses access. Check the URL, and whether it needs a header or a sign-in.")
WRONG_CREDENTIALS = message("Your credentials do not permit this. Check them, or sign in again.")
NOT_SENT = message("It was not sent. Try again when the server responds.")
MAY_HAVE = message("It may have taken effect. Check before you send it again.")

_NO_SESSION = re.compile(
    rb"\b(?:no|invalid|unknown|expired|missing)\b[^.]{0,40}\bsession"
    rb"|\bsession\b[^.]{0,40}\b(?:not|expired|invalid|unknown|terminated)",
    re.IGNORECASE,
)


class HttpFault(McptuiError):
    """A request that HTTP gave no usable answer to.

    `status` is 0 if there was no response. `refused`: the server says that it did nothing, so the request may
    be sent again. `wait` is how many seconds it asks to wait first. `lost`: the connection ended before there
    was a response.
    """

    def __init__(
        self,
        message: str,
        *,
        next_step: str,
        status: int = 0,
        refused: bool = False,
        wait: float | None = None,
        lost: bool = False,
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.status = status
        self.refused = refused
        self.wait = wait
        self.lost = lost

    @property
    def is_final(self) -> bool:
        """Whether it is the same in every protocol era: sign-in, permission, wait, no connection."""
        return self.status in (401, 403, 429) or (self.status == 0 and not self.lost)


class SessionLost(HttpFault):
    """The server no longer knows `session`, so that the request had no effect."""

    def __init__(self, fault: HttpFault, session: bytes) -> None:
        super().__init__(fault.message, next_step=fault.next_step, status=fault.status, refused=True)
        self.session = session


def status_text(status: int) -> str:
    """Return "HTTP 503 (Service Unavailable)"."""
    try:
        return f"HTTP {status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return f"HTTP {status}"


def unreachable(error: Exception, where: str) -> HttpFault:
    """Return the fault for an error before there was any response."""
    if isinstance(error, httpx2.LocalProtocolError):
        return HttpFault(
            message("request to {where} not sent: {error}.", where=where, error=error),
            next_step=message("Check the headers of the server."),
        )
    connects = isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.InvalidURL)
    reason, is_lost = reason_of(error, QUOTED), not isinstance(error, httpx2.ConnectTimeout) and not connects
    if isinstance(error, UnreadableCertificates):
        step: str = message("Correct SSL_CERT_FILE or SSL_CERT_DIR, or unset it.")
        return HttpFault(
            message("cannot connect to {where}: {reason}.", where=where, reason=reason), next_step=step
        )
    if (through := proxy_problem(error, _asked(error), where)) is not None:
        is_lost = is_lost and not isinstance(error, httpx2.ProxyError)
        step = sentences(MAY_HAVE, through[1]) if is_lost else through[1]
        return HttpFault(with_stop(through[0]), next_step=step, lost=is_lost)
    if isinstance(error, httpx2.ConnectTimeout):
        return HttpFault(
            message(
                "cannot connect to {where} within {seconds:g} s.",
                where=where,
                seconds=CONNECT_SECONDS,
            ),
            next_step=CHECK,
        )
    if isinstance(origin_of(error), ssl.SSLError):
        step = message("Check the URL. Trust additional certificates with SSL_CERT_FILE.")
        return HttpFault(
            message("TLS connection to {where} failed: {reason}.", where=where, reason=reason), next_step=step
        )
    if connects:
        return HttpFault(
            message("cannot connect to {where}: {reason}.", where=where, reason=reason), next_step=CHECK
        )
    is_odd = isinstance(error, httpx2.RemoteProtocolError) and "disconnected" not in str(error)
    what = (
        message("invalid response from {where}", where=where)
        if is_odd
        else message("connection to {where} lost", where=where)
    )
    return HttpFault(
        with_stop(composed("{where}: {text}", where=what, text=reason)), next_step=MAY_HAVE, lost=True
    )


def _asked(error: Exception) -> str:
    """Return the URL of the request that failed, or "" if there was none."""
    try:
        return str(error.request.url) if isinstance(error, httpx2.RequestError) else ""
    except RuntimeError:  # it has no request
        return ""


def broken(error: Exception, status: int) -> HttpFault:
    """Return the fault for a response that broke off."""
    text = message(
        "HTTP {status}: the response broke off ({reason}).", status=status, reason=reason_of(error, QUOTED)
    )
    return HttpFault(text, next_step=MAY_HAVE, status=status)


def says_no_session(body: bytes) -> bool:
    """Whether a server says that it does not have the session."""
    return _NO_SESSION.search(body[:4096]) is not None


def ended(status: int, why: str = "", *, said: bytes = b"", stray: str = "") -> HttpFault:
    """Return the fault for a stream that ended without the response; `why` says what prevents resuming it.

    `said` is an error in the server's own words, `stray` a response to no request.
    """
    head = f"HTTP {status}{_quoted(said)}"
    text: str = message("{head}: the event stream ended without a response.", head=head)
    if why:
        text = message(
            "{head}: the event stream ended without a response and was not resumed: {why}.",
            head=head,
            why=why,
        )
    if stray:
        text = sentences(text, message("It had {content}.", content=stray))
    return HttpFault(text, next_step=MAY_HAVE, status=status)


def too_large(size: int | None, limit: int, status: int) -> HttpFault:
    """Return the fault for a body or an event of `size` bytes, None if only the first were read."""
    found = message("more than {limit}", limit=shown_size(limit)) if size is None else shown_size(size)
    text = message(
        "result too large: {status} with {found} (limit: {limit}).",
        status=status_text(status),
        found=found,
        limit=shown_size(limit),
    )
    return HttpFault(text, next_step=message("Request less data."), status=status)


def other_answer(status: int, *, why: str = "", stray: str = "") -> HttpFault:
    """Return the fault for a body that does not answer the request: `stray` is a response to no request."""
    why = why or message("it is {content}", content=stray or message("no response"))
    text = message("HTTP {status}: the response is invalid: {why}.", status=status, why=why)
    step = MAY_HAVE if stray else message("Check that the URL is that of an MCP server.")
    return HttpFault(text, next_step=step, status=status)


def refused(response: httpx2.Response, body: bytes, *, running: bool = False) -> HttpFault:
    """Return the fault for a response that is not a JSON-RPC message; `body` is the head of its body.

    `running`: the server has answered at this address before.
    """
    status, kind = response.status_code, content_type(response)
    is_text = not kind or kind.startswith("text/") or kind == "application/json"
    text: str = f"{status_text(status)}{_quoted(body if is_text else b'')}"
    words = text
    has_credentials = bool(response.request.headers.get("authorization"))
    rejects, wait = True, None
    if status == 407 and (proxy := proxy_for(str(response.request.url))) is not None:
        text = message("{named} rejected the request: {words}", named=proxy.named, words=words)
        step: str = message("Add the credentials to {variable}.", variable=proxy.variable)
    elif target := redirect_target(response):
        loops, to = redirects_to_itself(response), clean_line(target, 200)
        text = (
            message("redirect loop at {to}", to=to)
            if loops
            else message("redirect to {to} not followed", to=to)
        )
        text = composed("{where}: {text}", where=status_text(status), text=text)
        step = LOOPS if loops else message("If this is the right server, use that URL.")
    elif status == 401:
        step = WRONG_HEADER if has_credentials else NEEDS_HEADER
    elif status == 403:
        step = WRONG_CREDENTIALS if has_credentials else NO_ACCESS
    elif status in (404, 405, 410):
        step = GONE if running else message("Check the URL. There is no MCP server there.")
    elif status in (429, 503):
        wait, rejects = retry_after(response.headers, limited=True), status == 429
        step = message("The server asks you to wait {wait}.", wait=wait_words(wait)) if wait else LATER
    elif status >= 500:
        step, rejects = sentences(LATER, MAY_HAVE), False
    elif status >= 400:
        step = message("The server rejected the request. Check the URL and the headers.")
    elif status in (202, 204):
        text = message(
            "{status}: the server accepted the request, but did not respond to it", status=status_text(status)
        )
        step, rejects = MAY_HAVE, False
    else:
        text = message("{words}: the response has no content type, not JSON-RPC", words=words)
        if kind:
            text = message("{words}: the response is {kind}, not JSON-RPC", words=words, kind=kind)
        step, rejects = message("Check that the URL is that of an MCP server."), False
    return HttpFault(with_stop(text), next_step=step, status=status, refused=rejects, wait=wait)


def content_type(response: httpx2.Response) -> str:
    """Return the media type in lower case, without parameters."""
    return clean_line(media_type(response.headers.get("content-type", "")), 60)


_MESSAGES = ("message", "error_description", "detail", "error", "title")
"""Members of JSON with the message of an error, the ones that say most first."""


def error_text(raw: bytes) -> str:
    """Return the text of an error on one line: the message in JSON, the title of a page, or the whole."""
    text = raw[:4096].decode("utf-8", "replace")
    found = json_value(text)
    while isinstance(found, dict):
        found = next((found[key] for key in _MESSAGES if found.get(key)), "")
    text = found if found and isinstance(found, str) else text
    if text.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
        text = title[1] if title else MARKUP.sub(" ", text)
    return clean_line(whole_words(" ".join(text.split()), QUOTED), QUOTED).rstrip(".")


def _quoted(body: bytes) -> str:
    """Return the server's own words, quoted, or "" if there are none."""
    return f": {quoted_name(said, QUOTED)}" if (said := error_text(body)) else ""
