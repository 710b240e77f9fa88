"""A sink that learns credentials from traffic and redacts them: session ids, cookies, tokens, sign-in values.

Bodies may repeat them, where nothing distinguishes them from other text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

from tui.core.secrets.commands_and_urls import secrets_in, values_of_header
from tui.core.secrets.known_values import MAX_LEARNED
from tui.core.secrets.oauth_values import fields_of, secrets_of, secrets_of_address
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Kind, TrafficSink
from tui.core.web import header_in

ENDPOINT_CHARS = 4096
FORM_BYTES = 64 * 1024
_OF_REPLIES = (b'"access_token"', b'"client_secret"', b'"refresh_token"')
_COOKIES = ("cookie", "set-cookie")

REPEATED = 64
"""How many addresses and headers are remembered: they are the same in most messages of a server."""

MAX_AT_ONCE = 500
"""Maximum credentials in one message. Remembering as many takes 5 ms; browsers keep 180 cookies of a site."""

TOO_MANY = (
    f"it sent more than {MAX_LEARNED:,} different cookies, session IDs and tokens, or {MAX_AT_ONCE} at once"
)
_KEPT_DETAIL = ("exchange", "peer", "http", "status")


class LearnedSecrets:
    """Passes everything on to `sink`, after `redactor` has learned its credentials.

    What a server says cannot be redacted if it has sent more of them than are remembered. From that message
    on, only sizes are passed on, and `on_full` is called with the reason before each.
    """

    def __init__(self, sink: TrafficSink, redactor: Redactor) -> None:
        self._sink = sink
        self._redactor = redactor
        self.on_full: Callable[[str], object] = lambda why: None
        self._is_full = False

    def __call__(self, captured: Captured) -> None:
        if captured.detail and not self._is_full:
            self._is_full = not self._learn(captured)
        if self._is_full:
            detail = {name: captured.detail[name] for name in _KEPT_DETAIL if name in captured.detail}
            detail |= {"event": "not recorded", "why": TOO_MANY, "withheld": True}
            size = captured.size if captured.size >= 0 else len(captured.raw)
            captured = captured._replace(raw=b"", kind=Kind.EVENT, size=size, detail=detail)
            self.on_full(TOO_MANY)
        self._sink(captured)

    def crowded(self) -> bool:
        crowded = getattr(self._sink, "crowded", bool)
        return bool(crowded())

    def _learn(self, captured: Captured) -> bool:
        """Return whether all credentials are redacted from now on."""
        found = [*_of_head(captured), *_of_a_body(captured)]
        return len(found) <= MAX_AT_ONCE and all(
            self._redactor.learn(captured.source, name, form)
            for name, value in found
            for form in {value, unquote(value)}
        )


def _of_head(captured: Captured) -> Iterator[tuple[str, str]]:
    """Yield the credentials of the address and the headers."""
    detail = captured.detail
    url, headers = str(detail.get("url", "")), detail.get("headers", ())
    yield from (("url", value) for value in _in_address(url))
    if detail.get("sse", {}).get("event") == "endpoint":  # HTTP+SSE: the URL of the session
        address = captured.raw[:ENDPOINT_CHARS].decode("utf-8", "replace")
        yield from (("endpoint", value) for value in secrets_in(address))
    for name, said in headers:
        if (lower := name.lower()) not in _COOKIES:
            yield from ((lower, value) for value in _in_header(name, said))
    yield from _of_cookies(headers)
    for address in (url, header_in(headers, "location")):  # codes of a sign-in (RFC 6749)
        if "state=" in address or "code=" in address:
            yield from secrets_of_address(address).items()


@lru_cache(REPEATED)
def _in_address(url: str) -> Sequence[str]:
    return tuple(secrets_in(url))


@lru_cache(REPEATED)
def _in_header(name: str, said: str) -> Sequence[str]:
    return tuple(values_of_header(name, said))


def _of_cookies(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the values of cookies without their names: a server that repeats one rarely repeats both."""
    for name, said in headers:
        if name.lower() in _COOKIES:
            pairs = said.split(";") if name.lower() == "cookie" else [said.partition(";")[0]]
            for pair in pairs:
                if value := pair.partition("=")[2].strip().strip('"'):
                    yield name.lower(), value


def _of_a_body(captured: Captured) -> Iterator[tuple[str, str]]:
    """Yield the codes, verifiers and tokens in the body of a sign-in."""
    raw = captured.raw
    if not raw or len(raw) > FORM_BYTES:
        return
    kind = header_in(captured.detail.get("headers", ()), "content-type")
    if "x-www-form-urlencoded" in kind or any(word in raw for word in _OF_REPLIES):
        yield from secrets_of(fields_of(raw, kind)).items()
