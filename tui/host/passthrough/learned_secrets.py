"""A sink that learns credentials from traffic and redacts them: session ids, cookies, tokens, sign-in values.

Bodies may repeat them, where nothing distinguishes them from other text.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tui.core.secrets.oauth_values import fields_of, secrets_of, secrets_of_address
from tui.core.secrets.places import is_secret_header, secrets_in_arguments
from tui.core.traffic import Captured, TrafficSink

if TYPE_CHECKING:
    from tui.core.secrets.redact import Redactor

MOST_LEARNED = 50
"""Maximum credentials to redact in bodies. Each makes redaction a little slower."""

ENDPOINT_CHARS = 4096
FORM_BYTES = 64 * 1024
_OF_REPLIES = (b'"access_token"', b'"client_secret"', b'"refresh_token"')


class LearnedSecrets:
    """Passes everything on to `sink`, after `redactor` has learned its credentials."""

    def __init__(self, sink: TrafficSink, redactor: "Redactor") -> None:
        self._sink = sink
        self._redactor = redactor
        self._known: set[str] = set()

    def __call__(self, captured: Captured) -> None:
        if captured.detail:
            self._learn(captured)
        self._sink(captured)

    def crowded(self) -> bool:
        crowded = getattr(self._sink, "crowded", bool)
        return bool(crowded())

    def _learn(self, captured: Captured) -> None:
        detail = captured.detail
        texts = {"url": str(detail.get("url", ""))}
        if detail.get("sse", {}).get("event") == "endpoint":  # HTTP+SSE: the URL of the session
            texts["endpoint"] = captured.raw[:ENDPOINT_CHARS].decode("utf-8", "replace")
        for name, value in detail.get("headers", ()):
            if is_secret_header(name):
                texts[name.lower()] = f"{name}: {value}"
        names = list(texts)
        found = [(names[number], value) for number, value in secrets_in_arguments(list(texts.values()))]
        for name, value in [*found, *_of_cookies(detail.get("headers", ())), *_of_a_sign_in(captured)]:
            if value not in self._known and len(self._known) < MOST_LEARNED:
                self._known.add(value)
                self._redactor.add({name: value})


def _of_cookies(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the values of cookies without their names: a server that repeats one rarely repeats both."""
    for name, said in headers:
        if name.lower() in ("cookie", "set-cookie"):
            pairs = said.split(";") if name.lower() == "cookie" else [said.partition(";")[0]]
            for pair in pairs:
                if value := pair.partition("=")[2].strip():
                    yield name.lower(), value


def _of_a_sign_in(captured: Captured) -> Iterator[tuple[str, str]]:
    """Yield the codes, verifiers and tokens in the addresses and bodies of a sign-in (RFC 6749)."""
    headers = {str(name).lower(): str(value) for name, value in captured.detail.get("headers", ())}
    for address in (str(captured.detail.get("url", "")), headers.get("location", "")):
        if "state=" in address or "code=" in address:
            yield from secrets_of_address(address).items()
    raw = captured.raw
    is_form = "x-www-form-urlencoded" in headers.get("content-type", "")
    if raw and len(raw) <= FORM_BYTES and (is_form or any(word in raw for word in _OF_REPLIES)):
        yield from secrets_of(fields_of(raw, headers.get("content-type", ""))).items()
