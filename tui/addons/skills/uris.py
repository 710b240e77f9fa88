"""URIs of skills, and references between their files. Pure.

A URI is only ever sent to the server that served it: nothing here resolves a host, and no scheme is special.
Paths are compared decoded, so that `%2e%2e` is `..`.
"""

import re
from urllib.parse import quote, unquote

from tui.core.language.translate import message

SKILL_FILE = "SKILL.md"
MAX_URI = 2_048
MAX_DECODINGS = 4

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\\?#<>\"{}|^`]")
"""Characters that no path of a URI contains unencoded, and those that another reader may take for its end."""

_PLAIN = "/-._~!$&'()*+,;=:@"
"""Characters that a path of a URI contains as they are."""

_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f/\\]")
"""Characters that a segment must not contain even encoded."""


def uri_fault(uri: str) -> str:
    """Return why a URI cannot be that of a file of a skill, or ""."""
    if len(uri) > MAX_URI:
        return message("is longer than {limit:,} characters", limit=MAX_URI)
    if _SCHEME.match(uri) is None:
        return message("is not an absolute URI")
    path = path_of(uri)
    if _UNSAFE.search(path) or not path.isprintable():
        return message("contains a character that a URI must encode")
    return path_fault(path)


def path_of(uri: str) -> str:
    """Return a URI without its scheme; the first segment may be the name of a host, which means nothing."""
    return _SCHEME.sub("", uri, count=1).removeprefix("//").removeprefix("/")


def path_fault(path: str) -> str:
    """Return why an encoded path leaves its folder, or is ambiguous, or ""."""
    for segment in path.split("/"):
        if not segment:
            return message("has an empty path segment")
        plain = fully_decoded(segment)
        if plain in (".", ".."):
            return message("contains . or .. as a path segment")
        if _HIDDEN.search(plain) or "�" in plain:
            return message("contains an encoded slash, backslash or control character")
    return ""


def fully_decoded(text: str) -> str:
    """Decode as often as a careless reader would: `%252e` may end as `.`."""
    for _ in range(MAX_DECODINGS):
        decoded = unquote(text)
        if decoded == text:
            break
        text = decoded
    return text


def path_below(folder: str, uri: str) -> str:
    """Return the decoded path of a file below a folder, or "" if it is not in it."""
    start = f"{folder}/"
    return unquote(uri[len(start) :]) if uri.startswith(start) else ""


def resolved(folder: str, reference: str) -> str:
    """Return the decoded path of a reference below the folder of its SKILL.md.

    The reference is a relative path, or the URI of a file in the folder. Raises ValueError with the end of a
    sentence about the reference.
    """
    if len(reference) > MAX_URI:
        raise ValueError(message("is longer than {limit:,} characters", limit=MAX_URI))
    path = reference.partition("#")[0]
    if _SCHEME.match(path):
        if not path.startswith(f"{folder}/"):
            raise ValueError(message("is outside the folder of the skill"))
        path = path[len(folder) + 1 :]
    if path.startswith(("/", "\\")):
        raise ValueError(message("is absolute, and must be relative to the folder of the skill"))
    if "\\" in path or "?" in path:
        raise ValueError(message("contains a backslash or a query"))
    while path.startswith("./"):
        path = path[2:]
    if not path:
        raise ValueError(message("names no file"))
    if fault := path_fault(path):
        raise ValueError(fault)
    return unquote(path)


def uri_of(folder: str, path: str) -> str:
    """Return the URI of a decoded path below a folder."""
    return f"{folder}/{quote(path, safe=_PLAIN)}"
