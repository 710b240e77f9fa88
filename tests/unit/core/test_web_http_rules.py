"""Valid URLs and headers."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.web import header_name_fault, header_value_fault, is_host, url_fault


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "x_y.z", "Host", "Te2"])
def test_a_token_is_a_valid_header_name(name: str):
    assert header_name_fault(name) == ""


@pytest.mark.parametrize("name", ["", "Bad Name", "X-Ü", "A:", "A\n", "X\x00"])
def test_a_name_that_is_not_a_token_is_rejected(name: str):
    assert "not a valid HTTP header name" in header_name_fault(name)


@pytest.mark.parametrize(
    "name", ["Content-Length", "transfer-encoding", "CONNECTION", "TE", "Upgrade", "Keep-Alive"]
)
def test_connection_headers_cannot_be_configured(name: str):
    assert "set by mcptui" in header_name_fault(name)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("tok…en", "non-ASCII"),
        ("ü", "non-ASCII"),
        ("a\nb", "line break"),
        ("a\r\n", "line break"),
        ("\x7f", "control"),
    ],
)
def test_a_value_that_cannot_be_sent_is_explained_without_showing_it(value: str, why: str):
    assert why in header_value_fault(value)
    assert value not in header_value_fault(value)


@pytest.mark.parametrize("value", ["", "Bearer a.b-c=", "a\tb", "Bearer "])
def test_printable_ascii_is_a_valid_header_value(value: str):
    assert header_value_fault(value) == ""


@given(st.text(max_size=8))
def test_every_accepted_header_value_can_be_encoded(value: str):
    if not header_value_fault(value):
        httpx2.Headers({"X": value})


@pytest.mark.parametrize(
    "url",
    [
        "https://h",
        "http://127.0.0.1:8000/mcp?a=b c",
        "http://[::1]:80/mcp",
        "wss://a_b.example.com./x",
        "https://bücher.example/mcp",
        "https://${HOST}:${PORT:-80}/mcp",
        "https://u:p@h/mcp#x",
        "http://localhost:1",
    ],
)
def test_valid_urls_are_accepted(url: str):
    assert url_fault(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://exa mple.com",
        "https://evil%2F..%40x/sse",
        "https://a..b/",
        "https://${A}%2F.b/",
        "https://a*b.c",
        "https://☃.com",
        "https://ａ.com",
        "https://h/a\nb",
        " https://h",
        "https://h:port",
        "https://",
        "ftp://h",
        "h",
        "http://[::1",
        "https://a\\b",
    ],
)
def test_invalid_urls_are_rejected(url: str):
    assert url_fault(url).startswith("must be a URL")


@pytest.mark.parametrize(
    ("host", "whether"), [("a" * 64, False), ("a" * 63, True), ("::1", True), (":x", False), ("", False)]
)
def test_a_host_is_a_name_or_an_ip_address(host: str, whether: bool):
    assert is_host(host) is whether


def test_a_port_out_of_range_is_named():
    assert "port" in url_fault("http://localhost:99999/x")
    assert "port" not in url_fault("http:///x")
