"""Checks URLs and HTTP headers, warns about suspicious URLs, and reads how long a server asks to wait.

Pure; nothing is resolved or fetched. `web_address` is for an address that a server or an issuer asks to
open in a browser: how to show it, and what to warn of.

Addresses and headers from a configuration, a command line or a keychain are checked here, because HTTP
libraries fail only when they send them, and quote the value, which may be a secret.
"""

import ipaddress
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from urllib.parse import SplitResult, urlsplit

MAX_LENGTH = 4096
MAX_COOKIES = 50
"""Maximum cookies that are kept for one server (RFC 6265, 6.1)."""

ENDINGS = frozenset("app cloud com dev edu gov io net org".split())
"""Endings of well-known names; inside a longer name, they imitate one."""


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
    if problem := _unsound(url):
        return WebAddress(url, "", "", problem=problem)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return WebAddress(url, "", "", problem=f"Invalid URL: {error}.")
    if parts.scheme not in ("https", "http"):
        scheme = parts.scheme or "without a scheme"
        return WebAddress(url, "", "", problem=f"Only https URLs can be opened. This one is {scheme}.")
    if not host:
        return WebAddress(url, "", "", problem="It has no host.")
    start = url.lower().index(host, len(parts.scheme) + 3 + _user_length(parts))
    end = start + len(host)
    problem = ""
    if parts.scheme == "http" and not _is_loopback(host):
        problem = "Only https URLs, and http URLs of this machine, can be opened."
    readable = _readable(host)
    return WebAddress(
        url[:start], url[start:end], url[end:], readable, tuple(_warnings(parts, host, readable)), problem
    )


def _unsound(url: str) -> str:
    if len(url) > MAX_LENGTH:
        return f"It is {len(url):,} characters long."
    odd = next((char for char in url if char in " \\" or unicodedata.category(char)[0] == "C"), "")
    return f"It contains U+{ord(odd):04X}, which is not allowed in a URL." if odd else ""


def _user_length(parts: SplitResult) -> int:
    user, at, _ = parts.netloc.rpartition("@")
    return len(user) + len(at)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _readable(host: str) -> str:
    if "xn--" not in host:
        return ""
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return host


def _warnings(parts: SplitResult, host: str, readable: str) -> list[str]:
    found = []
    if "@" in parts.netloc:
        found.append(f"The part before the @ is not the host. It leads to {host}.")
    if readable:
        found.append(f"The host is encoded. It reads {readable}.")
    elif not host.isascii():
        found.append("The host contains non-ASCII letters that can look like others.")
    try:
        kind = ipaddress.ip_address(host)
    except ValueError:
        labels = host.split(".")
        imitated = [end for end in range(1, len(labels) - 2) if labels[end] in ENDINGS]
        if imitated:
            looks = ".".join(labels[: imitated[-1] + 1])
            found.append(f"It looks like {looks} but belongs to {'.'.join(labels[-2:])}.")
    else:
        if not kind.is_loopback:
            found.append("The host is an IP address, not a name.")
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


SCHEMES = ("http", "https", "ws", "wss")
FRAMING = frozenset(
    {
        "connection",
        "content-length",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers about one connection or the length of one message (RFC 9110, 7.6.1 and 8.6)."""

MAX_LABEL = 63
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_REFERENCE = re.compile(r"\$\{[^{}]*\}")


def header_name_fault(name: str) -> str:
    """Return why a header of this name cannot be sent, or ""."""
    if not _TOKEN.fullmatch(name):
        return "is not a valid HTTP header name. Use letters, digits and -"
    if name.lower() in FRAMING:
        return "is set by mcptui for each request. Remove it"
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


def header_value_fault(value: str) -> str:
    """Return why this value of a header cannot be sent, without the value, or ""."""
    if any((ord(char) < 32 and char != "\t") or ord(char) == 127 for char in value):
        return "contains a line break or control character. Write one line"
    if not value.isascii():
        return "contains a non-ASCII character. Copy the value again"
    return ""


def url_fault(url: str) -> str:
    """Return why this cannot be the address of a server, or "". References to variables are always valid."""
    if any(unicodedata.category(char) == "Cc" for char in url) or url != url.strip():
        return "must be a URL without control characters or surrounding spaces"
    try:
        parts = urlsplit(_REFERENCE.sub("0", url))
        host, _ = parts.hostname or "", parts.port  # the port raises if it is not a number
    except ValueError:
        return "must be a URL like https://host/path"
    if not host or parts.scheme not in SCHEMES:
        return "must be a URL like https://host/path"
    if not is_host(host):
        return "must be a URL like https://host/path. Its host contains invalid characters"
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
        0 < len(label) <= MAX_LABEL and all(char.isalnum() or _joins(char) for char in label)
        for label in labels
    )


def _joins(char: str) -> bool:
    """Return whether a character joins letters in a name, such as a hyphen or the vowel sign of a script."""
    return char in "-_" or unicodedata.category(char) in ("Mn", "Mc")


_QUOTED_BYTES = re.compile(r""":?\s*+(?:bytearray\()?\bb['"].*""", re.DOTALL)


def http_error_text(error: BaseException) -> str:
    """Return the text of an HTTP library's error, without the line of the other side that it may quote.

    Such a line may be a header with a cookie, which nothing redacts: it was never read as one.
    """
    return _QUOTED_BYTES.sub("", str(error)) or type(error).__name__


LONGEST_RETRY = 7 * 86_400.0
"""Maximum seconds that a response can ask to wait."""

_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_DATE_CHARS = 100


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the delay in seconds that the headers of a response ask for, or None (RFC 9110, 10.2.3).

    Names are in lower case. A date is relative to the response's own `Date`, so a wrong local clock does not
    matter; without that header, to the present.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if _SECONDS.fullmatch(value):
            return min(LONGEST_RETRY, float(value) / scale)
        if value and name == "retry-after" and (until := _http_date(value)) is not None:
            since = _http_date(headers.get("date", ""))
            return min(LONGEST_RETRY, max(0.0, until - (time.time() if since is None else since)))
    return None


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # loads much that the first frame does not need

    try:
        found = parsedate_to_datetime(text[:_DATE_CHARS])
        # An HTTP date without a zone is in GMT.
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
