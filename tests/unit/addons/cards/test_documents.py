"""Fetching documents from hostile addresses."""

import asyncio
import gzip
import socket
import threading
from typing import Any

import pytest

from tests.card_server import CardServer, card_server
from tests.http_server import Asked, reply
from tui.addons.cards import documents as documents_module
from tui.addons.cards.documents import MAX_DOCUMENTS, Documents, NoDocument
from tui.core.errors import ServerError

JSON = "application/json"


async def got(server: CardServer, path: str = "/x") -> Any:
    return await Documents(server.origin).get(server.origin + path, JSON)


async def test_a_document_is_fetched_without_cookies_and_credentials():
    async with card_server() as server:
        server.documents = {
            "/x": reply(b"", "302 Found", location="/y", set_cookie="sid=1; Path=/"),
            "/y": reply(b"[1]"),
        }
        assert await got(server) == [1]
    assert server.fetched == ["/x", "/y"]
    for asked in server.asked:
        assert not {"cookie", "authorization", "referer"} & set(asked.headers)
        assert asked.headers["accept"].startswith(JSON)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (reply(b"", "404 Not Found"), "returned HTTP 404"),
        (reply(b"", "401 Unauthorized"), "returned HTTP 401"),
        (reply(b"<html>", kind="text/html"), r"did not return JSON \(text/html\)"),
        (reply(b"\x89PNG", kind="image/png"), r"did not return JSON \(image/png\)"),
        (reply(b"", kind=""), r"did not return JSON \(no type\)"),
    ],
)
async def test_a_response_without_a_document_is_reported_in_one_sentence(answer: bytes, said: str):
    async with card_server() as server:
        server.documents["/x"] = answer
        with pytest.raises(NoDocument, match=said):
            await got(server)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            reply(b"", "302 Found", location="https://elsewhere.example/x?k=1"),
            "redirects to https://elsewhere",
        ),
        (
            reply(b"", "302 Found", location="http://127.0.0.1:1/x"),
            "redirects to http://127.0.0.1:1/x, which",
        ),
        (reply(b"", "302 Found", location="/x"), "redirects too often within its own address"),
        (reply(b"", "301 Moved Permanently"), "returned HTTP 301"),
        (reply(b"", "503 Service Unavailable"), "returned HTTP 503. Try again later"),
        (reply(b"", "429 Too Many Requests"), "returned HTTP 429. Try again later"),
        (reply(b"[" * 100_000), r"returned invalid JSON \(application/json\)"),
        (reply(b'{"a": "\xff"}', kind="application/ai-catalog+json"), "returned invalid JSON"),
        (reply(gzip.compress(b"1"), content_encoding="gzip"), "compressed"),
        (reply(b" " * 300_000), "returned more than 256 kB"),
        (b"HTTP/1.1 200 OK\r\nx: \0\r\n\r\n", "cannot connect"),
    ],
)
async def test_a_response_that_cannot_be_used_is_reported_in_one_sentence(answer: bytes, said: str):
    async with card_server() as server:
        server.documents["/x"] = answer
        with pytest.raises(ServerError, match=said) as caught:
            await got(server)
    assert not isinstance(caught.value, NoDocument) and "k=1" not in str(caught.value)


async def test_an_endless_body_is_cut_off():
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" " * 65536)
            await writer.drain()

    async with card_server() as server:
        server.answers["GET"] = endless
        with pytest.raises(ServerError, match="returned more than 256 kB"):
            await got(server)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
async def test_a_body_that_drips_times_out(monkeypatch: pytest.MonkeyPatch, head: bytes):
    monkeypatch.setattr(documents_module, "SECONDS", 0.1)

    async def dripping(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await writer.drain()

    async with card_server() as server:
        server.answers["GET"] = dripping
        with pytest.raises(ServerError, match="no complete response within"):
            await got(server)


async def test_the_number_of_documents_is_limited():
    async with card_server() as server:
        server.documents["/x"] = 1
        documents = Documents(server.origin)
        for _ in range(MAX_DOCUMENTS):
            await documents.get(f"{server.origin}/x", JSON)
        with pytest.raises(ServerError, match="more than 16 documents"):
            await documents.get(f"{server.origin}/x", JSON)
    assert len(server.asked) == MAX_DOCUMENTS


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.com/x", "not encrypted"),
        ("https://127.0.0.1/x", "in a private network"),
        ("https://10.0.0.1/x", "in a private network"),
        ("https://169.254.169.254/latest/meta-data", "in a private network"),
        ("https://[fd00::1]/x", "in a private network"),
        ("https://printer.local/x", "in a private network"),
        ("https://localhost/x", "in a private network"),
        ("https://user:hunter2@example.com/x", "user name"),
        ("file:///etc/passwd", "not an https URL"),
        ("https:///x", "no host"),
        ("https://[", "not a URL"),
    ],
)
async def test_a_document_of_a_public_domain_is_not_fetched_from_elsewhere(url: str, said: str):
    with pytest.raises(ServerError, match=said) as caught:
        await Documents("https://example.com").get(url, JSON)
    assert "not contacted" in str(caught.value) and "hunter2" not in str(caught.value)


def leads(monkeypatch: pytest.MonkeyPatch, **names: str) -> None:
    """Let `NAME.example` lead to an address."""
    known = {f"{name}.example": address for name, address in names.items()}

    def found(host: str, port: int, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", found)


async def test_a_public_name_that_leads_to_this_computer_is_not_contacted(monkeypatch: pytest.MonkeyPatch):
    leads(monkeypatch, domain="93.184.216.34", card="127.0.0.1")
    async with card_server() as server:
        with pytest.raises(ServerError, match=r"leads to 127\.0\.0\.1, in a private network.*not contacted"):
            await Documents("https://domain.example").get(f"https://card.example:{server.port}/x", JSON)
        assert server.asked == []


async def test_a_name_lookup_that_takes_too_long_delays_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documents_module, "SECONDS", 0.2)
    looked, ends = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> list[Any]:
        looked.set()
        ends.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    def get() -> None:
        asyncio.run(Documents("https://slow.example").get("https://slow.example/x", JSON))

    with pytest.raises(ServerError, match="no complete response within"):
        await asyncio.wait_for(asyncio.to_thread(get), 10)
    assert looked.is_set()
    ends.set()
