"""The steps to the first response of a remote server, with mcptui's HTTP client: proxy, name, TCP, TLS."""

import asyncio
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

from tui.addons.doctor.steps import State, Step
from tui.core.errors import McptuiError, chain_of, without_stop
from tui.core.language.translate import message, together
from tui.core.server_secrets import resolved_headers
from tui.core.servers import ServerSpec
from tui.core.text import clean_line
from tui.core.units import and_more
from tui.core.web import media_type, proxy_for, url_fault
from tui.host.transports import http_faults
from tui.host.transports.http_client import RoutedTransport, header_bytes, open_client

SECONDS = 10.0
GET_SECONDS = 5.0
"""How long the first GET may take. Some servers answer it with the first event, so that is no failure."""

TLS_SECONDS = 3.0
HEAD = 4096
ANSWER_GET = message("answer GET at once: with an event stream, or with 405")
SOON_DAYS = 14
USUAL_PATHS = ("/mcp", "/sse", "/mcp/", "/api/mcp")
PROXY_CREDENTIALS = message("add the user and password to its address: http://USER:PASSWORD@HOST:PORT")
_NO_TLS = message("the port may not speak TLS: try http://, or another port")
_TLS_STEPS = (
    (
        "self-signed|self signed|unable to get local issuer",
        message("add its authority to a file and name it in SSL_CERT_FILE"),
    ),
    (
        "wrong version|record layer|unexpected eof|not tls|no tls",
        message("the port does not speak TLS: use http://, or another port"),
    ),
    (
        "has expired",
        message("the operator must renew the certificate. Check the clock of this computer, too"),
    ),
    ("not yet valid", message("check the clock of this computer")),
    ("hostname mismatch|not valid for", message("use a host name that the certificate is for")),
)
Tell = Callable[[str], object]


class Answer:
    """The first response at the address: `kind` is its media type, `said` the beginning of its body."""

    def __init__(self, status: int, kind: str, said: bytes) -> None:
        self.status, self.kind, self.said = status, kind, said

    @property
    def is_old_sse(self) -> bool:
        """Whether it is the stream of HTTP+SSE, which begins with the address for messages."""
        return (
            self.kind == "text/event-stream" and re.match(rb"\s*event:\s*endpoint\b", self.said) is not None
        )


class Network:
    """One GET request to the address, as a client opens its stream, and what it took to get there.

    `answer` is the response, None before there is one. `begin` is called with the name of each step.
    """

    def __init__(self, spec: ServerSpec, remember: Callable[[Mapping[str, str]], None], begin: Tell) -> None:
        self.answer: Answer | None = None
        self._spec, self._remember, self._begin = spec, remember, begin
        self._url = re.sub("^ws", "http", spec.url or "")
        self._parts = urlsplit(self._url)
        self._at: dict[str, float] = {}
        self._peer: Any = None
        self._tls: ssl.SSLObject | None = None
        self._limit: asyncio.Timeout | None = None

    async def steps(self) -> list[Step]:
        """Return the steps; the last one may have failed."""
        if fault := url_fault(self._url):
            return [Step.failed("address", fault)]
        proxy = proxy_for(self._url)
        if proxy is not None and proxy.fault:
            return [
                Step.failed(
                    "proxy", proxy.fault, message("correct {variable}, or unset it", variable=proxy.variable)
                )
            ]
        through = f"{proxy.shown} ({proxy.variable})" if proxy is not None else message("none")
        steps = [Step("proxy", through)]
        host = self._parts.hostname if proxy is None else urlsplit(proxy.shown).hostname
        steps.append(await self._name(host or "", is_proxy=proxy is not None))
        if steps[-1].state is State.FAILED:
            return steps
        self._begin("tcp")
        error: Exception | None = None
        try:
            self.answer = await self.ask(self._url, seconds=SECONDS + GET_SECONDS)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, McptuiError) as found:
            error = found
        is_lost = error is not None and not isinstance(error, TimeoutError | httpx2.TimeoutException)
        expects_tls = is_lost and proxy is None and await self._expects_tls()
        return [*steps, *self._connection(error, expects_tls=expects_tls)]

    async def _expects_tls(self) -> bool:
        """Return whether a port that took a connection for http:// speaks TLS."""
        if self._parts.scheme != "http" or self._took("connect_tcp") is None:
            return False
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent
        with suppress(OSError, TimeoutError):  # an SSLError is an OSError
            async with asyncio.timeout(TLS_SECONDS):
                host, port = self._parts.hostname or "", self._parts.port or 80
                _, writer = await asyncio.open_connection(host, port, ssl=context)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            return True
        return False

    async def _name(self, host: str, *, is_proxy: bool) -> Step:
        self._begin("name")
        with suppress(ValueError):
            ipaddress.ip_address(host)
            return Step("name", message("{host} is an address", host=host))
        began = time.monotonic()
        try:
            async with asyncio.timeout(SECONDS):
                found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, TimeoutError):
            shown = clean_line(host, 120)
            if is_proxy and (proxy := proxy_for(self._url)) is not None:
                seen = message("DNS does not know the name of the proxy: {host}", host=shown)
                return Step.failed(
                    "proxy", seen, message("correct {variable}, or unset it", variable=proxy.variable)
                )
            fix = message("check the spelling, the network, and whether it needs a VPN")
            return Step.failed("name", message("DNS does not know the name: {host}", host=shown), fix)
        ms = (time.monotonic() - began) * 1000
        return Step(
            "name", f"{host} → {and_more([*dict.fromkeys(str(one[4][0]) for one in found)], 2)}", ms=ms
        )

    async def ask(self, url: str, headers: Mapping[str, str] = {}, seconds: float = SECONDS) -> Answer:
        """Send a GET for a stream, and return its status, its type and the beginning of its body."""
        sent = {"accept": "text/event-stream", **headers}
        async with open_client(RoutedTransport(), {}) as client, asyncio.timeout(seconds) as limit:
            self._limit = limit
            own = await resolved_headers(self._spec, self._remember) if url == self._url else {}
            given = header_bytes(own)  # credentials go to the configured address only
            more = {"trace": self._trace}
            request = client.build_request("GET", url, headers=[*given, *header_bytes(sent)], extensions=more)
            response = await client.send(request, stream=True)
            try:
                said = b""
                if response.is_success or response.status_code >= 400:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(1):
                            async for block in response.aiter_raw():
                                said += block
                                if len(said) > HEAD or b"endpoint" in said:
                                    break
                kind = media_type(response.headers.get("content-type", ""))
                return Answer(response.status_code, kind, said[:HEAD])
            finally:
                await response.aclose()

    async def _trace(self, event: str, about: Mapping[str, Any]) -> None:
        for what in ("connect_tcp", "start_tls"):
            for when in ("started", "complete"):
                if event.endswith(f"{what}.{when}"):
                    self._at[f"{what}.{when}"] = time.monotonic()
        if event.endswith("connect_tcp.complete"):
            self._peer = about["return_value"].get_extra_info("server_addr")
            self._begin("tls")
            if self._limit is not None and (until := self._limit.when()) is not None:
                self._limit.reschedule(min(until, asyncio.get_running_loop().time() + GET_SECONDS))
        if event.endswith("start_tls.complete"):
            self._tls = about["return_value"].get_extra_info("ssl_object")

    def _took(self, what: str) -> float | None:
        began, ended = self._at.get(f"{what}.started"), self._at.get(f"{what}.complete")
        return None if began is None or ended is None else (ended - began) * 1000

    def _connection(self, error: Exception | None, *, expects_tls: bool) -> list[Step]:
        """Return the steps of the connection, up to the one at which it failed."""
        where = clean_line(f"{self._parts.scheme}://{self._parts.netloc.rpartition('@')[2]}", 200)
        took, is_proxy = self._took("connect_tcp"), proxy_for(self._url) is not None
        if isinstance(error, McptuiError):
            return [Step.failed("headers", error.message, error.next_step)]
        fault = None
        if error is not None:
            known = http_faults.unreachable(error, where)
            fault = Step.failed("proxy" if is_proxy else "tcp", known.message, known.next_step)
            if is_proxy and "HTTP 407" in fault.seen:
                fault = replace(fault, fix=PROXY_CREDENTIALS)
        if took is None:
            return [fault] if fault is not None else []
        peer = (
            message("{host} port {port}", host=self._peer[0], port=self._peer[1])
            if isinstance(self._peer, tuple)
            else message("connected")
        )
        steps = [Step("tcp", peer, ms=took)]
        if error is not None and fault is not None and self._tls is None:
            is_tls = any(isinstance(one, ssl.SSLError) for one in chain_of(error))
            said = fault.seen.lower()
            usual = fault.fix if "certificate" in said else _NO_TLS
            fix = next((fix for words, fix in _TLS_STEPS if re.search(words, said)), usual)
            if is_tls:
                return [*steps, replace(fault, name="tls", fix=fix)]
            if is_proxy:
                return [*steps, fault]
            if self._parts.scheme == "https":
                return [*steps, replace(fault, name="tls", fix=_NO_TLS)]
        if fault is not None and expects_tls:
            plain = without_stop(fault.seen)
            seen: str = message("{problem}. The port expects TLS", problem=plain)
            fix = message("try {url}", url=f"https://{clean_line(self._url[7:], 200)}")
            return [*steps, Step.failed("tls", seen, fix)]
        steps.append(self._tls_step())
        if fault is not None:  # that of a GET, which a server need not answer
            late = self._limit is not None and self._limit.expired()
            seen = (
                message("no response to GET within {seconds:g} s", seconds=GET_SECONDS)
                if late
                else together("GET: ", fault.seen)
            )
            steps.append(Step.warning("answer", seen, ANSWER_GET if late else ""))
        return steps

    def _tls_step(self) -> Step:
        if self._tls is None:
            return Step("tls", message("none (http)"))
        certificate = self._tls.getpeercert() or {}
        ends = str(certificate.get("notAfter", ""))
        seen = message("{version}, certificate valid until {ends}", version=self._tls.version(), ends=ends)
        days = (ssl.cert_time_to_seconds(ends) - time.time()) / 86_400 if ends else SOON_DAYS
        if days < SOON_DAYS:
            return Step.warning(
                "tls",
                message("{seen} ({days} days)", seen=seen, days=f"{days:.0f}"),
                message("renew the certificate"),
            )
        return Step("tls", seen, ms=self._took("start_tls"))

    async def elsewhere(self) -> str:
        """Return an address of the same server at which there seems to be an MCP server, or ""."""
        usual = await self._at_path("/no-such-path-mcptui-doctor")
        for path in USUAL_PATHS:
            if path.rstrip("/") == self._parts.path.rstrip("/"):
                continue
            found = await self._at_path(path)
            is_stream = found is not None and found.status == 200 and found.kind == "text/event-stream"
            takes_other = found is not None and found.status in (400, 401, 405, 406)
            if found is not None and (is_stream or takes_other):
                if usual is None or usual.status != found.status:
                    return self._address(path)
        return ""

    def _address(self, path: str) -> str:
        return urlunsplit((self._parts.scheme, self._parts.netloc.rpartition("@")[2], path, "", ""))

    async def _at_path(self, path: str) -> Answer | None:
        with suppress(httpx2.HTTPError, OSError, TimeoutError, McptuiError):
            return await self.ask(self._address(path), seconds=3)
        return None
