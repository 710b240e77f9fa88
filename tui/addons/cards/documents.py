"""Fetches catalogs and cards: public documents, from addresses that a stranger may have chosen.

Only https, within one origin, to public addresses, without cookies or credentials, up to a size and a time.
"""

import asyncio
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tui.core.errors import ServerError, reason_of
from tui.core.http_waits import is_down
from tui.core.jsonrpc.reader import json_value
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean_line
from tui.core.units import size
from tui.core.web import address_fault, joined, media_type, proxy_problem
from tui.host.sign_in.private_networks import PrivateAddress, public_only
from tui.host.transports.http_client import (
    RoutedTransport,
    open_client,
    redirect_target,
    redirects_to_itself,
    send_within_origin,
)

SECONDS = 5.0
ALL_SECONDS = 20.0
"""Maximum time of one lookup, with all its documents."""

MAX_BYTES = 256_000
MAX_DOCUMENTS = 16
_NOTHING = object()


class NoDocument(ServerError):
    """The server responds, but has no JSON document there."""


class Documents:
    """The documents of one lookup, which the user started for the domain of `start`, a URL.

    A domain in a private network may name addresses there. Each document is fetched once.
    """

    def __init__(self, start: str) -> None:
        self._start = start
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
            request.extensions = {**request.extensions, **public_only(url, self._start)}
            response = await send_within_origin(client, request)
            try:
                _require_document(response, where)
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise ServerError("returned a compressed document, which was not requested.", where=where)
                if (body := await joined(response.aiter_raw(), MAX_BYTES)) is None:
                    raise ServerError(f"returned more than {size(MAX_BYTES)}.", where=where)
            finally:
                await response.aclose()
        if (found := json_value(body, _NOTHING)) is _NOTHING:
            kind = clean_line(media_type(response.headers.get("content-type", "")), 60) or "no type"
            if kind.endswith("json"):
                raise ServerError(f"returned invalid JSON ({kind}).", where=where)
            raise NoDocument(f"did not return JSON ({kind}).", where=where)
        return found


def _require_document(response: httpx2.Response, where: str) -> None:
    """Raise NoDocument if a response says that there is none, ServerError for any other one without one."""
    if redirects_to_itself(response):
        raise ServerError("redirects too often within its own address.", where=where)
    if onward := clean_line(redirect_target(response), 200):
        raise ServerError(f"redirects to {onward}, which was not contacted.", where=where)
    if response.is_client_error and not is_down(response.status_code):
        raise NoDocument(f"returned HTTP {response.status_code}.", where=where)
    if response.status_code != httpx2.codes.OK:
        step = "Try again later." if is_down(response.status_code) else ""
        raise ServerError(f"returned HTTP {response.status_code}.", where=where, next_step=step)
