"""`mcptui add https://DOMAIN` and `mcptui config check --cards`, with a domain on loopback."""

from pathlib import Path
from typing import Any

import pytest

from tests.card_server import CardServer, card, card_server, catalog, entry
from tests.configurations import servers_in
from tests.http_server import reply
from tests.protocol.command import Done, doubtful, mcptui, python
from tests.protocol.doctor_setups import certificate
from tui.addons.cards.discovery import WELL_KNOWN

SECRET = "s3cret-71hQz9aaBB"
BEARER = {
    "name": "Authorization",
    "value": "Bearer {token}",
    "variables": {"token": {"isSecret": True, "isRequired": True, "description": "Your key"}},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


async def added(server: CardServer, file: Path, *words: str) -> Done:
    return await mcptui("add", server.origin, "--config", str(file), *words)


def write(file: Path, text: str) -> None:
    file.write_text(text)


def endpoint(server: CardServer, **more: Any) -> dict[str, Any]:
    return {"type": "streamable-http", "url": f"{server.origin}/mcp", **more}


async def test_the_server_of_a_domain_is_shown_and_added_only_after_confirmation(file: Path):
    async with card_server() as server:
        server.names(weather=card(f"{server.origin}/mcp", title="The \x1b[31mWeather\n[b]"))
        done = await added(server, file)
        assert done.code == 2 and "Add --yes." in done.err and not servers_in(file)
        for shown in (
            "Weather [b] 2.1.0 (com.example/weather)",
            f"typed by you  127.0.0.1   {server.origin}",
            f"catalog       127.0.0.1   {server.origin}{WELL_KNOWN}",
            f"card          127.0.0.1   {server.origin}/weather/server-card",
            f"server        127.0.0.1   {server.origin}/mcp",
            "Nothing above is verified",
        ):
            assert shown in done.out
        assert "\x1b" not in done.out
        done = await added(server, file, "--yes")
        assert done.code == 0 and server.methods() == ["GET"] * 4  # nothing connects
    assert servers_in(file) == {
        "weather": {
            "url": f"{server.origin}/mcp",
            "card": f"{server.origin}/weather/server-card",
            "source": "card",
        }
    }


async def test_hosts_elsewhere_and_hosts_that_imitate_others_are_marked(file: Path):
    async with card_server() as server:
        document = card("https://paypal.com.evil.example/mcp", version="1.x")
        server.documents[WELL_KNOWN] = catalog(entry("pay", data=document, version="9"))
        done = await added(server, file, "--dry-run")
    assert done.code == 0 and "   ! another domain" in done.out
    assert "! paypal.com.evil.example: It looks like paypal.com but belongs to evil.example." in done.out
    assert "! The card or catalog: its version “1.x” is a range" in done.out
    assert "! The card or catalog: the catalog names version “9”" in done.out
    assert f'card = "{server.origin}{WELL_KNOWN}#urn:air:example.com:mcp:pay"' in done.out


async def test_a_domain_is_asked_over_https_with_the_certificates_of_the_environment(file: Path):
    context = certificate(file.parent, "127.0.0.1")
    async with card_server(tls=context) as server:
        server.names(weather=card("https://mcp.example.com/mcp"))
        doubted = await python("-m", "tui", "add", server.origin, "--config", str(file), "--yes")
        assert doubted.code != 0 and "self" in doubted.err and server.asked == []
        trusted = str(file.parent / "cert.pem")
        done = await python(
            "-m", "tui", "add", server.origin, "--config", str(file), "--yes", SSL_CERT_FILE=trusted
        )
    assert done.code == 0 and servers_in(file)["weather"]["url"] == "https://mcp.example.com/mcp"


async def test_the_endpoint_of_the_current_transport_is_added(file: Path):
    async with card_server() as server:
        server.names(weather=card(remotes=[{**endpoint(server), "type": "sse"}, endpoint(server)]))
        done = await added(server, file, "--yes")
    assert done.code == 0 and "transport" not in servers_in(file)["weather"]


async def test_one_of_several_servers_is_named(file: Path):
    async with card_server() as server:
        here = f"{server.origin}/mcp"
        server.names(weather=card(here), news=card(here, name="com.example/news"))
        done = await added(server, file, "--yes")
        assert done.code == 2 and "names 2 servers. Choose one with --card NAME:\n  weather" in done.err
        assert server.fetched == [WELL_KNOWN]
        done = await added(server, file, "--yes", "--card", "gnu")
        assert done.code == 2 and "names no server “gnu”" in done.err
        done = await added(server, file, "--yes", "--card", "News")
        assert done.code == 0 and list(servers_in(file)) == ["news"]


async def test_a_thousand_servers_are_listed_briefly(file: Path):
    async with card_server() as server:
        names = (f"s{number}" for number in range(1000))
        server.documents[WELL_KNOWN] = catalog(*(entry(name, url="/a") for name in names))
        done = await added(server, file)
    assert done.code == 2 and "names 1000 servers" in done.err and "and 960 more" in done.err
    assert done.err.count("\n") < 60 and len(server.asked) == 1


async def test_values_are_asked_for_and_secrets_never_written_to_the_file(file: Path):
    async with card_server() as server:
        region = {"name": "X-Region", "choices": ["eu", "us"], "default": "eu"}
        server.names(weather=card(remotes=[endpoint(server, headers=[BEARER, region])]))
        done = await added(server, file, "--set", "X-Region=mars")
        assert done.code == 2 and "X-Region must be one of eu, us" in done.err
        done = await added(server, file, "--set", f"token={SECRET}", "--set", "X-Region=us", "--yes")
    assert done.code == 0 and SECRET not in done.out + done.err
    headers = servers_in(file)["weather"]["headers"]
    assert headers["X-Region"] == "us" and headers["Authorization"].startswith("Bearer ${file:")


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "\x1b[2J"])
async def test_a_value_cannot_add_a_header(file: Path, value: str):
    async with card_server() as server:
        server.names(weather=card(remotes=[endpoint(server, headers=[{"name": "X-A", "value": value}])]))
        fixed = await added(server, file, "--yes")
        server.names(weather=card(remotes=[endpoint(server, headers=[{"name": "X-A"}])]))
        typed = await added(server, file, "--yes", "--set", f"X-A={value}")
    for done in (fixed, typed):
        assert done.code == 2 and not servers_in(file) and value not in done.out + done.err


async def test_no_text_of_a_card_reads_a_variable_of_this_computer(file: Path):
    async with card_server() as server:
        listing = entry("a", data=card(f"{server.origin}/mcp")) | {"identifier": "${HOME}"}
        server.documents[WELL_KNOWN] = catalog(listing)
        done = await added(server, file, "--yes")
        assert done.code == 0 and servers_in(file)["weather"]["card"].endswith("#$${HOME}")
        for remote in (
            {"url": f"{server.origin}/${{HOME}}"},
            {"headers": [{"name": "A", "value": "${HOME}"}]},
        ):
            server.names(other=card(remotes=[endpoint(server, **remote)]))
            done = await added(server, file, "--yes")
            assert done.code == 2 and "“{HOME}” without a definition" in done.err


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (card(remotes=[]), "com.example/weather cannot be added: it names no endpoint"),
        (
            card(remotes=[{"type": "streamable-http", "url": "{url}", "variables": {"url": {}}}]),
            "com.example/weather cannot be added: its card leaves the whole address to you",
        ),
        (card("https://{tenant}.example/mcp"), "has “{tenant}” without a definition"),
        (card("http://example.com/mcp"), "whose address is not encrypted (http): http://example.com/mcp"),
        (card("https://me:word@example.com/mcp"), "whose address has a user name in it"),
        (card(name="x"), "has no valid name"),
        ({"name": "x"}, "is not a server card of version 1"),
        (reply(b"<html>", kind="text/html"), "did not return JSON (text/html)"),
        (reply(b"", "302 Found", location="https://elsewhere.example/"), "redirects to https://elsewhere"),
        (reply(b"", "404 Not Found"), "returned HTTP 404"),
    ],
)
async def test_a_card_that_cannot_be_used_is_refused_in_one_sentence(file: Path, document: Any, said: str):
    async with card_server() as server:
        server.names(weather=document)
        done = await added(server, file, "--yes")
    assert done.code != 0 and said in done.err and "Traceback" not in done.err and not servers_in(file)


async def test_a_catalog_without_server_cards_says_what_it_names(file: Path):
    async with card_server() as server:
        server.documents[WELL_KNOWN] = catalog(
            entry("a", url="/a") | {"type": "application/a2a-agent-card+json"}
        )
        done = await added(server, file)
    assert done.code == 2 and "names no server cards (1 entry of other types)" in done.err


@pytest.mark.parametrize("answer", [reply(b"", "404 Not Found"), reply(b"<html>", kind="text/html")])
async def test_without_a_catalog_the_address_itself_is_added(file: Path, answer: bytes):
    async with card_server() as server:
        server.documents[WELL_KNOWN] = answer
        done = await added(server, file, "--name", "root")
        assert done.code == 0 and "Adding the address as the URL of a server." in done.err
        assert servers_in(file) == {"root": {"url": server.origin}}
        done = await added(server, file, "--card", "x")
        assert done.code != 0 and ("did not return JSON" in done.err or "HTTP 404" in done.err)


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"", "302 Found", location="https://www.example.com/"),
        reply(b"", "503 Service Unavailable"),
        reply(b"{"),
    ],
)
async def test_a_broken_catalog_says_how_to_add_the_address_itself(file: Path, answer: bytes):
    async with card_server() as server:
        server.documents[WELL_KNOWN] = answer
        done = await added(server, file, "--yes")
    assert done.code != 0 and not servers_in(file)
    assert f"If the server is at this address, write {server.origin}/" in done.err


async def test_a_url_with_a_path_or_headers_is_added_without_a_lookup(file: Path):
    async with card_server() as server:
        for number, words in enumerate((["/"], ["/mcp"], ["", "--header", "X: y"])):
            target = ("add", server.origin + words[0], "--config", str(file), "--name", f"s{number}")
            done = await mcptui(*target, *words[1:])
            assert done.code == 0, done
        done = await mcptui("add", f"{server.origin}/mcp", "--config", str(file), "--card", "x")
        assert done.code == 2 and "--card requires a domain" in done.err
        assert server.asked == []


async def test_a_card_is_compared_with_the_server():
    async with card_server() as server:
        server.names(weather=card(f"{server.origin}/mcp"))
        await mcptui("add", server.origin, "--yes")
        check = ("config", "check")
        asked = len(server.asked)
        done = await mcptui(*check)
        assert "1 server with a server card. Compare: `mcptui config check --cards`" in done.out
        assert len(server.asked) == asked  # nothing is contacted
        done = await mcptui(*check, "--cards")
        assert done.code == 0
        assert "weather: differs from its card in 1 point:\n" in done.out
        assert "  version: the card says 2.1.0, the server 3.0.0" in done.out
        server.names(weather=card(f"{server.origin}/mcp", version="3.0.0"))
        done = await mcptui(*check, "--cards")
        assert "weather: OK: its card says the same" in done.out
        later = [endpoint(server, supportedProtocolVersions=["2026-07-28", "2027-01-01"])]
        server.names(weather=card(version="3.0.0", remotes=later))
        done = await mcptui(*check, "--cards")
        words = "protocol versions: the card says 2026-07-28, 2027-01-01, the server 2026-07-28\n"
        assert words in done.out
        server.documents = {}
        done = await mcptui(*check, "--cards")
        assert done.code == 0 and "weather: its card cannot be read: " in done.out and "HTTP 404" in done.out


async def test_a_card_in_a_file_from_elsewhere_is_not_read(file: Path):
    async with card_server() as server:
        write(file, f'[servers.weather]\nurl = "{server.origin}/mcp"\ncard = "{server.origin}/card"\n')
        done = await doubtful("config", "check", "--cards", "--config", str(file))
        assert "servers.weather.card" in done.out and "cards: nothing to compare" in done.out
        assert server.asked == []
