"""Finds model servers on this machine: Ollama, LM Studio, llama.cpp, vLLM.

Sends a GET with small limits to their default ports on loopback, all at once. Accepts only a body of the
right shape, because other programs use these ports too. Nothing else is ever scanned.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tui.model.endpoints.listing import can_chat
from tui.model.endpoints.profile import ModelProfile

CONNECT_SECONDS = 0.3
READ_SECONDS = 1.0
MAX_BODY = 2 * 1024 * 1024

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place where a model server may listen: its name, host, port, and the path that lists its models.

    `listing` is the key of the list in the body, and the key of a model's name in an entry.
    """

    name: str
    host: str
    port: int
    path: str = "/v1/models"
    listing: tuple[str, str] = ("data", "id")


def candidates(env: Mapping[str, str]) -> list[Candidate]:
    """Return the places to search: default ports, and OLLAMA_HOST for Ollama if it is this machine.

    OLLAMA_HOST may lack a scheme or a port, and is often 0.0.0.0, which is an address to listen on, not to
    connect to.
    """
    found = [
        Candidate("lmstudio", "127.0.0.1", 1234),
        Candidate("llamacpp", "127.0.0.1", 8080),
        Candidate("vllm", "127.0.0.1", 8000),
    ]
    said = env.get("OLLAMA_HOST", "").strip()
    try:
        parts = urlsplit(said if "://" in said else f"//{said}")
        host, port = parts.hostname or "127.0.0.1", parts.port or 11434
    except ValueError:
        host, port = "127.0.0.1", 11434
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    if host in _LOOPBACK:
        found.insert(0, Candidate("ollama", host, port, "/api/tags", ("models", "name")))
    return found


async def detect(places: list[Candidate]) -> list[ModelProfile]:
    """Return a profile for each place that answers as a server with a chat model, in order."""
    found = await asyncio.gather(*(_probe(place) for place in places))
    return [profile for profile in found if profile is not None]


async def _probe(place: Candidate) -> ModelProfile | None:
    try:
        body = await _get(place)
    except (OSError, TimeoutError, ValueError, RecursionError, asyncio.IncompleteReadError):
        return None
    model = _chat_model(body, place)
    if model is None:
        return None
    host = f"[{place.host}]" if ":" in place.host else place.host
    base_url = f"http://{host}:{place.port}/v1"
    return ModelProfile(place.name, base_url, model, source="detected")


def _chat_model(body: Any, place: Candidate) -> str | None:
    """Return the first model that can chat, if `body` is a list of models at all."""
    key, name = place.listing
    entries = body.get(key) if isinstance(body, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        model = entry.get(name) if isinstance(entry, dict) else None
        if isinstance(model, str) and 0 < len(model) <= 256 and model.isprintable() and can_chat(model):
            return model
    return None


async def _get(place: Candidate) -> Any:
    async with asyncio.timeout(CONNECT_SECONDS):
        reader, writer = await asyncio.open_connection(place.host, place.port, limit=64 * 1024)
    try:
        async with asyncio.timeout(READ_SECONDS):
            host = f"{place.host}:{place.port}"
            head = f"GET {place.path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n\r\n"
            writer.write(head.encode())
            await writer.drain()
            raw = await _bounded(reader)
    finally:
        writer.transport.abort()
    top, _, body = raw.partition(b"\r\n\r\n")
    if not re.match(rb"HTTP/1\.[01] 200\b", top):
        raise ValueError("not a 200")
    if re.search(rb"(?i)\r\ntransfer-encoding:\s*chunked", top):
        body = _unchunked(body)
    return json.loads(body)


async def _bounded(reader: asyncio.StreamReader) -> bytes:
    """Read to the end, or up to Content-Length: some servers do not close after HTTP/1.0."""
    raw = bytearray()
    while block := await reader.read(64 * 1024):
        raw += block
        if len(raw) > MAX_BODY:
            raise ValueError("too long")
        top, found, _ = bytes(raw[:65536]).partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length:\s*(\d{1,9})", top)
        whole = len(raw) - len(top) - 4
        if found and ((length and whole >= int(length[1])) or (not length and raw.endswith(b"0\r\n\r\n"))):
            break
    return bytes(raw)


def _unchunked(body: bytes) -> bytes:
    """Return a body without its chunk sizes (RFC 9112, section 7.1)."""
    result = bytearray()
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length <= 0:
            break
        result += body[:length]
        body = body[length + 2 :]
    return bytes(result)
