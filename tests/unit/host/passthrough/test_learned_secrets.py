"""Credentials that only travel are redacted from then on."""

from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction
from tui.host.passthrough.learned_secrets import LearnedSecrets


def captured(raw=b"", **detail):
    return Captured("far", Direction.IN, 0, 0, raw, detail=detail)


def test_session_ids_and_tokens_of_headers_and_urls_are_learned():
    redactor, seen = Redactor(), []
    sink = LearnedSecrets(seen.append, redactor)
    sink(captured(headers=[["Mcp-Session-Id", "5e55-10n-1d-42"], ["Authorization", "Bearer b34r3r-t0k3n"]]))
    sink(captured(url="https://h.example/mcp?api_key=k3y-in-query"))
    sink(captured(b"/messages?session_id=4b5c6d7e8f", sse={"event": "endpoint"}))
    text = "5e55-10n-1d-42 b34r3r-t0k3n k3y-in-query 4b5c6d7e8f"
    hidden = redactor.redact(text)
    assert not any(secret in hidden for secret in text.split())
    assert len(seen) == 3


def test_the_pause_that_a_sink_asks_for_is_passed_on():
    class Crowded(list):
        def __call__(self, item):
            self.append(item)

        def crowded(self):
            return True

    assert LearnedSecrets(Crowded(), Redactor()).crowded()
    assert not LearnedSecrets([].append, Redactor()).crowded()
