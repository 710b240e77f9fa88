"""Checks URLs and HTTP headers, warns about suspicious URLs, and finds proxies and certificates.

Nothing is resolved or fetched. `web_address` is for an address that a server or an issuer asks to
open in a browser: how to show it, and what to warn of.

Addresses and headers from a configuration, a command line or a keychain are checked here, because HTTP
libraries fail only when they send them, and quote the value, which may be a secret.
"""

import importlib.util
import ipaddress
import os
import re
import socket
import sys
import threading
import unicodedata
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from tui.core.errors import chain_of, reason_of
from tui.core.language.translate import N_, message
from tui.core.text import clean_line

if TYPE_CHECKING:
    import ssl

MAX_LENGTH = 4096
MAX_COOKIES = 50
"""Maximum cookies that are kept for one server (RFC 6265, 6.1)."""

ENDINGS = frozenset("app cloud com dev edu gov io net org".split())
"""Endings of well-known names; inside a longer name, they imitate one."""


_LOCAL_ENDINGS = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


@dataclass(frozen=True, slots=True)
class WebAddress:
    """A complete address in three parts, so that its host can be highlighted.

    Attributes:
        before, host, after: the address; `host` is as it is written, without user and port.
        readable: the host with its international characters, if it is written in punycode, or "".
        warnings: what is suspicious about it, one sentence each.
        problem: why it must not be opened, or "".
    """

    before: str
    host: str
    after: str
    readable: str = ""
    warnings: tuple[str, ...] = ()
    problem: str = ""


def web_address(url: str) -> WebAddress:
    """Read an address; never raises."""
    if len(url) > MAX_LENGTH:
        return WebAddress(url, "", "", problem=message("It is {count:,} characters long.", count=len(url)))
    if odd := next((char for char in url if char in " \\" or unicodedata.category(char)[0] == "C"), ""):
        hidden = message("It contains U+{code:04X}, which is not allowed in a URL.", code=ord(odd))
        return WebAddress(url, "", "", problem=hidden)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return WebAddress(url, "", "", problem=message("Invalid URL: {reason}.", reason=reason_of(error)))
    if parts.scheme not in ("https", "http"):
        scheme = parts.scheme or message("without a scheme")
        wanted = message("Only https URLs can be opened. This one is {scheme}.", scheme=scheme)
        return WebAddress(url, "", "", problem=wanted)
    if not host:
        return WebAddress(url, "", "", problem=message("It has no host."))
    start = url.lower().index(host, len(parts.scheme) + 3 + parts.netloc.rfind("@") + 1)
    end = start + len(host)
    problem = ""
    if parts.scheme == "http" and not is_loopback(host):
        problem = message("Only https URLs, and http URLs of this machine, can be opened.")
    readable = _readable(host)
    return WebAddress(
        url[:start], url[start:end], url[end:], readable, tuple(_warnings(parts, host, readable)), problem
    )


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, or "" if there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Return whether a host is certainly this machine.

    A name like `app.localhost` is not: not every system resolves it itself (RFC 6761, 6.3).
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_private(host: str) -> bool:
    """Return whether a host is this machine or, by its name or number, in a private network; False for ""."""
    host = host.removesuffix(".")
    if (address := _number_of(host)) is None:
        return bool(host) and ("." not in host or host.endswith(_LOCAL_ENDINGS))
    return not all(one.is_global and not one.is_multicast for one in (address, *_carried_by(address)))


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_CARRIERS = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96")))
"""Networks whose addresses end in one of IPv4: NAT64 (RFC 6052), IPv4-compatible (RFC 4291, 2.5.5.1)."""


def _number_of(host: str) -> _Address | None:
    """Return the address that a host is, in any notation of a resolver, like 127.1; None for a name."""
    host = unicodedata.normalize("NFKC", host)
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    if not re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2], re.ASCII | re.IGNORECASE):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def _carried_by(address: _Address) -> Iterable[_Address]:
    """Yield the addresses of IPv4 that a gateway may make of one of IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        yield from filter(None, (address.ipv4_mapped, address.sixtofour))
        if any(address in network for network in _CARRIERS):
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def address_fault(address: str, server_url: str) -> str:
    """Return why an address of a server's authorization server is not used, or "".

    It must be https, unless it and the server are both on this machine, or the server is on the same host
    without https. A server outside a private network must not name an address inside one.
    """
    parts, server = urlsplit(address), urlsplit(server_url)
    host = parts.hostname or ""
    if parts.username or parts.password:
        return message("has a user name in it")
    if is_private(host) and not is_private(server.hostname or ""):
        return message("is in a private network")
    if parts.scheme == "https":
        return ""
    if parts.scheme != "http":
        return message("is not an https URL")
    both_here = is_loopback(host) and is_loopback(server.hostname or "")
    same_host = server.scheme == "http" and host == server.hostname
    return "" if both_here or same_host else message("is not encrypted (http)")


def _readable(host: str) -> str:
    if "xn--" not in host:
        return ""
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return host


def _warnings(parts: SplitResult, host: str, readable: str) -> list[str]:
    found: list[str] = []
    if "@" in parts.netloc:
        found.append(message("The part before the @ is not the host. It leads to {host}.", host=host))
    if readable:
        found.append(message("The host is encoded. It reads {readable}.", readable=readable))
    elif not host.isascii():
        found.append(message("The host contains non-ASCII letters that can look like others."))
    if (number := _number_of(host)) is None:
        labels = host.split(".")
        imitated = [end for end in range(1, len(labels) - 2) if labels[end] in ENDINGS]
        if imitated:
            looks = ".".join(labels[: imitated[-1] + 1])
            owner = ".".join(labels[-2:])
            found.append(message("It looks like {looks} but belongs to {owner}.", looks=looks, owner=owner))
    elif not number.is_loopback:
        found.append(message("The host is an IP address, not a name."))
    return found


def has_browser(env: Mapping[str, str], platform: str = "") -> bool:
    """Return whether a browser can be opened on the user's own screen.

    Over ssh it is on another machine, and a text browser would take the terminal over.
    """
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return False
    return not (platform or sys.platform).startswith("linux") or any(
        env.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )


def open_browser(address: str) -> bool:
    """Open an address in the user's browser; False if no browser is available."""
    if not has_browser(os.environ):
        return False
    import webbrowser  # not needed for the first frame

    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


async def joined(blocks: AsyncIterable[bytes], most: int) -> bytes | None:
    """Return a body that arrives in blocks; None for a larger one, of which no more than `most` is kept."""
    body = bytearray()
    async for block in blocks:
        body += block
        if len(body) > most:
            return None
    return bytes(body)


SCHEMES = ("http", "https", "ws", "wss")
FRAMING = frozenset(
    "connection content-length keep-alive proxy-connection te trailer transfer-encoding upgrade".split()
)
"""Headers about one connection or the length of one message (RFC 9110, 7.6.1 and 8.6)."""

MAX_LABEL = 63
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_REFERENCE = re.compile(r"\$\{[^{}]*\}")


def header_name_fault(name: str) -> str:
    """Return why a header of this name cannot be sent, or ""."""
    if not _TOKEN.fullmatch(name):
        return message("is not a valid HTTP header name. Use letters, digits and -")
    if name.lower() in FRAMING:
        return message("is set by mcptui for each request. Remove it")
    return ""


def repeated_header(names: Iterable[str]) -> str:
    """Return a header that has two spellings among `names`, or "": both would be sent."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return ""


def with_headers(ours: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """Return our headers with the configured ones, which replace ours in any spelling of their names."""
    own = {name.lower() for name in configured}
    return {**{name: value for name, value in ours.items() if name.lower() not in own}, **configured}


def media_type(content_type: str) -> str:
    """Return the media type of a Content-Type in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def header_in(headers: Iterable[Sequence[Any]], wanted: str) -> str:
    """Return the first value of a recorded header, or ""; `wanted` is in lower case."""
    return next((str(value) for name, value in headers if str(name).lower() == wanted), "")


def header_value_fault(value: str) -> str:
    """Return why this value of a header cannot be sent, without the value, or ""."""
    if any((ord(char) < 32 and char != "\t") or ord(char) == 127 for char in value):
        return message("contains a line break or control character. Write one line")
    if not value.isascii():
        return message("contains a non-ASCII character. Copy the value again")
    return ""


def url_fault(url: str) -> str:
    """Return why this cannot be the address of a server, or "". References to variables are always valid."""
    if any(unicodedata.category(char) == "Cc" for char in url) or url != url.strip():
        return message("must be a URL without control characters or surrounding spaces")
    try:
        parts = urlsplit(_REFERENCE.sub("0", url))
        host = parts.hostname or ""
    except ValueError:
        return message("must be a URL like https://host/path")
    try:
        _ = parts.port
    except ValueError:
        return message("must be a URL like https://host/path. Its port is not a number from 0 to 65535")
    if not host or parts.scheme not in SCHEMES:
        return message("must be a URL like https://host/path")
    if not is_host(host):
        return message("must be a URL like https://host/path. Its host contains invalid characters")
    return ""


def is_host(host: str) -> bool:
    """Return whether this can be the host of an address: a name, in any script, or an IP address."""
    if ":" in host:
        try:
            return ipaddress.ip_address(host).version == 6
        except ValueError:
            return False
    if unicodedata.normalize("NFKC", host) != host:
        return False
    labels = host.removesuffix(".").split(".")
    return all(
        0 < len(label) <= MAX_LABEL
        and all(one.isalnum() or one in "-_" or unicodedata.category(one) in ("Mn", "Mc") for one in label)
        for label in labels
    )


_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
_PROXY_CHARS = 100


@dataclass(frozen=True, slots=True)
class Proxy:
    """The proxy that the environment names for an address.

    Attributes:
        variable: where it is set: the name of a variable, or message("the system settings").
        url: as it is used, with credentials.
        shown: the same without credentials.
        fault: why it cannot be used, as a sentence without a full stop; or "".
    """

    variable: str
    url: str
    shown: str
    fault: str = ""

    @property
    def named(self) -> str:
        return message("the proxy {address} ({variable})", address=self.shown, variable=self.variable)


def proxy_for(url: str) -> Proxy | None:
    """Return the proxy that the environment names for `url`, or None."""
    from urllib.request import getproxies, proxy_bypass  # loads much that the first frame does not need

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    place = f"{host}:{port}" if port else host
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    known = getproxies()
    kind = next((one for one in (scheme, "all") if known.get(one)), None)
    if kind is None or proxy_bypass(place):
        return None
    found = f"{kind}_proxy"
    # Names in lower case take precedence; see `getproxies_environment`.
    variable = found if os.environ.get(found) else next((n for n in os.environ if n.lower() == found), "")
    text = known[kind]
    return _proxy(variable or message("the system settings"), text if "://" in text else f"http://{text}")


def _proxy(variable: str, url: str) -> Proxy:
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    place = rest.rpartition("@")[2]
    try:
        parts = urlsplit(f"{scheme}://{place}")
        port = f":{parts.port}" if parts.port is not None else ""
        host = parts.hostname or ""
    except ValueError:
        host, port = "", ""
    is_valid = bool(host) and is_host(host) and not any(ord(char) <= 32 for char in url)
    bracketed = f"[{host}]" if ":" in host else host
    written = f"{bracketed}{port}" if is_valid else re.split(r"[/?#]", place)[0]
    shown = clean_line(f"{scheme}://{written}", _PROXY_CHARS)
    fault = ""
    if scheme not in _PROXY_SCHEMES:
        fault = N_("{variable} names a proxy with an unsupported scheme: {address}")
    elif not is_valid:
        fault = N_("{variable} is not the URL of a proxy: {address}")
    elif scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        fault = N_(
            "{variable} names a SOCKS proxy ({address}), for which the Python package socksio is missing"
        )
    fault = fault and message(fault, variable=variable, address=shown)
    return Proxy(variable, f"{scheme}://{rest}", shown, fault)


_loading = threading.Lock()


def tls_context(create: "Callable[..., ssl.SSLContext]", *, trust_env: bool) -> "ssl.SSLContext":
    """Return the one TLS context of the process; the first call reads the certificates, so use a thread.

    That takes 50 ms and 2 MB (measured). `create` is `httpx2.create_ssl_context`, which core does not import.
    SSL_CERT_FILE and SSL_CERT_DIR apply if `trust_env`.
    """
    with _loading:
        return certified(create, trust_env)


@cache
def certified(create: "Callable[..., ssl.SSLContext]", trust_env: bool) -> "ssl.SSLContext":
    """Return what `tls_context` does; only one thread may read the certificates."""
    return create(trust_env=trust_env)


def proxy_problem(error: BaseException, url: str, where: str) -> tuple[str, str] | None:
    """Return why a request through a proxy failed, and what to do; None if there is no proxy for `url`.

    The message has no full stop. `where` is the address without secrets.
    """
    if (proxy := proxy_for(url)) is None:
        return None
    if "socksio" in proxy.fault:
        return proxy.fault, message("Install socksio, or use an http proxy.")
    if proxy.fault:
        return proxy.fault, message("Correct {variable}, or unset it.", variable=proxy.variable)
    kinds = {type(one).__name__ for one in chain_of(error)}
    host = urlsplit(url).hostname
    step = message("Check {variable}, or add {host} to NO_PROXY.", variable=proxy.variable, host=host)
    words = N_("connection to {where} through {proxy} lost: {reason}")
    if "ProxyError" in kinds:
        words = N_("{proxy} rejected {where}: {reason}")
    elif any(kind.startswith("SSL") for kind in kinds):
        trust = N_("Trust the proxy's certificate with SSL_CERT_FILE, or check {variable}.")
        step = message(trust, variable=proxy.variable)
        words = N_("TLS connection to {where} through {proxy} failed: {reason}")
    elif not kinds.isdisjoint(("ConnectError", "ConnectTimeout")):
        words = N_("cannot connect to {proxy}: {reason}")
    return message(words, proxy=proxy.named, where=where, reason=reason_of(error)), step


@dataclass(frozen=True, slots=True)
class Reach:
    """The address of a remote server, without secrets, and whether it responds.

    Its `kind` is "HTTP" or "HTTP+SSE". `answers`: the last request got a response; None before the first.
    `status` is the last HTTP status, 0 for none. `problem` is why the last request got no response, or "".
    """

    where: str
    kind: str = ""
    answers: bool | None = None
    status: int = 0
    problem: str = ""

    @property
    def silent(self) -> bool:
        return self.answers is False

    @property
    def words_of_kind(self) -> str:
        """Return the transport, with the word that it is deprecated if it is."""
        return f"{self.kind}, deprecated" if self.kind == "HTTP+SSE" else self.kind

    @property
    def words(self) -> str:
        """Return the state in a few words: "HTTP 200", "no answer"."""
        if self.silent:
            return message("no response")
        return f"HTTP {self.status}" if self.status else ""
