"""A sink that learns credentials from traffic and redacts them: session ids, cookies, tokens, sign-in values.

Bodies may repeat them, where nothing distinguishes them from other text.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tui.core.secrets.commands_and_urls import is_secret_header, secrets_in_arguments
from tui.core.secrets.oauth_values import fields_of, secrets_of, secrets_of_address
from tui.core.traffic import Captured, Direction, TrafficSink

if TYPE_CHECKING:
    from tui.core.secrets.redact import Redactor

MOST_LEARNED = 50
"""Maximum credentials to redact in bodies. Each makes redaction a little slower."""

ENDPOINT_CHARS = 4096
FORM_BYTES = 64 * 1024
_NO_HEAD = (None, None)
_OF_REPLIES = (b'"access_token"', b'"client_secret"', b'"refresh_token"')


class LearnedSecrets:
    """Passes everything on to `sink`, after `redactor` has learned its credentials."""

    def __init__(self, sink: TrafficSink, redactor: "Redactor") -> None:
        self._sink = sink
        self._redactor = redactor
        self._known: set[str] = set()
        self._heads: dict[Direction, tuple[Any, Any]] = {}

    def __call__(self, captured: Captured) -> None:
        if captured.detail:
            self._learn(captured)
        self._sink(captured)

    def crowded(self) -> bool:
        crowded = getattr(self._sink, "crowded", bool)
        return bool(crowded())

    def _learn(self, captured: Captured) -> None:
        for name, value in (*self._of_head(captured), *_of_a_body(captured)):
            if value not in self._known and len(self._known) < MOST_LEARNED:
                self._known.add(value)
                self._redactor.add({name: value})

    def _of_head(self, captured: Captured) -> list[tuple[str, str]]:
        """Return the credentials of the address and the headers; [] if those are the same as last time.

        Most requests to a server have the same ones.
        """
        detail = captured.detail
        head = detail.get("url"), detail.get("headers")
        is_endpoint = detail.get("sse", {}).get("event") == "endpoint"  # HTTP+SSE: the URL of the session
        if not is_endpoint and (head == _NO_HEAD or self._heads.get(captured.direction) == head):
            return []
        self._heads[captured.direction] = head
        texts = {"url": str(detail.get("url", ""))}
        if is_endpoint:
            texts["endpoint"] = captured.raw[:ENDPOINT_CHARS].decode("utf-8", "replace")
        for name, value in detail.get("headers", ()):
            if is_secret_header(name):
                texts[name.lower()] = f"{name}: {value}"
        names = list(texts)
        found = [(names[number], value) for number, value in secrets_in_arguments(list(texts.values()))]
        return [*found, *_of_cookies(detail.get("headers", ())), *_of_addresses(detail)]


def _of_cookies(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the values of cookies without their names: a server that repeats one rarely repeats both."""
    for name, said in headers:
        if name.lower() in ("cookie", "set-cookie"):
            pairs = said.split(";") if name.lower() == "cookie" else [said.partition(";")[0]]
            for pair in pairs:
                if value := pair.partition("=")[2].strip():
                    yield name.lower(), value


def _of_addresses(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the codes in the addresses of a sign-in (RFC 6749)."""
    for address in (str(detail.get("url", "")), _header(detail, "location")):
        if "state=" in address or "code=" in address:
            yield from secrets_of_address(address).items()


def _of_a_body(captured: Captured) -> Iterator[tuple[str, str]]:
    """Yield the codes, verifiers and tokens in the body of a sign-in."""
    raw = captured.raw
    if not raw or len(raw) > FORM_BYTES:
        return
    kind = _header(captured.detail, "content-type")
    if "x-www-form-urlencoded" in kind or any(word in raw for word in _OF_REPLIES):
        yield from secrets_of(fields_of(raw, kind)).items()


def _header(detail: Mapping[str, Any], wanted: str) -> str:
    """Return the last value of a header, or ""."""
    found = [str(value) for name, value in detail.get("headers", ()) if str(name).lower() == wanted]
    return found[-1] if found else ""
