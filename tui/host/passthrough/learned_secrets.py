"""A sink that has credentials redacted which only travel: session ids, cookies, tokens in headers and URLs.

They may be repeated in bodies, where nothing tells them from other text.
"""

from typing import TYPE_CHECKING

from tui.core.secrets.places import is_secret_header, secrets_in_arguments
from tui.core.traffic import Captured, TrafficSink

if TYPE_CHECKING:
    from tui.core.secrets.redact import Redactor

MOST_LEARNED = 50
"""Credentials to redact in bodies. Each makes redaction a little slower."""

ENDPOINT_CHARS = 4096


class LearnedSecrets:
    """Passes everything on to `sink`, after `redactor` has learned what is in it."""

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
        for number, value in secrets_in_arguments(list(texts.values())):
            if value not in self._known and len(self._known) < MOST_LEARNED:
                self._known.add(value)
                self._redactor.add({names[number]: value})
