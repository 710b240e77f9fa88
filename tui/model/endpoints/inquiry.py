"""Small questions to an endpoint beside the chat: JSON comes back, bounded in time and in size."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from tui.core.errors import ModelError
from tui.model.endpoints import endpoint_errors as errors
from tui.model.endpoints.address import NO_KEY, usable_key, usable_url
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import is_private, provider_of
from tui.model.openai_api.reply_redaction import redactor_of

SECONDS = 8.0
"""For one question, answer included."""

CONNECT_SECONDS = 3.0
MAX_BODY = 16 * 1024 * 1024
"""Bytes of an answer; the longest known list of models is a tenth of it."""


class Inquiry:
    """An endpoint that can be asked. Made by `inquiry`."""

    def __init__(self, profile: ModelProfile, client: Any, httpx: ModuleType) -> None:
        self._profile = profile
        self._client = client
        self._httpx = httpx
        self._redactor = redactor_of(profile)
        self.base_url = usable_url(profile)

    @property
    def root(self) -> str:
        """The address of the server, without the version."""
        return self.base_url.removesuffix("/v1")

    async def get(self, url: str) -> Any:
        """Return the JSON value at an address.

        Raises:
            ModelError: it cannot be reached, refuses, is too slow, or gives something else.
        """
        return await self._ask("GET", url, None, SECONDS)

    async def post(self, url: str, body: Mapping[str, Any], *, seconds: float = SECONDS) -> Any:
        """Send JSON and return the JSON value that comes back within so many seconds.

        Raises:
            ModelError: as for `get`.
        """
        return await self._ask("POST", url, body, seconds)

    async def _ask(self, method: str, url: str, body: Mapping[str, Any] | None, seconds: float) -> Any:
        broken = (self._httpx.HTTPError, self._httpx.StreamError, self._httpx.InvalidURL, OSError)
        timeout = self._httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream(method, url, json=body, timeout=timeout) as response,
            ):
                raw = await self._read(response)
        except TimeoutError:
            raise errors.stall_error(self._profile, seconds, first=True) from None
        except broken as error:
            raise errors.connection_error(self._profile, str(error) or type(error).__name__) from None
        text = raw.decode("utf-8-sig", "replace")
        if response.status_code == 200:  # ids of models may hold a key that is only a word, like `lm-studio`
            text = self._redactor.redact_spoken(text, quotes=True)
        else:
            text = self._redactor.redact_values(text, quotes=True)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if response.status_code != 200:
            headers = {name.lower(): value for name, value in response.headers.items()}
            said = text if value is None else value
            raise errors.status_error(self._profile, response.status_code, said, headers)
        if not isinstance(value, dict | list):
            kind = response.headers.get("content-type", "")
            raise errors.not_a_stream(self._profile, kind, raw[:4096], "JSON")
        return value

    async def _read(self, response: Any) -> bytes:
        raw = bytearray()
        async for block in response.aiter_bytes():
            raw += block
            if len(raw) > MAX_BODY:
                raise ModelError(
                    f"the answer exceeds {MAX_BODY} bytes",
                    where=errors.endpoint_of(self._profile),
                    next_step="Write the model's id yourself.",
                )
        return bytes(raw)


@asynccontextmanager
async def inquiry(profile: ModelProfile) -> AsyncGenerator[Inquiry]:
    """Open an endpoint for questions; nothing is sent before the first.

    Raises:
        ConfigError: the address or the key cannot be used at all.
    """
    key, private = usable_key(profile), is_private(usable_url(profile))
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key != NO_KEY:
        headers["Authorization"] = f"Bearer {key}"
        if (provider := provider_of(profile.base_url)) is not None and provider.name == "anthropic":
            # Only its chat is compatible; its list of models wants its own headers.
            headers |= {"x-api-key": key, "anthropic-version": "2023-06-01"}

    def build() -> tuple[Any, ModuleType]:
        import httpx2

        # Made in a thread, for the import and for reading the certificates of the system.
        client = httpx2.AsyncClient(
            headers={**headers, **profile.headers}, trust_env=not private, follow_redirects=False
        )
        return client, httpx2

    client, httpx = await asyncio.to_thread(build)
    try:
        yield Inquiry(profile, client, httpx)
    finally:
        await client.aclose()
