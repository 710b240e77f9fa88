"""Sentences for failed HTTP requests."""

import httpx2
import pytest

from tests.cases import each_case
from tui.host.transports import http_faults as faults


def response(status, body=b"", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    asked = httpx2.Request("POST", "https://h.example/mcp", headers=named.pop("sent", {}))
    found = httpx2.Response(status, headers=named, content=body, request=asked)
    return faults.refused(found, body)


@each_case(
    ("status", "words", "step"),
    [
        (401, "HTTP 401 (Unauthorized).", "Set an Authorization header under headers, or sign in."),
        (403, "HTTP 403 (Forbidden).", "The server refuses access."),
        (404, "HTTP 404 (Not Found).", "Check the URL"),
        (400, "HTTP 400 (Bad Request).", "rejected the request"),
        (429, "HTTP 429 (Too Many Requests).", "Try again later."),
        (503, "HTTP 503 (Service Unavailable).", "Try again later."),
        (500, "HTTP 500 (Internal Server Error).", "may have taken effect"),
        (202, "HTTP 202 (Accepted): the server accepted", "may have taken effect"),
        (299, "HTTP 299: the response has no content type", "MCP server"),
    ],
)
def test_a_status_is_reported_with_the_next_step(status, words, step):
    fault = response(status)
    assert fault.message.startswith(words)
    assert step in fault.next_step
    assert fault.status == status


def test_a_refusal_blames_credentials_only_if_some_were_sent():
    step = response(403, sent={"authorization": "Bearer x"}).next_step
    assert step.startswith("Your credentials do not permit this.")
    assert "credentials" not in response(403).next_step


def test_a_proxy_that_requires_credentials_is_named(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://p.example:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    fault = response(407)
    assert fault.message.startswith(
        "the proxy http://p.example:3128 (https_proxy) rejected the request: HTTP 407"
    )
    assert fault.next_step == "Add the credentials to https_proxy."


def test_a_long_body_is_cut_between_words_so_that_no_partial_secret_remains():
    body = b"first " + b"x" * 140 + b" configured-value-of-a-key"
    assert response(400, body, content_type="text/plain").message.endswith("xxx…”.")


def test_the_title_of_a_web_page_is_quoted():
    body = b"<html><title>Gone\x1b[2J fishing</title><body>much else</body></html>"
    fault = response(502, body, content_type="text/html")
    assert fault.message == "HTTP 502 (Bad Gateway): “Gone\N{SYMBOL FOR ESCAPE}[2J fishing”."


@each_case(
    ("body", "said"),
    [
        (b'{"error": "invalid_token", "error_description": "The token expired."}', "The token expired"),
        (b'{"error": {"code": -32000, "message": "No valid session ID"}}', "No valid session ID"),
        (b'{"status": 404, "title": "Not Found", "detail": "no route"}', "no route"),
        (b'{"message": "", "error": "gone"}', "gone"),
        (b'{"reason": "x"}', '{"reason": "x"}'),
        (b'{"error": {"a', '{"error": {"a'),
    ],
)
def test_the_message_in_json_is_quoted_in_a_response_and_in_an_event(body, said):
    fault = response(400, body, content_type="application/json")
    assert fault.message == f"HTTP 400 (Bad Request): “{said}”."
    assert faults.ended(200, said=body).message.startswith(f"HTTP 200: “{said}”: the event stream")


@pytest.mark.parametrize(
    ("method", "to", "said"),
    [
        ("GET", "https://other.example/x?token=1", "redirect to https://other.example/x not followed."),
        ("GET", "https://h.example/mcp", "redirect loop at https://h.example/mcp."),
        ("POST", "https://h.example/mcp", "redirect loop at https://h.example/mcp."),
        ("POST", "https://h.example/b", "redirect loop at https://h.example/b."),
    ],
)
def test_a_redirect_elsewhere_or_a_loop_is_named_with_its_address(method, to, said):
    asked = httpx2.Request("POST", "https://h.example/mcp")
    found = httpx2.Response(302, headers={"location": to}, request=asked)
    found.next_request = httpx2.Request(method, to)
    fault = faults.refused(found, b"")
    assert fault.message == f"HTTP 302 (Found): {said}"
    assert ("use that URL" in fault.next_step) is ("loop" not in said)


def test_a_404_of_a_server_that_responded_before_does_not_suggest_another_url():
    asked = httpx2.Request("POST", "https://h.example/mcp")
    fault = faults.refused(httpx2.Response(404, request=asked), b"", running=True)
    assert fault.message == "HTTP 404 (Not Found)."
    assert fault.next_step == faults.GONE and "no MCP server" not in fault.next_step


def test_after_a_429_the_time_at_which_the_limit_is_reset_is_waited_for():
    assert response(429, x_ratelimit_reset="7").wait == response(503, ratelimit_reset="7s").wait == 7
    assert response(429, x_ratelimit_reset="7", x_ratelimit_remaining="5").wait is None


def test_statuses_401_and_429_are_refusals_and_500_and_503_are_not():
    assert response(429, retry_after="2").wait == 2.0
    assert response(429, retry_after="0").next_step == faults.LATER
    assert response(429).refused and response(401).refused
    assert not response(503).refused and not response(500).refused
