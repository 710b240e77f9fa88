"""Fetches catalogs and cards: public documents, from addresses that a stranger may have chosen.

Only https, within one origin, to public addresses, without cookies or credentials, up to a size and a time.
"""

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tui.core.errors import ServerError, reason_of
from tui.core.jsonrpc.reader import json_value
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean_line
from tui.core.units import size
from tui.core.web import address_fault, host_of, is_private, media_type, proxy_for, proxy_problem
from tui.host.transports.http_client import RoutedTransport, open_client, redirect_target, send_within_origin

SECONDS = 5.0
ALL_SECONDS = 20.0
"""Maximum time of one lookup, with all its documents."""

MAX_BYTES = 256 * 1024
MAX_DOCUMENTS = 16
_NOTHING = object()


class NoDocument(ServerError):
    """The server responds, but has no JSON document there."""


class PrivateAddress(httpx2.ConnectError):
    """A public name leads to a private address."""


class Documents:
    """The documents of one lookup, which the user started for the domain of `start`, a URL.

    A domain in a private network may name addresses there. Each document is fetched once.
    """

    def __init__(self, start: str) -> None:
        self._start = start
        self._is_local = is_private(host_of(start))
        self._left = MAX_DOCUMENTS

    def fault(self, url: str) -> str:
        """Return why an address is not used, or ""."""
        try:
            return address_fault(url, self._start) or ("" if urlsplit(url).hostname else "has no host")
        except ValueError:
            return "is not a URL"

    async def get(self, url: str, accept: str) -> Any:
        """Return the JSON value at an address. Raises ServerError, NoDocument if it has none."""
        where = clean_line(masked(url), 300)
        if fault := self.fault(url):
            raise ServerError(f"{fault}. It was not contacted.", where=where)
        if self._left <= 0:
            raise ServerError(f"not fetched: more than {MAX_DOCUMENTS} documents.", where=where)
        self._left -= 1
        try:
            async with asyncio.timeout(SECONDS):
                return await self._fetched(url, accept, where)
        except TimeoutError:
            raise ServerError(f"no complete response within {SECONDS:g} s.", where=where) from None
        except PrivateAddress as error:
            raise ServerError(f"{error}. It was not contacted.", where=where) from None
        except httpx2.HTTPError as error:
            problem, step = proxy_problem(error, url, "it") or (f"cannot connect: {reason_of(error)}", "")
            raise ServerError(f"{problem}.", where=where, next_step=step) from error
        except (httpx2.InvalidURL, UnicodeError):
            raise ServerError("is not a URL.", where=where) from None

    async def _fetched(self, url: str, accept: str, where: str) -> Any:
        async with open_client(RoutedTransport(), {"accept": f"{accept}, application/json"}) as client:
            client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
            request = client.build_request("GET", url)
            if not self._is_local and proxy_for(url) is None:  # a proxy resolves names itself
                request.extensions = {**request.extensions, "trace": _public_only}
            response = await send_within_origin(client, request)
            try:
                if onward := redirect_target(response):
                    said = clean_line(onward, 200)
                    raise ServerError(f"redirects to {said}, which was not contacted.", where=where)
                if response.status_code != httpx2.codes.OK:
                    raise NoDocument(f"returned HTTP {response.status_code}.", where=where)
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise ServerError("returned a compressed document, which was not requested.", where=where)
                body = bytearray()
                async for block in response.aiter_raw():
                    body += block
                    if len(body) > MAX_BYTES:
                        raise ServerError(f"returned more than {size(MAX_BYTES)}.", where=where)
            finally:
                await response.aclose()
        if (found := json_value(body, _NOTHING)) is _NOTHING:
            kind = clean_line(media_type(response.headers.get("content-type", "")), 60) or "no type"
            raise NoDocument(f"did not return JSON ({kind}).", where=where)
        return found


async def _public_only(event: str, about: Mapping[str, Any]) -> None:
    """Refuse a connection to a private address: before it is opened, and before anything is sent."""
    if event.endswith("connect_tcp.started"):
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):  # whoever connects reports it
            found = await loop.getaddrinfo(about["host"], about["port"], type=socket.SOCK_STREAM)
            _refuse(*(str(place[0]) for *_, place in found))
    elif event.endswith("connect_tcp.complete"):
        stream = about["return_value"]
        place = stream.get_extra_info("server_addr")
        try:
            _refuse(str(place[0]) if place else "")
        except PrivateAddress:
            await stream.aclose()
            raise


def _refuse(*addresses: str) -> None:
    if private := next(filter(is_private, addresses), ""):
        raise PrivateAddress(f"its name leads to {clean_line(private, 60)}, in a private network")
