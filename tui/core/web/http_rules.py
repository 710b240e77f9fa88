"""Rules for server addresses and HTTP headers. Pure.

Values from a configuration, a command line or a keychain are checked here, because HTTP libraries fail only
when they send them, and quote the value, which may be a secret.
"""

import ipaddress
import re
import unicodedata
from urllib.parse import urlsplit

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
