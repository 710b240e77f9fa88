"""What is taken out of details before they are stored."""

from tui.core.secrets.redact import Redactor
from tui.traffic.record.redaction import scrub


def kept_detail(detail: dict[str, object]) -> object:
    return scrub(detail, Redactor().redact_bytes)


def test_headers_with_credentials_and_secrets_in_urls_are_not_kept():
    detail = {
        "url": "https://ada:hunter2@h/mcp?token=hunter2&page=2",
        "headers": [["Mcp-Session-Id", "s1"], ["Location", "/in?session_id=s1"], ["Accept", "text/plain"]],
        "response_headers": {"X-Auth-Token": "s1", "Mcp-Protocol-Version": "2025-06-18"},
    }
    assert kept_detail(detail) == {
        "url": "https://ada:[redacted:password]@h/mcp?token=[redacted:token]&page=2",
        "headers": [
            ["Mcp-Session-Id", "[redacted:mcp-session-id]"],
            ["Location", "/in?session_id=[redacted:session_id]"],
            ["Accept", "text/plain"],
        ],
        "response_headers": {"X-Auth-Token": "[redacted:x-auth-token]", "Mcp-Protocol-Version": "2025-06-18"},
    }


def test_a_detail_that_was_redacted_once_stays_the_same():
    once = kept_detail({"url": "https://a:b@h/?key=x1", "headers": {"cookie": "a"}})
    assert kept_detail(dict(once)) == once  # type: ignore[call-overload]
