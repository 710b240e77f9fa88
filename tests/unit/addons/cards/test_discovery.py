"""The catalogs of a domain: nested, looping, broken."""

from typing import Any

import pytest

from tests.card_server import CardServer, card, card_server, catalog, entry, nested
from tests.cases import each_case
from tests.http_server import reply
from tui.addons.cards import discovery as discovery_module
from tui.addons.cards.discovery import WELL_KNOWN, Found, discover, domain_of, load_address, load_card
from tui.addons.cards.documents import Documents, NoDocument
from tui.core.errors import ServerError, UsageError


@each_case(
    ("url", "origin"),
    [
        ("https://example.com", "https://example.com"),
        ("https://example.com:8443", "https://example.com:8443"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80"),
        ("https://example.com/", ""),
        ("https://example.com/mcp", ""),
        ("https://example.com?x", ""),
        ("https://example.com#x", ""),
        ("https://me@example.com", ""),
        ("http://example.com", ""),
        ("wss://example.com", ""),
        ("https://", ""),
        ("https://[", ""),
        ("https://h:99999", ""),
        ("example.com", ""),
    ],
)
def test_only_a_url_that_is_nothing_but_a_domain_is_looked_up(url: str, origin: str):
    assert domain_of(url) == origin


async def found(server: CardServer) -> Found:
    return await discover(server.origin, Documents(server.origin))


async def test_the_cards_of_nested_catalogs_are_found():
    async with card_server() as server:
        inline = nested("", data=catalog(entry("c", url="/c")))
        del inline["url"]
        server.documents[WELL_KNOWN] = catalog(entry("a", url="/a"), nested("/more"), inline)
        server.documents["/more"] = catalog(entry("b", data=card()), host={"displayName": "Inner"})
        seen = await found(server)
    assert [one.short for one in seen.cards] == ["a", "b", "c"]
    assert seen.catalogs == [server.origin + WELL_KNOWN, f"{server.origin}/more"] and seen.notes == []


async def test_a_catalog_that_names_itself_is_read_once():
    async with card_server() as server:
        server.documents[WELL_KNOWN] = catalog(nested("/more"), entry("a", url="/a"))
        server.documents["/more"] = catalog(nested(f"{WELL_KNOWN}#again"), nested("/more"))
        seen = await found(server)
    assert server.fetched == [WELL_KNOWN, "/more"]
    assert len(seen.cards) == 1 and any("names itself again" in note for note in seen.notes)


async def test_catalogs_are_read_four_deep():
    async with card_server() as server:
        server.documents = {f"/{level}": catalog(nested(f"/{level + 1}")) for level in range(9)}
        server.documents[WELL_KNOWN] = catalog(nested("/0"))
        seen = await found(server)
    assert server.fetched == [WELL_KNOWN, "/0", "/1", "/2"]
    assert [note.partition(" ")[2].partition(" ")[2] for note in seen.notes] == [
        f"{server.origin}/3 is nested too deeply"
    ]


async def test_a_wide_tree_of_catalogs_is_read_to_a_limit():
    async with card_server() as server:
        server.documents = {f"/{number}": catalog(entry(f"s{number}", url="/a")) for number in range(50)}
        server.documents[WELL_KNOWN] = catalog(*(nested(f"/{number}") for number in range(50)))
        seen = await found(server)
    assert len(server.asked) == 16 and len(seen.cards) == 15
    assert sum("more than 16 documents" in note for note in seen.notes) == 35


@pytest.mark.parametrize(
    ("broken", "note"),
    [
        (reply(b"<html>", kind="text/html"), "did not return JSON"),
        (reply(b"", "302 Found", location="https://elsewhere.example/"), "redirects to https://elsewhere"),
        (catalog(specVersion="2.0"), "version 2.0"),
        ({"entries": 5}, "no entries"),
    ],
)
async def test_a_broken_nested_catalog_is_left_out_with_the_reason(broken: Any, note: str):
    async with card_server() as server:
        server.documents = {WELL_KNOWN: catalog(nested("/more"), entry("a", url="/a")), "/more": broken}
        seen = await found(server)
    assert [one.short for one in seen.cards] == ["a"]
    assert len(seen.notes) == 1 and note in seen.notes[0]


async def test_a_nested_catalog_does_not_replace_a_card_of_the_domain():
    async with card_server() as server:
        server.documents[WELL_KNOWN] = catalog(nested("/more"), entry("a", url="/a", version="1.0"))
        server.documents["/more"] = catalog(entry("a", url="https://evil.example/", version="9.0"))
        seen = await found(server)
    assert [one.url for one in seen.cards] == [f"{server.origin}/a"]


async def test_a_domain_without_a_catalog_is_told_apart_from_a_broken_one():
    async with card_server() as server:
        with pytest.raises(NoDocument, match="HTTP 404"):
            await found(server)
        server.documents[WELL_KNOWN] = catalog(specVersion="3.0")
        with pytest.raises(UsageError, match=r"version 3\.0"):
            await found(server)


async def test_a_slow_lookup_ends_with_what_was_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(discovery_module, "ALL_SECONDS", 0.5)

    async def silent(*_: object) -> None:
        pass

    async with card_server() as server:
        server.documents[WELL_KNOWN] = catalog(entry("a", url="/a"), nested("http://127.0.0.1/more"))
        server.documents[WELL_KNOWN]["entries"][1]["url"] = "/more"
        usual = server.usual

        def stops(asked: Any) -> bytes:
            server.answers["GET"] = silent
            return usual(asked)

        monkeypatch.setattr(server, "usual", stops)
        seen = await found(server)
        assert [one.short for one in seen.cards] == ["a"] and "not all catalogs" in seen.notes[0]
        with pytest.raises(ServerError, match="no complete response within"):
            await found(server)


async def test_a_card_is_found_again_at_its_address():
    async with card_server() as server:
        server.documents["/a"] = card()
        server.documents[WELL_KNOWN] = catalog(entry("a", url="/a"), entry("b", data=card(version="7")))
        seen = await found(server)
        first, second = [(await load_card(one, Documents(server.origin))).version for one in seen.cards]
        assert [first, second] == [(await load_address(one.address)).version for one in seen.cards]
        assert (first, second) == ("2.1.0", "7")
        server.documents[WELL_KNOWN] = catalog()
        with pytest.raises(UsageError, match="no longer has the card"):
            await load_address(seen.cards[1].address)
