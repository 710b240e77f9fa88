"""An error reads as a sentence: where, what, and the next step."""

import asyncio
import json
import socket
import ssl
import tomllib
import zlib
from collections.abc import Callable
from typing import Any

import h11
import httpx2
import pydantic
import pytest

from tests.cases import each_case
from tui.core.errors import ModelError, ServerError, as_sentences, reason_of


def test_an_error_names_where_what_and_the_next_step_once():
    error = ModelError("connection refused", where="ollama", next_step="Start it with `ollama serve`.")
    assert str(error) == "ollama: connection refused. Start it with `ollama serve`."
    assert reason_of(ServerError("is not running.", where="weather")) == "weather: is not running"
    assert str(ModelError("nothing came")) == "nothing came"
    assert str(ModelError("nasty exited with code 1.", where="nasty")) == "nasty exited with code 1."
    assert str(ModelError("nastyness", where="nasty")) == "nasty: nastyness"


def test_each_of_several_problems_becomes_a_sentence():
    assert as_sentences(["`a` is missing.", "`b`: not a color"]) == "`a` is missing. `b`: not a color"
    assert as_sentences(["did you mean “command”?", "no url"]) == "did you mean “command”? no url"


def caught(action: Callable[[], Any]) -> BaseException:
    """Return the error that an action raises."""
    with pytest.raises(Exception) as found:
        action()
    return found.value


def http_error(said: bytes) -> BaseException:
    """Return the error of the library that reads HTTP/1.1 for the start of a response."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(said)
    return caught(connection.next_event)


class Weather(pydantic.BaseModel):
    """A model for faults of validation."""

    city: str
    days: int


def wrapped(inner: Exception) -> Exception:
    """Return an error of the HTTP library around another one, as it raises them."""
    outer = httpx2.ConnectError("All connection attempts failed")
    outer.__cause__ = OSError("All connection attempts failed")
    outer.__cause__.__cause__ = inner
    return outer


HEADER_LINE = "a header line of the response is not valid HTTP"


@each_case(
    ("said", "text"),
    [
        (b"HTTP/1.1 200 OK\r\nset-cookie: sid=canary\0\r\n\r\n", HEADER_LINE),
        (b"HTTP/1.1 200 OK\r\nset-cookie: sid='canary\0\"\r\n\r\n", HEADER_LINE),
        (b"HTTP/1.1 200 OK\r\nx: 1\r\n \0canary\r\n\r\n", HEADER_LINE),
        (b"sid: canary\r\n\r\n", "the first line of the response is not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: a\r\n\r\n", "the Content-Length of the response is invalid"),
    ],
)
def test_a_line_that_the_http_library_quotes_is_omitted(said: bytes, text: str) -> None:
    assert reason_of(http_error(said)) == text


@each_case(
    ("text", "reason"),
    [
        ("", "a value is missing at line 1, column 1"),
        ("{a}", "a name in double quotes is missing at line 1, column 2"),
        ('{"a" 1}', "a colon is missing at line 1, column 6"),
        ("[1 2]", "a comma is missing at line 1, column 4"),
        ("1 2", "text after the end of the value at line 1, column 3"),
        ('"a', "a string is not closed at line 1, column 1"),
        ('"\\q"', "an invalid escape sequence in a string at line 1, column 2"),
        ("1" * 5000, "a number has too many digits"),
    ],
)
def test_what_is_wrong_in_json_is_said_with_its_place(text: str, reason: str) -> None:
    assert reason_of(caught(lambda: json.loads(text))) == reason


@each_case(
    ("text", "reason"),
    [
        ("a", "= is missing after a key at the end of the file"),
        ("[a", "] is missing after the name of a table at the end of the file"),
        ("a = 1 b = 2", "text after a value at line 1, column 7"),
        ("[a]\n[a]", "a table appears twice at line 2, column 3"),
        ('a = "x', "a string is not closed at the end of the file"),
        ("a = yes", "invalid value at line 1, column 5"),
    ],
)
def test_what_is_wrong_in_toml_is_said_with_its_place(text: str, reason: str) -> None:
    assert reason_of(caught(lambda: tomllib.loads(text))) == reason


def test_a_fault_of_validation_names_the_field_and_the_rule() -> None:
    assert reason_of(caught(lambda: Weather.model_validate({"days": 1}))) == "city is missing"
    wrong = {"city": "Oslo", "days": "x"}
    assert reason_of(caught(lambda: Weather.model_validate(wrong))) == "days must be an integer"
    assert reason_of(caught(lambda: Weather.model_validate([]))) == "the response must be an object"


@each_case(
    ("error", "reason"),
    [
        (wrapped(ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 9)")), "Connection refused"),
        (wrapped(socket.gaierror(-2, "Name or service not known")), "the host name cannot be resolved"),
        (httpx2.ConnectError("All connection attempts failed"), "no connection could be opened"),
        (httpx2.ReadTimeout(""), "no response in time"),
        (httpx2.RemoteProtocolError("something new"), "the other side violates the protocol"),
        (httpx2.ProxyError("407 Proxy Authentication Required"), "HTTP 407 Proxy Authentication Required"),
        (httpx2.DecodingError("Error -3 while decompressing data"), "the compressed data is damaged"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1000)"), "TLS"),
        (caught(lambda: zlib.decompress(b"xxxx")), "the compressed data is damaged"),
        (caught(lambda: b"ab\xff".decode()), "byte 2 is not valid UTF-8"),
        (PermissionError(13, "Permission denied", "/etc/shadow"), "Permission denied"),
        (TimeoutError(), "no response in time"),
        (asyncio.IncompleteReadError(b"", 5), "it ended early"),
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
        (ExceptionGroup("unhandled errors in a TaskGroup", [EOFError()]), "it ended early"),
    ],
)
def test_an_error_of_a_library_or_of_the_system_has_a_reason(error: BaseException, reason: str) -> None:
    assert reason in reason_of(error)
    assert "Errno" not in reason_of(error) and "_ssl" not in reason_of(error)
