"""The text of an HTTP library's error never has the line of the other side that the library quotes."""

import h11
import httpx2
import pytest

from tui.core.web import http_error_text


def error_of(said: bytes) -> h11.RemoteProtocolError:
    """Return the error of the library that reads HTTP/1.1 for the start of a response."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(said)
    with pytest.raises(h11.RemoteProtocolError) as caught:
        connection.next_event()
    return caught.value


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (b"HTTP/1.1 200 OK\r\nset-cookie: sid=canary\0\r\n\r\n", "illegal header line"),
        (b"HTTP/1.1 200 OK\r\nset-cookie: sid='canary\0\"\r\n\r\n", "illegal header line"),
        (b"HTTP/1.1 200 OK\r\nx: 1\r\n \0canary\r\n\r\n", "illegal header line"),
        (b"sid: canary\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: canary\r\n\r\n", "bad Content-Length"),
    ],
)
def test_a_quoted_header_or_status_line_is_omitted(said: bytes, text: str) -> None:
    assert http_error_text(error_of(said)) == text


@pytest.mark.parametrize("text", ["Server disconnected", "All connection attempts failed", "web: b is gone"])
def test_other_texts_are_kept(text: str) -> None:
    assert http_error_text(httpx2.ConnectError(text)) == text


def test_an_error_without_a_text_is_named() -> None:
    assert http_error_text(httpx2.ReadTimeout("")) == "ReadTimeout"
