"""Recognizes what a server writes in place of newline-delimited JSON-RPC. Pure."""

import re

from tui.core.jsonrpc.messages import NOT_ONE_LINE
from tui.core.language.translate import message

_HEADER = re.compile(rb"(?:\{.*\})?Content-Length: *\d+\s*")
_HEADER_HINT = message("it sends Content-Length headers, but newline-delimited JSON is required")
_WIDE_HINT = message("it writes UTF-16, but newline-delimited JSON in UTF-8 is required")
_SEVERAL_HINT = message("it writes several messages on one line, but newline-delimited JSON is required")
_PROMPT_HINT = message("it asks 'Ok to proceed?'. Add -y to the arguments of npx")
HOPELESS = (_HEADER_HINT, _WIDE_HINT)
"""Framings in which no message can ever be parsed."""

_WIDE = (b'{\0"\0', b'\0{\0"')
_SEVERAL = re.compile(rb'\}\s*\{\s*"(?:jsonrpc|id|result)"')
_HELLO = re.compile(rb'"type"\s*:\s*"hello"')


def is_hello(line: bytes) -> bool:
    """Whether a line that should be JSON-RPC is the greeting of the line dialect."""
    ends = line[:4096] + line[-4096:]
    return line.lstrip()[:1] == b"{" and b'"tools"' in ends and _HELLO.search(ends) is not None


def noise_kind(line: bytes) -> str:
    """Return what kind of noise a line is, as a hint to the user, or "" if it is no known kind."""
    head = line[:512]
    if head.strip() in (b"{", b"[", b"}", b"]"):
        return NOT_ONE_LINE
    if _HEADER.fullmatch(line[-8192:]):
        return _HEADER_HINT
    if any(mark in head for mark in _WIDE):
        return _WIDE_HINT
    if _SEVERAL.search(head):
        return _SEVERAL_HINT
    return _PROMPT_HINT if b"Ok to proceed?" in head else ""
