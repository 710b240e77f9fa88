"""Addresses that a server or an issuer asks to open in a browser: how to show them, and what is suspicious.

Pure; nothing is resolved or fetched.
"""

import ipaddress
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

MAX_LENGTH = 4096
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
