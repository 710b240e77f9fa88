"""Keeps requests out of private networks if a server on the internet chose their address.

`core.web.is_private` knows how a host is written. Here, the addresses that its name leads to count, before a
connection is opened and again before anything is sent.
"""

import socket
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tui.core.background import in_daemon_thread
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.web import host_of, is_private, proxy_for


class PrivateAddress(httpx2.ConnectError):
    """A public name leads to a private address."""

    def __init__(self, address: str) -> None:
        super().__init__(message("its name leads to {address}, in a private network", address=address))
        self.fault = message("leads to {address}, in a private network", address=address)


def public_only(url: str, start: str) -> dict[str, Any]:
    """Return extensions of a request to `url` that fail it with PrivateAddress if it leads to a private one.

    `start` is the server or domain that chose the address. One in a private network may choose others there.
    A proxy resolves names itself, so they are not resolved here.
    """
    if is_private(host_of(start)) or proxy_for(url) is not None:
        return {}
    return {"trace": partial(_refuse, start)}


async def _refuse(start: str, event: str, about: Mapping[str, Any]) -> None:
    if event.endswith("connect_tcp.started"):
        await _check(start, *await _addresses(about["host"], about["port"]))
    elif event.endswith("connect_tcp.complete"):
        stream = about["return_value"]
        place = stream.get_extra_info("server_addr")
        try:
            await _check(start, str(place[0]) if place else "")
        except PrivateAddress:
            await stream.aclose()
            raise


async def _check(start: str, *addresses: str) -> None:
    private = next(filter(is_private, addresses), "")
    if not private:
        return
    parts = urlsplit(start)
    own = await _addresses(parts.hostname or "", parts.port or 443)
    if not own or not all(map(is_private, own)):
        raise PrivateAddress(clean_line(private, 60))


async def _addresses(host: str, port: int) -> list[str]:
    """Return what a name leads to; [] if that is unknown: whoever connects reports why."""

    def found() -> list[str]:
        try:
            return [str(place[0]) for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError):
            return []

    # A thread that nothing waits for: a lookup can take longer than the request may.
    return await in_daemon_thread("name lookup", found)
