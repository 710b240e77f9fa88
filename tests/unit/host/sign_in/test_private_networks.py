"""Names of a public server that lead into a private network."""

import socket
from typing import Any

import httpx2
import pytest

from tests.protocol.oauth_server import OAuthServer
from tui.host.frames.tap import WireTap
from tui.host.sign_in.authorization_server import OAuthExchange, SignInFailed
from tui.host.sign_in.private_networks import PrivateAddress, public_only
from tui.host.transports.http_client import RoutedTransport, open_client

PUBLIC = "https://mcp.example/mcp"


class Stream:
    """A connection to an address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.closed = False

    def get_extra_info(self, name: str) -> tuple[str, int]:
        return {"server_addr": (self._address, 443)}[name]

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def leads(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What each name leads to."""
    names: dict[str, list[str]] = {"mcp.example": ["93.184.216.34"]}

    def found(host: str, port: int, *_: object, **__: object) -> list[Any]:
        if host not in names:
            raise socket.gaierror
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in names[host]]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    return names


async def opened(stream: Stream) -> None:
    """Open a connection for a public server."""
    await public_only("https://auth.example/", PUBLIC)["trace"](
        "connection.connect_tcp.complete", {"return_value": stream}
    )


async def test_a_sign_in_is_not_sent_to_a_name_in_a_private_network(leads: dict[str, list[str]]) -> None:
    leads["auth.example"] = ["127.0.0.1"]
    async with OAuthServer() as server, open_client(RoutedTransport(), {}) as client:
        tap = WireTap("safe", lambda captured: None)
        exchange = OAuthExchange(PUBLIC, client, tap=tap, remember=lambda _: None)
        address = f"https://auth.example:{server.port}/token"
        with pytest.raises(SignInFailed) as caught:
            await exchange.send(httpx2.Request("POST", address, data={"a": "b"}))
        said = f"its sign-in URL leads to 127.0.0.1, in a private network: {address}. It was not used."
        assert said in str(caught.value) and server.requests == []


async def test_an_authorization_server_that_the_user_configured_may_be_in_a_private_network(
    leads: dict[str, list[str]],
) -> None:
    leads["auth.example"] = ["127.0.0.1"]
    async with OAuthServer() as server, open_client(RoutedTransport(), {}) as client:
        address = f"https://auth.example:{server.port}"
        tap = WireTap("safe", lambda captured: None)
        exchange = OAuthExchange(PUBLIC, client, tap=tap, remember=lambda _: None, issuer=address)
        with pytest.raises(SignInFailed, match="cannot connect") as caught:  # the server has no TLS
            await exchange.send(httpx2.Request("GET", f"{address}/token"))
    assert "private" not in str(caught.value)


async def test_a_connection_to_another_address_than_the_first_lookup_gave_is_closed_unused(
    leads: dict[str, list[str]],
) -> None:
    stream = Stream("192.168.1.1")
    with pytest.raises(PrivateAddress, match=r"192\.168\.1\.1"):
        await opened(stream)
    assert stream.closed


async def test_a_server_whose_own_name_leads_into_a_private_network_may_name_others_there(
    leads: dict[str, list[str]],
) -> None:
    leads["mcp.example"] = ["10.1.2.3"]
    stream = Stream("10.1.2.4")
    await opened(stream)
    assert not stream.closed


@pytest.mark.parametrize("own", [["10.1.2.3", "93.184.216.34"], []])
async def test_a_server_that_is_only_partly_in_a_private_network_may_not(
    leads: dict[str, list[str]], own: list[str]
) -> None:
    leads["mcp.example"] = own
    with pytest.raises(PrivateAddress):
        await opened(Stream("10.1.2.4"))


def test_nothing_is_checked_for_a_server_in_a_private_network() -> None:
    assert public_only("https://auth.example/", "http://127.0.0.1/mcp") == {}
